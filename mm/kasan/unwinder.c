// SPDX-License-Identifier: GPL-2.0
/*
 * KASAN's choice of unwinder: boot parameter, counters, verify mode.
 */
#define pr_fmt(fmt) "kasan: " fmt

#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "unwinder.h"

DEFINE_STATIC_KEY_TRUE(kasan_unwinder_scs);
DEFINE_STATIC_KEY_FALSE(kasan_unwinder_verify);

#if IS_ENABLED(CONFIG_KASAN_SCS_BENCH)
/* What the series is measured against: no traces, and a plain copy of the SCS. */
static DEFINE_STATIC_KEY_FALSE(bench_none);
static DEFINE_STATIC_KEY_FALSE(bench_copy);
#endif

/* How many differences verify mode prints before it only counts them. */
#define VERIFY_MAX_REPORTS	8

/*
 * Counters of this CPU: traces that were judged at index 0, fallbacks at the
 * index of their enum scs_fallback, then verify mode's.
 */
enum {
	COUNT_JUDGED,
	COUNT_EQUAL = SCS_NR_FALLBACKS,
	COUNT_DIFFERENT,
	NR_COUNTS,
};

static DEFINE_PER_CPU(unsigned long [NR_COUNTS], unwinder_counts);

static const char * const count_names[NR_COUNTS] = {
	[COUNT_JUDGED]			= "judged",
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

/* Frame records, without those of as many functions, beginning with this one. */
static __always_inline unsigned int frame_trace(unsigned long *entries,
						unsigned int skip)
{
	return stack_trace_save(entries, KASAN_TRACE_ENTRIES, skip);
}

#if defined(CONFIG_KASAN_SCS_VERIFY) || defined(CONFIG_KASAN_SCS_TESTS)
/**
 * kasan_same_trace - is a trace from the SCS that of frame records?
 * @scs: the trace from the SCS
 * @nr_scs: its number of entries
 * @frame: the trace from frame records, filtered
 * @nr_frame: its number of entries
 *
 * Both first entries lie in the function that took the traces, at different
 * addresses.  Everything behind them has to be equal.
 *
 * Context: Any.
 * Return: true if they are the same.
 */
bool __kprobes kasan_same_trace(const unsigned long *scs, unsigned int nr_scs,
				const unsigned long *frame, unsigned int nr_frame)
{
	return nr_scs == nr_frame && nr_scs > 1 &&
	       !memcmp(scs + 1, frame + 1, (nr_scs - 1) * sizeof(*scs));
}

#ifdef CONFIG_KASAN_SCS_TESTS
EXPORT_SYMBOL_GPL(kasan_same_trace);
#endif
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

#endif /* CONFIG_KASAN_SCS_VERIFY */

/**
 * kasan_verify_save - compare a trace that was saved with frame records
 * @handle: handle of its record; of those from frame records it is compared
 *	    whether they begin and end where they should
 * @skip: how many functions there are between kasan_save_stack() and this one
 *
 * Context: Any.
 * Return: @handle.
 */
noinline depot_stack_handle_t __kprobes
kasan_verify_save(depot_stack_handle_t handle, unsigned int skip)
{
#ifdef CONFIG_KASAN_SCS_VERIFY
	static atomic_t reports = ATOMIC_INIT(0);
	unsigned long frame[KASAN_TRACE_ENTRIES];
	unsigned int nr_scs, nr_frame;
	unsigned long flags, *scs;

	nr_scs = stack_depot_fetch(handle, &scs);
	nr_frame = filter_irq_stacks(frame, frame_trace(frame, skip + 1));
	if (kasan_same_trace(scs, nr_scs, frame, nr_frame)) {
		this_cpu_inc(unwinder_counts[COUNT_EQUAL]);
		return handle;
	}

	this_cpu_inc(unwinder_counts[COUNT_DIFFERENT]);
	if (atomic_inc_return(&reports) > VERIFY_MAX_REPORTS)
		return handle;
	/* The caller may hold any lock, the console's included. */
	local_irq_save(flags);
	printk_deferred_enter();
	pr_err("stack traces differ\n");
	print_trace("saved", scs, nr_scs);
	print_trace("frame records", frame, nr_frame);
	printk_deferred_exit();
	local_irq_restore(flags);
#endif
	return handle;
}

/* As scs_equal(), for any number of words. */
static __always_inline bool same_words(const unsigned long *top,
				       const unsigned long *entries, unsigned int nr)
{
	if (likely(nr >= SCS_EQUAL_WORDS))
		return scs_equal(top, entries, nr);
	while (nr--) {
		if (scs_strip(*--top) != *entries++)
			return false;
	}
	return true;
}

/* The record of a trace that begins with @self and the @nr words below @top. */
static __always_inline struct stack_record *
find_record(u32 hash, unsigned long self, const unsigned long *top, unsigned int nr,
	    kasan_depot_flags_t flags)
{
	struct stack_record *record, *found = NULL;
	void *bucket = stack_depot_bucket(hash);

	if (unlikely(!bucket))
		return NULL;
	kasan_depot_lock();
	for (record = kasan_depot_first(bucket); record;
	     record = kasan_depot_next(bucket, record)) {
		if (record->hash != hash || record->size != nr + 1 ||
		    record->entries[0] != self ||
		    !same_words(top, record->entries + 1, nr))
			continue;
		if (kasan_depot_evicts(flags) && !kasan_depot_get(record))
			continue;
		found = record;
		break;
	}
	kasan_depot_unlock();
	return found;
}

/* A trace that is not in the depot, which needs it as an array. */
static noinline struct stack_record * __kprobes
store_copy(u32 hash, unsigned long self, const unsigned long *top, unsigned int nr,
	   gfp_t gfp, kasan_depot_flags_t flags)
{
	/* Clearing it would cost more than judging an SCS. */
	unsigned long entries[KASAN_TRACE_ENTRIES + 1] __uninitialized;

	entries[0] = self;
	scs_copy(top, entries + 1, nr);
	entries[nr + 1] = hash;
	return kasan_depot_record(kasan_depot_store(entries,
						    (nr + 1) | STACK_DEPOT_HASHED,
						    gfp, flags));
}

static noinline depot_stack_handle_t __kprobes
store_frames(unsigned long self, gfp_t gfp, kasan_depot_flags_t flags)
{
	unsigned long entries[KASAN_TRACE_ENTRIES] __uninitialized;
	unsigned int nr;

	nr = frame_trace(entries, 2);
	if (nr)
		entries[0] = self;
	return kasan_depot_store(entries, nr, gfp, flags);
}

/**
 * kasan_scs_save - save a stack trace, unless kasan_memo_find() has it
 * @gfp: for memory that the depot may need
 * @flags: for the depot
 * @top: the calling function's scs_stack_pointer()
 * @ret: the calling function's __builtin_return_address(0)
 * @self: the trace's first entry, an address in the calling function
 * @key: the key that kasan_memo_find() stored, 0 if that was not asked
 *
 * Context: Any that the depot allows with @flags.
 * Return: Handle of the trace's record, 0 if it could not be stored.
 */
noinline depot_stack_handle_t __kprobes
kasan_scs_save(gfp_t gfp, kasan_depot_flags_t flags, const unsigned long *top,
	       unsigned long ret, unsigned long self, unsigned long key)
{
	struct scs_trace trace = {
		.hash = stack_depot_hash_add(STACK_DEPOT_HASH_SEED, self),
	};
	struct stack_record *record;
	depot_stack_handle_t handle;
	int nr;

	/* Full records are compared as long ones; see STACKDEPOT_MAX_FRAMES in Kconfig. */
	BUILD_BUG_ON(KASAN_TRACE_ENTRIES - 1 < SCS_EQUAL_WORDS);

	if (!key)
		key = kasan_memo_key(top);
	if (kasan_depot_evicts(flags))
		record = kasan_memo_get(top, self, key);
	else
		record = kasan_memo_find_moved(top, self, key);
	if (record)
		goto found;

	nr = scs_unwind(top, ret, KASAN_TRACE_ENTRIES - 1, &trace);
	if (unlikely(nr < 0)) {
		this_cpu_inc(unwinder_counts[-nr]);
		handle = store_frames(self, gfp, flags);
		goto verify;
	}

	this_cpu_inc(unwinder_counts[COUNT_JUDGED]);
	record = find_record(trace.hash, self, top, nr, flags);
	if (!record)
		record = store_copy(trace.hash, self, top, nr, gfp, flags);
	if (!record)
		return 0;
	if (trace.lasting)
		kasan_memo_keep(key, record);
found:
	handle = record->handle.handle;
verify:
	if (static_branch_unlikely(&kasan_unwinder_verify) && handle)
		kasan_verify_save(handle, 1);
	barrier();
	return handle;
}

/* For kasan_frame_save() only: entries are counted from the function it is in. */
static __always_inline depot_stack_handle_t frame_save(gfp_t gfp,
						       kasan_depot_flags_t flags)
{
	unsigned long entries[KASAN_TRACE_ENTRIES];
	unsigned int nr;

#if IS_ENABLED(CONFIG_KASAN_SCS_BENCH)
	if (static_branch_unlikely(&bench_copy)) {
		const unsigned long *top = scs_stack_pointer();
		struct scs_trace trace = {};
		int copied;

		copied = scs_unwind(top, (unsigned long)__builtin_return_address(0),
				    ARRAY_SIZE(entries), &trace);
		if (copied > 0) {
			scs_copy(top, entries, copied);
			return kasan_depot_store(entries, copied, gfp, flags);
		}
	}
#endif
	nr = frame_trace(entries, 1);
	return kasan_depot_store(entries, nr, gfp, flags);
}

/**
 * kasan_frame_save - save a stack trace from frame records
 * @gfp: for memory that the depot may need
 * @flags: for the depot
 *
 * The trace begins in the calling function.
 *
 * Context: Any that the depot allows with @flags.
 * Return: Handle of the trace's record, 0 if it could not be stored.
 */
noinline depot_stack_handle_t __kprobes
kasan_frame_save(gfp_t gfp, kasan_depot_flags_t flags)
{
#if IS_ENABLED(CONFIG_KASAN_SCS_BENCH)
	/* Before there is an array, which the compiler may have to clear. */
	if (static_branch_unlikely(&bench_none))
		return 0;
#endif
	return frame_save(gfp, flags);
}

#ifdef CONFIG_KASAN_SCS_TESTS
EXPORT_SYMBOL_GPL(kasan_frame_save);
#endif

#if IS_ENABLED(CONFIG_KASAN_SCS_BENCH)
static bool __init bench_variant(const char *arg)
{
	if (!strcmp(arg, "none"))
		static_branch_enable(&bench_none);
	else if (!strcmp(arg, "copy"))
		static_branch_enable(&bench_copy);
	else
		return false;
	static_branch_disable(&kasan_unwinder_scs);
	return true;
}
#else
static bool __init bench_variant(const char *arg)
{
	return false;
}
#endif

/* kasan.unwinder=scs|frame, and verify, none and copy where configured. */
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
	if (bench_variant(arg))
		return 0;
	pr_err("kasan.unwinder=%s: not one of scs, frame%s%s\n", arg,
	       IS_ENABLED(CONFIG_KASAN_SCS_VERIFY) ? ", verify" : "",
	       IS_ENABLED(CONFIG_KASAN_SCS_BENCH) ? ", none, copy" : "");
	return -EINVAL;
}
early_param("kasan.unwinder", early_kasan_unwinder);

static const char *unwinder_name(void)
{
#if IS_ENABLED(CONFIG_KASAN_SCS_BENCH)
	if (static_branch_unlikely(&bench_none))
		return "none";
	if (static_branch_unlikely(&bench_copy))
		return "copy";
#endif
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

static unsigned long sum_memo_hits(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += atomic64_read(&per_cpu(kasan_memo, cpu).hits);
	return sum;
}

static int stats_show(struct seq_file *seq, void *v)
{
	unsigned long memo = sum_memo_hits(), scs = memo + sum_count(COUNT_JUDGED);
	unsigned long fallback = 0;
	unsigned int i;

	for (i = SCS_FALLBACK_OFF; i < SCS_NR_FALLBACKS; i++)
		fallback += sum_count(i);

	seq_printf(seq, "unwinder: %s\n", unwinder_name());
	seq_printf(seq, "saved: %lu\n", scs + fallback);
	seq_printf(seq, "scs: %lu\n", scs);
	seq_printf(seq, "fallback: %lu\n", fallback);
	seq_printf(seq, "memo: %lu\n", memo);
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
