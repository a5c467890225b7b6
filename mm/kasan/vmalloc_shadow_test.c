// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the shadow of vmalloc that is kept for the next mapping.
 *
 * Shadow is looked at with copy_from_kernel_nofault(), which fails where it has
 * been freed.  vm_unmap_aliases() makes vmalloc release what has been freed.
 */
#include <kunit/test.h>
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "kasan.h"
#include "vmalloc_shadow.h"

/* What one page of shadow covers. */
#define COVERED		KASAN_MEMORY_PER_SHADOW_PAGE

static struct kasan_shadow_stats now(void)
{
	struct kasan_shadow_stats stats;

	kasan_shadow_stats(&stats);
	return stats;
}

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
	struct kasan_shadow_stats before = now();

	KUNIT_ASSERT_NOT_NULL(test, p);
	memset(p, 1, 4 * COVERED);
	vfree(p);
	/* At once, and still after the range has been given back. */
	KUNIT_EXPECT_TRUE(test, all_poisoned(untagged, 4 * COVERED));
	vm_unmap_aliases();
	KUNIT_EXPECT_TRUE(test, all_poisoned(untagged, 4 * COVERED));
	/* At most one page at each end has neighbours. */
	KUNIT_EXPECT_GE(test, now().kept, before.kept + 3);
}

/* The next mapping of a range takes what has been kept, and can be used. */
static void reused_test(struct kunit *test)
{
	struct kasan_shadow_stats before;
	int tries;
	char *p;

	for (tries = 0; tries < 100; tries++) {
		p = vmalloc(4 * COVERED);
		KUNIT_ASSERT_NOT_NULL(test, p);
		vfree(p);
		vm_unmap_aliases();
		before = now();
		p = vmalloc(4 * COVERED);
		KUNIT_ASSERT_NOT_NULL(test, p);
		/* Else it is another range. */
		if (now().reused >= before.reused + 3)
			break;
		vfree(p);
	}
	KUNIT_ASSERT_LT(test, tries, 100);
	memset(p, 2, 4 * COVERED);
	KUNIT_EXPECT_EQ(test, p[4 * COVERED - 1], 2);
	/* The guard page. */
	KUNIT_EXPECT_EQ(test, shadow_of(kasan_reset_tag(p) + 4 * COVERED),
			KASAN_VMALLOC_INVALID);
	vfree(p);
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

/* One page, mapped to more addresses than may have their shadow kept. */
static void bound_test(struct kunit *test)
{
	unsigned long i, nr = 2 * (now().bound + 1) * (COVERED / PAGE_SIZE);
	struct kasan_shadow_stats before, after;
	struct page **pages, *page;
	void *p;

	KUNIT_ASSERT_GT(test, now().bound, 0UL);
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
	before = now();
	vunmap(p);
	vm_unmap_aliases();
	after = now();
	KUNIT_EXPECT_LE(test, after.held, after.bound);
	KUNIT_EXPECT_GT(test, after.evicted, before.evicted + after.bound);
out:
	kvfree(pages);
	if (page)
		__free_page(page);
}

static struct kunit_case vmalloc_shadow_cases[] = {
	KUNIT_CASE(poisoned_test),
	KUNIT_CASE(reused_test),
	KUNIT_CASE(shared_test),
	KUNIT_CASE(bound_test),
	{}
};

static struct kunit_suite vmalloc_shadow_suite = {
	.name = "kasan_vmalloc_shadow",
	.test_cases = vmalloc_shadow_cases,
};

kunit_test_suite(vmalloc_shadow_suite);

MODULE_DESCRIPTION("Tests of the shadow of vmalloc that is kept");
MODULE_LICENSE("GPL");
