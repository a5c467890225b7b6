// SPDX-License-Identifier: GPL-2.0
/*
 * Bugs in vmalloc's address space, for KASAN to report.  Works with and without
 * the series.  KASAN is asked about the memory, which is not accessed: after a
 * report the kernel goes on.
 */
#include <linux/delay.h>
#include <linux/kasan.h>
#include <linux/kasan-checks.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/scs.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

/* What one byte of shadow covers. */
#define GRANULE	(1UL << KASAN_SHADOW_SCALE_SHIFT)
/* What one page of shadow covers, and so nobody else's if it is aligned. */
#define COVERED	(PAGE_SIZE << KASAN_SHADOW_SCALE_SHIFT)
/* Shadow of what vmalloc has not given out: KASAN_VMALLOC_INVALID of mm/kasan/kasan.h. */
#define NOT_GIVEN_OUT	0xf8

static char *bug = "oob";
module_param(bug, charp, 0400);

static noinline void use(const void *p)
{
	kasan_check_read(p, 1);
}

static void oob(void)
{
	char *p = vmalloc(4 * PAGE_SIZE - 100);

	use(p + 4 * PAGE_SIZE - 50);
	vfree(p);
}

static void uaf(void)
{
	char *p = vmalloc(4 * PAGE_SIZE);

	vfree(p);
	use(p);
}

/* The range has been given back: other mappings may use it from now on. */
static void purged(void)
{
	char *p = vmalloc(4 * COVERED);

	vfree(p);
	vm_unmap_aliases();
	use(p + 2 * COVERED);
}

/*
 * Behind the memory that has the module's text.  Before 6.4 that has the data, too,
 * with redzones of its own.
 */
static void module_text(void)
{
	unsigned long addr = (unsigned long)use;
	u8 shadow = 0;

	while (shadow != NOT_GIVEN_OUT &&
	       !copy_from_kernel_nofault(&shadow, kasan_mem_to_shadow((void *)addr), 1))
		addr += GRANULE;
	/* It has gone one too far. */
	use((void *)addr - GRANULE);
}

static int nothing(void *data)
{
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/* The shadow call stack of a task that is gone. */
static void scs(void)
{
	struct task_struct *task = kthread_run(nothing, NULL, "gone");
	void *stack = task_scs(task);

	kthread_stop(task);
	/* It is freed after a grace period. */
	msleep(100);
	use(stack);
}

static const struct {
	const char *name;
	void (*run)(void);
} bugs[] = {
	{ "oob", oob },
	{ "uaf", uaf },
	{ "purged", purged },
	{ "module", module_text },
	{ "scs", scs },
};

static int __init vmalloc_bugs_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!strcmp(bug, bugs[i].name)) {
			bugs[i].run();
			return 0;
		}
	}
	return -EINVAL;
}
module_init(vmalloc_bugs_init);

static void __exit vmalloc_bugs_exit(void)
{
}
module_exit(vmalloc_bugs_exit);

MODULE_DESCRIPTION("Bugs in vmalloc's address space");
MODULE_LICENSE("GPL");
