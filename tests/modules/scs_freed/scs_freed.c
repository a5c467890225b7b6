// SPDX-License-Identifier: GPL-2.0
/*
 * A return address in a module is good in a trace while the module is there.
 * Load scs_victim, then this module, which has the judge accept an address in it,
 * and remember that; unload scs_victim, then this module, which asks again.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/scs.h>

#include <asm/scs_unwind.h>

#include "scs_victim.h"

#define SLOTS	64

static unsigned long word;

static noinline void note_caller(void)
{
	word = (unsigned long)__builtin_return_address(0);
}

/*
 * Judge a copy of this task's SCS, with @other, unless that is 0, in the slot of the
 * caller's caller.  Returns what the judge does, 0 when all of the SCS was accepted.
 */
static noinline int judge_with(unsigned long other)
{
	const unsigned long *base = task_scs(current);
	unsigned int nr = scs_stack_pointer() - base;
	struct scs_trace trace = {};
	unsigned long slots[SLOTS];
	unsigned int i;
	int ret;

	if (nr < 3 || nr >= SLOTS)
		return -ENOSPC;
	/* KASAN reports reads of an SCS. */
	for (i = 0; i < nr; i++)
		slots[i] = READ_ONCE_NOCHECK(base[i]);
	if (other)
		slots[nr - 2] = other;
	ret = scs_judge(slots + nr, slots, (unsigned long)__builtin_return_address(0),
			SLOTS - 1, &trace);
	return ret == nr ? 0 : ret;
}

static int __init scs_freed_init(void)
{
	/* No reference to the symbol: scs_victim has to go first. */
	typeof(scs_victim_call) *call = (void *)__symbol_get("scs_victim_call");

	if (!call)
		return -ENOENT;
	call(note_caller);
	__symbol_put("scs_victim_call");
	pr_info("scs_freed: own %d, loaded %d\n", judge_with(0), judge_with(word));
	return 0;
}
module_init(scs_freed_init);

static void __exit scs_freed_exit(void)
{
	pr_info("scs_freed: own %d, unloaded %d, not text %d\n", judge_with(0),
		judge_with(word), -SCS_FALLBACK_NOT_TEXT);
}
module_exit(scs_freed_exit);

MODULE_DESCRIPTION("Asks for a return address in an unloaded module");
MODULE_LICENSE("GPL");
