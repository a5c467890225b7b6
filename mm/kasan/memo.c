// SPDX-License-Identifier: GPL-2.0
/*
 * The memo from words on the SCS to depot records: filling and clearing it.
 */
#include <linux/container_of.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>

#include "kasan.h"
#include "memo.h"

DEFINE_PER_CPU(struct stack_record * [1 << KASAN_MEMO_BITS], kasan_memo);

/**
 * kasan_memo_keep - remember which record the words on the SCS became
 * @top: the scs_stack_pointer() that scs_unwind() made a trace of
 * @handle: handle of the trace's record, which is never evicted
 * @nr: the trace's number of entries
 *
 * Context: Any.
 */
void __kprobes kasan_memo_keep(const unsigned long *top,
			       depot_stack_handle_t handle, unsigned int nr)
{
	const unsigned long *base = scs_base(top);
	struct stack_record *record;
	unsigned long *entries;

	/* The window has at least the trace's words, without its first entry. */
	if (!base || nr <= KASAN_MEMO_MIN_WORDS)
		return;
	if (stack_depot_fetch(handle, &entries) != nr)
		return;
	record = container_of((void *)entries, struct stack_record, entries);
	if (record->size != nr || record->handle.handle != handle)
		return;
	/* The record was filled before: by this CPU, or before its list had it. */
	smp_store_release(kasan_memo_slot(top, base, top - base), record);
}

static void fill(struct stack_record *record)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < 1 << KASAN_MEMO_BITS; i++)
			/* As in kasan_memo_keep(). */
			smp_store_release(&per_cpu(kasan_memo, cpu)[i], record);
	}
}

#ifdef CONFIG_KASAN_SCS_TESTS
/**
 * kasan_test_fill_memo - let the whole memo of all CPUs hold one record
 * @handle: the record's handle
 *
 * As if the keys of all windows collided with that of this record.
 *
 * Context: Any.
 */
void kasan_test_fill_memo(depot_stack_handle_t handle)
{
	unsigned long *entries;

	if (stack_depot_fetch(handle, &entries))
		fill(container_of((void *)entries, struct stack_record, entries));
}
EXPORT_SYMBOL_GPL(kasan_test_fill_memo);
#endif

#ifdef CONFIG_MODULES
/* With module text the verdicts change on which the memo rests. */
static int kasan_memo_module_notify(struct notifier_block *nb, unsigned long state,
				    void *mod)
{
	if (state == MODULE_STATE_COMING || state == MODULE_STATE_GOING)
		fill(NULL);
	return NOTIFY_DONE;
}

static struct notifier_block kasan_memo_module_nb = {
	.notifier_call = kasan_memo_module_notify,
};

static int __init kasan_memo_init(void)
{
	return register_module_notifier(&kasan_memo_module_nb);
}
early_initcall(kasan_memo_init);
#endif
