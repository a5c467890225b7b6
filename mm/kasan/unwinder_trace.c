// SPDX-License-Identifier: GPL-2.0
/*
 * Both traces of one place, for the tests of the unwinders, and what only code
 * in the kernel image can do for them.
 */
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/stacktrace.h>

#include <asm/sections.h>

#include "kasan.h"
#include "../slab.h"
#include "unwinder_trace.h"

/**
 * scs_test_take - take both traces
 * @t: where to store them
 *
 * Context: Any.
 */
noinline notrace void scs_test_take(struct traces *t)
{
	const unsigned long *top = scs_stack_pointer();
	struct scs_trace trace = {};

	t->in_nmi = in_nmi();
	t->in_hardirq = in_hardirq();
	t->in_softirq = in_serving_softirq();
	t->nr_scs = scs_unwind(top, (unsigned long)__builtin_return_address(0),
			       ARRAY_SIZE(t->scs) - 1, &trace);
	t->lasting = trace.lasting;
	if (t->nr_scs > 0)
		scs_copy(top, t->scs, t->nr_scs);
	t->nr_raw = stack_trace_save(t->frame, ARRAY_SIZE(t->frame), 0);
	t->nr_frame = filter_irq_stacks(t->frame, t->nr_raw);
}
EXPORT_SYMBOL_GPL(scs_test_take);

/**
 * kasan_test_save_stack - kasan_save_stack() for tests
 * @flags: for the depot
 *
 * Context: Task.
 * Return: Handle of the trace's record, whose first entry lies in here.
 */
noinline depot_stack_handle_t kasan_test_save_stack(kasan_depot_flags_t flags)
{
	return kasan_depot_save(GFP_KERNEL, flags);
}
EXPORT_SYMBOL_GPL(kasan_test_save_stack);

#ifdef CONFIG_KASAN_GENERIC
/**
 * kasan_test_aux_stack - the last auxiliary stack of an object
 * @object: its address, from kmalloc()
 *
 * Context: Any, while the object is allocated.
 * Return: Handle of the record, 0 if there is none.
 */
depot_stack_handle_t kasan_test_aux_stack(void *object)
{
	struct slab *slab = kasan_addr_to_slab(object);
	struct kasan_alloc_meta *meta;

	meta = slab ? kasan_get_alloc_meta(slab->slab_cache, object) : NULL;
	return meta ? meta->aux_stack[0] : 0;
}
EXPORT_SYMBOL_GPL(kasan_test_aux_stack);
#endif

/**
 * kasan_test_bucket - stack_depot_bucket(), for modules
 * @hash: as there
 *
 * Context: Any.
 * Return: As there.
 */
void *kasan_test_bucket(u32 hash)
{
	return stack_depot_bucket(hash);
}
EXPORT_SYMBOL_GPL(kasan_test_bucket);

struct traces scs_test_boot_traces[NR_BOOT_TRACES];
EXPORT_SYMBOL_GPL(scs_test_boot_traces);

/* The only initcalls in start_kernel() itself, and late enough for KASAN. */
static int __init take_of_init_task(void)
{
	scs_test_take(&scs_test_boot_traces[TRACES_OF_INIT_TASK]);
	return 0;
}
console_initcall(take_of_init_task);

static int __init take_of_first_thread(void)
{
	scs_test_take(&scs_test_boot_traces[TRACES_OF_FIRST_THREAD]);
	return 0;
}
early_initcall(take_of_first_thread);

static bool is_call(unsigned long addr)
{
	u32 insn = le32_to_cpu(*(__le32 *)addr);

	return insn >> 26 == 0x25 || (insn & 0xfffffc1f) == 0xd63f0000;
}

/**
 * scs_test_next_call - find a call in a function of the kernel image
 * @name: the function's name
 * @after: the return address of the call before, or 0
 *
 * Context: Task.
 * Return: The call's return address, 0 if there is no more, or no such function.
 */
unsigned long scs_test_next_call(const char *name, unsigned long after)
{
	unsigned long start = kallsyms_lookup_name(name), size, offset, addr;

	if (!start || !kallsyms_lookup_size_offset(start, &size, &offset))
		return 0;
	for (addr = after ?: start; addr < start + size; addr += 4) {
		if (is_call(addr))
			return addr + 4;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(scs_test_next_call);

/**
 * scs_test_is_pure - may a word be in a trace that was taken from the SCS?
 * @addr: the word
 * @depth: how many newer words there are
 *
 * What the judge finds out, in other words and without what it remembers.
 *
 * Context: Task.
 * Return: true for a return address of a function that had pushed, or, except for
 * the newest, a place where one was interrupted.
 */
bool scs_test_is_pure(unsigned long addr, unsigned int depth)
{
	unsigned long size, offset, start;

	if (addr % 4 || !__kernel_text_address(addr - 4) ||
	    !kallsyms_lookup_size_offset(addr - 4, &size, &offset))
		return false;
	start = addr - 4 - offset;
	if (!is_call(addr - 4))
		return IS_ENABLED(CONFIG_ARM64_SCS_INTERRUPTED_PC) && depth > 1;
	while (start < addr) {
		if (le32_to_cpu(*(__le32 *)start) == 0xf800865e)
			return true;
		start += 4;
	}
	return IS_ENABLED(CONFIG_ARM64_SCS_INTERRUPTED_PC) && depth;
}
EXPORT_SYMBOL_GPL(scs_test_is_pure);

static unsigned long find_word(void *start, void *end, unsigned long low,
			       unsigned long high)
{
	unsigned long *p;

	for (p = PTR_ALIGN(start, sizeof(*p)); (void *)(p + 1) <= end; p++) {
		unsigned long word = READ_ONCE_NOCHECK(*p);

		if (word >= low && word < high)
			return (unsigned long)p;
	}
	return 0;
}

/**
 * scs_test_find_word - find a value in the kernel's static data
 * @low: the lowest value to look for
 * @high: one more than the highest
 *
 * Looks in the data of the kernel image and in its variables of each CPU.
 *
 * Context: Any.
 * Return: Address of the first word whose value is in range, 0 if there is none.
 */
unsigned long scs_test_find_word(unsigned long low, unsigned long high)
{
	unsigned long found = find_word(_sdata, _end, low, high);
	int cpu;

	for_each_possible_cpu(cpu) {
		unsigned long offset = per_cpu_offset(cpu);

		if (!found)
			found = find_word(__per_cpu_start + offset,
					  __per_cpu_end + offset, low, high);
	}
	return found;
}
EXPORT_SYMBOL_GPL(scs_test_find_word);
