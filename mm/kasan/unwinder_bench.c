// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to save a stack trace, by depth: a file in debugfs, measured
 * when it is read.  New traces are new only the first time.
 *
 * Meant for guests whose clock counts instructions (QEMU's -icount), with one
 * CPU: then nanoseconds are instructions.  The functions measured are those that
 * KASAN uses.
 */
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/stackdepot.h>

#include "unwinder.h"

#define REPEATED_SAVES	1000
#define NEW_SAVES	256

/* All with the same frame: entered by a call, no tail call, one trace saved. */
typedef depot_stack_handle_t (*bench_fn)(kasan_depot_flags_t flags);

/* What KASAN's modes save with. */
#define FLAGS	(IS_ENABLED(CONFIG_KASAN_GENERIC) ? KASAN_DEPOT_CAN_ALLOC : KASAN_DEPOT_GET)

static noinline notrace depot_stack_handle_t save_none(kasan_depot_flags_t flags)
{
	barrier();
	return 1;
}

static noinline notrace depot_stack_handle_t save_frame(kasan_depot_flags_t flags)
{
	depot_stack_handle_t handle;

	handle = kasan_frame_save(GFP_KERNEL, flags);
	barrier();
	return handle;
}

/* The words copied and judged, then saved as any other trace. */
static noinline notrace depot_stack_handle_t save_copy(kasan_depot_flags_t flags)
{
	const unsigned long *top = scs_stack_pointer();
	unsigned long entries[KASAN_STACK_DEPTH];
	struct scs_trace trace = {};
	int nr;

	nr = scs_unwind(top, (unsigned long)__builtin_return_address(0),
			ARRAY_SIZE(entries) - 1, &trace);
	if (nr < 0)
		return 0;
	entries[0] = kasan_this_address();
	scs_copy(top, entries + 1, nr);
	return kasan_depot_store(entries, nr + 1, GFP_KERNEL, flags);
}

static const struct {
	const char *name;
	bench_fn save;
} variants[] = {
	{ "none", save_none },
	{ "frame", save_frame },
	{ "copy", save_copy },
	{ "scs", kasan_test_save_stack },
};

struct bench {
	bench_fn save;
	unsigned int saves;
	u64 time;
	depot_stack_handle_t last;
	bool failed;
};

/* Save at the end of a path of two call sites a level, chosen by its bits. */
static noinline notrace int walk(struct bench *b, unsigned long path, int levels)
{
	int ret = 1;
	unsigned int i;
	u64 start;

	if (levels && (path & 1)) {
		ret = walk(b, path >> 1, levels - 1);
		barrier();
		return ret + 1;
	}
	if (levels) {
		ret = walk(b, path >> 1, levels - 1);
		barrier();
		return ret + 2;
	}
	start = ktime_get_ns();
	for (i = 0; i < b->saves; i++) {
		b->last = b->save(FLAGS);
		if (!b->last)
			b->failed = true;
	}
	b->time += ktime_get_ns() - start;
	return ret;
}

static int bench_show(struct seq_file *seq, void *v)
{
	static const int depths[] = { 16, 20, 24, 29, 32, 40, 48, 56, 64 };
	struct bench probe = { .save = save_frame, .saves = 1 };
	unsigned long *entries;
	int i, base, levels;
	unsigned int var, n;

	/* The number of entries without any level. */
	walk(&probe, 0, 0);
	base = stack_depot_fetch(probe.last, &entries);

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		levels = depths[i] - base;
		if (levels < 0)
			continue;
		seq_printf(seq, "repeated %d", depths[i]);
		for (var = 0; var < ARRAY_SIZE(variants); var++) {
			struct bench b = { .save = variants[var].save };

			/* Known before it is measured. */
			b.saves = 1;
			walk(&b, 0, levels);
			b.time = 0;
			b.saves = REPEATED_SAVES;
			walk(&b, 0, levels);
			seq_printf(seq, " %s=%llu%s", variants[var].name,
				   div_u64(b.time, REPEATED_SAVES), b.failed ? "!" : "");
		}
		seq_puts(seq, "\n");

		if (1UL << min(levels, 31) <= NEW_SAVES)
			continue;
		seq_printf(seq, "new %d", depths[i]);
		for (var = 0; var < ARRAY_SIZE(variants); var++) {
			struct bench b = { .save = variants[var].save, .saves = 1 };

			for (n = 1; n <= NEW_SAVES; n++)
				walk(&b, n, levels);
			seq_printf(seq, " %s=%llu%s", variants[var].name,
				   div_u64(b.time, NEW_SAVES), b.failed ? "!" : "");
		}
		seq_puts(seq, "\n");
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(bench);

static struct dentry *file;

static int __init bench_init(void)
{
	file = debugfs_create_file("kasan_unwinder_bench", 0400, NULL, NULL, &bench_fops);
	return PTR_ERR_OR_ZERO(file);
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	debugfs_remove(file);
}
module_exit(bench_exit);

MODULE_DESCRIPTION("What it costs KASAN to save a stack trace");
MODULE_LICENSE("GPL");
