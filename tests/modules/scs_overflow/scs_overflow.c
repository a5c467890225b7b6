// SPDX-License-Identifier: GPL-2.0
/*
 * Run out of shadow call stack, allocating on the way down: up to the slot of
 * the end marker (to=end), or into what lies behind it (to=guard).  Works with
 * and without the series; the kernel does not survive it.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/scs.h>
#include <linux/slab.h>

static char *to = "end";
module_param(to, charp, 0400);

/* Slots that an allocation may need above its caller's. */
#define SLOTS_TO_ALLOCATE	128

static noinline unsigned long slots_left(void)
{
	unsigned long sp;

	asm volatile("mov %0, x18" : "=r" (sp));
	/* At the very end this is 0, not a whole SCS. */
	return (SCS_SIZE - 1 - ((sp - 1) & (SCS_SIZE - 1))) / sizeof(long);
}

static noinline int descend(bool into_guard)
{
	unsigned long left = slots_left();
	bool mask = false;
	int ret = 0;

	if (into_guard || left > SLOTS_TO_ALLOCATE) {
		kfree(kmalloc(32, GFP_KERNEL));
	} else if (!irqs_disabled()) {
		/* An interrupt pushes onto this SCS first: it would not fit. */
		mask = true;
		local_irq_disable();
	}
	/* The last one to be called pushes onto the end marker. */
	if (into_guard || left)
		ret = descend(into_guard) + 1;
	barrier();
	if (mask)
		local_irq_enable();
	return ret;
}

static int __init scs_overflow_init(void)
{
	int levels = descend(!strcmp(to, "guard"));

	pr_info("scs_overflow: %d levels\n", levels);
	/* The scheduler looks at the end marker. */
	msleep(20);
	return -EAGAIN;
}
module_init(scs_overflow_init);

MODULE_DESCRIPTION("Overflow of the shadow call stack");
MODULE_LICENSE("GPL");
