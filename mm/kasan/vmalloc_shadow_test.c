// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the shadow of vmalloc.
 *
 * Shadow is looked at with copy_from_kernel_nofault(), which fails where it has
 * been freed.  vm_unmap_aliases() makes vmalloc release what has been freed.
 */
#include <kunit/test.h>
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "kasan.h"

/* What one page of shadow covers. */
#define COVERED		KASAN_MEMORY_PER_SHADOW_PAGE

/* The shadow of this address, -1 if there is none. */
static int shadow_of(const void *addr)
{
	u8 val;

	if (copy_from_kernel_nofault(&val, kasan_mem_to_shadow(addr), sizeof(val)))
		return -1;
	return val;
}

/* Every granule's shadow says that the memory must not be used. */
static bool all_poisoned(const char *p, unsigned long size)
{
	const char *end = p + size;

	for (; p < end; p += KASAN_GRANULE_SIZE) {
		if (shadow_of(p) != KASAN_VMALLOC_INVALID)
			return false;
	}
	return true;
}

static void poisoned_test(struct kunit *test)
{
	char *p = vmalloc(4 * COVERED), *untagged = kasan_reset_tag(p);

	KUNIT_ASSERT_NOT_NULL(test, p);
	memset(p, 1, 4 * COVERED);
	vfree(p);
	KUNIT_EXPECT_TRUE(test, all_poisoned(untagged, 4 * COVERED));
}

/* With shadow that is there, that has been given back, and in between. */
static void mapped_test(struct kunit *test)
{
	unsigned long size;
	char *p;
	int i;

	for (i = 0; i < 100; i++) {
		size = (1 + i * 7 % 50) * PAGE_SIZE;
		p = vmalloc(size);
		KUNIT_ASSERT_NOT_NULL(test, p);
		memset(p, i, size);
		KUNIT_EXPECT_EQ(test, p[size - 1], i);
		/* The guard page. */
		KUNIT_EXPECT_EQ(test, shadow_of(kasan_reset_tag(p) + size),
				KASAN_VMALLOC_INVALID);
		vfree(p);
		if (i % 3 == 0)
			vm_unmap_aliases();
	}
}

/* Small mappings share pages of shadow: every other one is freed. */
static void shared_test(struct kunit *test)
{
	enum { NR = 64 };
	char *p[NR];
	int i;

	for (i = 0; i < NR; i++) {
		p[i] = vmalloc(PAGE_SIZE);
		KUNIT_ASSERT_NOT_NULL(test, p[i]);
	}
	for (i = 0; i < NR; i += 2)
		vfree(p[i]);
	vm_unmap_aliases();
	for (i = 1; i < NR; i += 2) {
		memset(p[i], i, PAGE_SIZE);
		KUNIT_EXPECT_NE(test, shadow_of(kasan_reset_tag(p[i])),
				KASAN_VMALLOC_INVALID);
		KUNIT_EXPECT_EQ(test, p[i][PAGE_SIZE - 1], i);
	}
	for (i = 0; i < NR; i += 2) {
		p[i] = vmalloc(PAGE_SIZE);
		KUNIT_ASSERT_NOT_NULL(test, p[i]);
		memset(p[i], i, PAGE_SIZE);
	}
	for (i = 0; i < NR; i++) {
		KUNIT_EXPECT_EQ(test, p[i][0], i);
		vfree(p[i]);
	}
}

/* One page, mapped to addresses whose shadow needs several page tables, if small. */
static void large_test(struct kunit *test)
{
	unsigned long i, nr = min(2 * PMD_SIZE, SZ_8M) / PAGE_SIZE * (COVERED / PAGE_SIZE);
	struct page **pages, *page;
	char *p;

	page = alloc_page(GFP_KERNEL);
	pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, page);
	KUNIT_EXPECT_NOT_NULL(test, pages);
	if (!page || !pages)
		goto out;
	for (i = 0; i < nr; i++)
		pages[i] = page;
	p = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, p);
	if (!p)
		goto out;
	for (i = 0; i < nr; i += COVERED / PAGE_SIZE)
		KUNIT_EXPECT_NE(test, shadow_of(kasan_reset_tag(p) + i * PAGE_SIZE),
				KASAN_VMALLOC_INVALID);
	p[nr * PAGE_SIZE - 1] = 1;
	vunmap(p);
	vm_unmap_aliases();
out:
	kvfree(pages);
	if (page)
		__free_page(page);
}

static struct kunit_case vmalloc_shadow_cases[] = {
	KUNIT_CASE(poisoned_test),
	KUNIT_CASE(mapped_test),
	KUNIT_CASE(shared_test),
	KUNIT_CASE(large_test),
	{}
};

static struct kunit_suite vmalloc_shadow_suite = {
	.name = "kasan_vmalloc_shadow",
	.test_cases = vmalloc_shadow_cases,
};

kunit_test_suite(vmalloc_shadow_suite);

MODULE_DESCRIPTION("Tests of the shadow of vmalloc");
MODULE_LICENSE("GPL");
