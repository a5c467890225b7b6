// SPDX-License-Identifier: GPL-2.0
/*
 * KASAN's choice of unwinder: boot parameter, counters, verify mode.
 */
#define pr_fmt(fmt) "kasan: " fmt

#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "unwinder.h"

DEFINE_STATIC_KEY_TRUE(kasan_unwinder_scs);
#if IS_ENABLED(CONFIG_KASAN_SCS_KUNIT_TEST)
EXPORT_SYMBOL_GPL(kasan_unwinder_scs);
#endif

DEFINE_STATIC_KEY_FALSE(kasan_unwinder_verify);
#if IS_ENABLED(CONFIG_KASAN_SCS_KUNIT_TEST)
EXPORT_SYMBOL_GPL(kasan_unwinder_verify);
#endif

/* How many differences verify mode prints before it only counts them. */
#define VERIFY_MAX_REPORTS	8

/*
 * Counters of this CPU: traces from the SCS at index 0, fallbacks at the index
 * of their enum scs_fallback, then verify mode's.
 */
enum {
	COUNT_SCS,
	COUNT_EQUAL = SCS_NR_FALLBACKS,
	COUNT_DIFFERENT,
	NR_COUNTS,
};

static DEFINE_PER_CPU(unsigned long [NR_COUNTS], unwinder_counts);

static const char * const count_names[NR_COUNTS] = {
	[COUNT_SCS]			= "scs",
	[SCS_FALLBACK_OFF]		= "fallback_off",
	[SCS_FALLBACK_FOREIGN]		= "fallback_foreign",
	[SCS_FALLBACK_SPLICE]		= "fallback_splice",
	[SCS_FALLBACK_NOT_TEXT]		= "fallback_not_text",
	[SCS_FALLBACK_NO_PUSH]		= "fallback_no_push",
	[SCS_FALLBACK_EXCEPTION]	= "fallback_exception",
	[SCS_FALLBACK_BOTTOM]		= "fallback_bottom",
	[COUNT_EQUAL]			= "verify_equal",
	[COUNT_DIFFERENT]		= "verify_different",
};

/**
 * kasan_scs_trace - take the current stack trace from the SCS and count it
 * @top: the calling function's scs_stack_pointer()
 * @ret: the calling function's __builtin_return_address(0)
 * @self: the trace's first entry, an address in the calling function
 * @entries: where to store the trace, newest entry first
 * @size: number of entries that fit, at least two
 *
 * Context: Any.
 * Return: Number of entries stored, or 0 if frame records must be walked.
 */
unsigned int __kprobes
kasan_scs_trace(const unsigned long *top, unsigned long ret, unsigned long self,
		unsigned long *entries, unsigned int size)
{
	int nr = scs_unwind(top, ret, entries + 1, size - 1);

	if (unlikely(nr < 0)) {
		this_cpu_inc(unwinder_counts[-nr]);
		return 0;
	}
	this_cpu_inc(unwinder_counts[COUNT_SCS]);
	entries[0] = self;
	return nr + 1;
}

#if IS_ENABLED(CONFIG_KASAN_SCS_KUNIT_TEST)
EXPORT_SYMBOL_GPL(kasan_scs_trace);
#endif

#ifdef CONFIG_KASAN_SCS_VERIFY
static void print_trace(const char *source, const unsigned long *entries,
			unsigned int nr)
{
	unsigned int i;

	pr_err("%s, %u entries:\n", source, nr);
	for (i = 0; i < nr; i++)
		pr_err("  %pS\n", (void *)entries[i]);
}

/**
 * kasan_unwinder_compare - compare a trace from the SCS with frame records'
 * @scs: the trace from the SCS
 * @nr_scs: its number of entries, at least two
 * @frame: the trace of the frame-record unwinder, taken in the same function
 * @nr_frame: its number of entries
 *
 * Both first entries lie in the function that took the traces, at different
 * addresses.  Everything behind them has to be equal.
 *
 * Context: Any.  Prints the first differences, deferred.
 */
void __kprobes
kasan_unwinder_compare(const unsigned long *scs, unsigned int nr_scs,
		       unsigned long *frame, unsigned int nr_frame)
{
	static atomic_t reports = ATOMIC_INIT(0);
	unsigned int i;

	nr_frame = filter_irq_stacks(frame, nr_frame);
	for (i = 1; i < nr_scs && i < nr_frame; i++) {
		if (scs[i] != frame[i])
			break;
	}
	if (i == nr_scs && i == nr_frame) {
		this_cpu_inc(unwinder_counts[COUNT_EQUAL]);
		return;
	}

	this_cpu_inc(unwinder_counts[COUNT_DIFFERENT]);
	if (atomic_inc_return(&reports) > VERIFY_MAX_REPORTS)
		return;
	/* The caller may hold any lock, the console's included. */
	printk_deferred_enter();
	pr_err("stack traces differ at entry %u\n", i);
	print_trace("shadow call stack", scs, nr_scs);
	print_trace("frame records", frame, nr_frame);
	printk_deferred_exit();
}

#if IS_ENABLED(CONFIG_KASAN_SCS_KUNIT_TEST)
EXPORT_SYMBOL_GPL(kasan_unwinder_compare);
#endif
#endif /* CONFIG_KASAN_SCS_VERIFY */

/* kasan.unwinder=scs|frame|verify */
static int __init early_kasan_unwinder(char *arg)
{
	if (!arg)
		return -EINVAL;

	if (!strcmp(arg, "scs"))
		return 0;
	if (!strcmp(arg, "frame")) {
		static_branch_disable(&kasan_unwinder_scs);
		return 0;
	}
	if (IS_ENABLED(CONFIG_KASAN_SCS_VERIFY) && !strcmp(arg, "verify")) {
		static_branch_enable(&kasan_unwinder_verify);
		return 0;
	}
	pr_err("kasan.unwinder=%s: not one of scs, frame%s\n", arg,
	       IS_ENABLED(CONFIG_KASAN_SCS_VERIFY) ? ", verify" : "");
	return -EINVAL;
}
early_param("kasan.unwinder", early_kasan_unwinder);

static const char *unwinder_name(void)
{
	if (!static_branch_likely(&kasan_unwinder_scs))
		return "frame";
	if (static_branch_unlikely(&kasan_unwinder_verify))
		return "verify";
	return "scs";
}

static unsigned long sum_count(unsigned int index)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(unwinder_counts, cpu)[index]);
	return sum;
}

static int stats_show(struct seq_file *seq, void *v)
{
	unsigned long fallback = 0;
	unsigned int i;

	for (i = SCS_FALLBACK_OFF; i < SCS_NR_FALLBACKS; i++)
		fallback += sum_count(i);

	seq_printf(seq, "unwinder: %s\n", unwinder_name());
	seq_printf(seq, "saved: %lu\n", sum_count(COUNT_SCS) + fallback);
	seq_printf(seq, "fallback: %lu\n", fallback);
	for (i = 0; i < NR_COUNTS; i++)
		seq_printf(seq, "%s: %lu\n", count_names[i], sum_count(i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int __init kasan_unwinder_init(void)
{
	struct dentry *dir = debugfs_create_dir("kasan_unwinder", NULL);

	debugfs_create_file("stats", 0444, dir, NULL, &stats_fops);

#ifdef CONFIG_DYNAMIC_SCS
	if (!scs_is_enabled()) {
		pr_info("the shadow call stack is off, stack traces come from frame records\n");
		return 0;
	}
#endif
	pr_info("stack traces: unwinder=%s\n", unwinder_name());
	return 0;
}
late_initcall(kasan_unwinder_init);
