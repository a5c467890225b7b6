// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to save a stack trace, by depth: a file in debugfs, measured
 * when it is read.  New traces are new only the first time.
 *
 * Meant for guests whose clock counts instructions (QEMU's -icount), with one
 * CPU: then nanoseconds are instructions.  With more CPUs, some of them save at
 * once; that is a matter of time.  The functions measured are those that KASAN
 * uses.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>

#include "unwinder.h"

#define REPEATED_SAVES	1000
#define REPEATED_PASSES	3
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

/* Traces in a kernel thread have as many entries below walk(). */
#define CPU_LEVELS	24

/* One of the CPUs that save at once. */
struct bench_cpu {
	struct bench bench;
	unsigned long first, paths;
	atomic_t *waiting;
	struct completion done;
};

static int bench_on_cpu(void *arg)
{
	struct bench_cpu *c = arg;
	unsigned long n;

	/* All have to be there before one begins. */
	atomic_dec(c->waiting);
	while (atomic_read(c->waiting))
		cpu_relax();
	for (n = 0; n < c->paths; n++)
		walk(&c->bench, c->first + n, CPU_LEVELS);
	complete(&c->done);
	return 0;
}

/* Nanoseconds for one save while as many CPUs save, or a negative error. */
static s64 bench_cpus(bench_fn save, unsigned int cpus, bool repeated)
{
	/* New traces are not those of another CPU or variant. */
	static unsigned long first;
	struct bench_cpu *bench = kcalloc(cpus, sizeof(*bench), GFP_KERNEL);
	struct task_struct **task = kcalloc(cpus, sizeof(*task), GFP_KERNEL);
	atomic_t waiting = ATOMIC_INIT(cpus);
	unsigned int i, created = 0;
	int cpu = -1;
	s64 time = 0;

	if (!bench || !task)
		time = -ENOMEM;
	for (i = 0; i < cpus && !time; i++) {
		bench[i].bench.save = save;
		bench[i].bench.saves = repeated ? 64 * REPEATED_SAVES : 1;
		bench[i].paths = repeated ? 1 : NEW_SAVES;
		bench[i].first = repeated ? 0 : first;
		first += NEW_SAVES;
		bench[i].waiting = &waiting;
		init_completion(&bench[i].done);
		task[i] = kthread_create(bench_on_cpu, &bench[i], "scs_bench");
		if (IS_ERR(task[i])) {
			time = PTR_ERR(task[i]);
			break;
		}
		created++;
		cpu = cpumask_next(cpu, cpu_online_mask);
		kthread_bind(task[i], cpu);
	}
	for (i = 0; i < created; i++) {
		if (time)
			kthread_stop(task[i]);
		else
			wake_up_process(task[i]);
	}
	for (i = 0; i < created && time >= 0; i++) {
		wait_for_completion(&bench[i].done);
		time += div64_u64(bench[i].bench.time,
				  bench[i].bench.saves * bench[i].paths);
		if (bench[i].bench.failed)
			time = -EIO;
	}
	kfree(task);
	kfree(bench);
	return time < 0 ? time : div_s64(time, cpus);
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
			u64 least = U64_MAX;

			/* Known before it is measured. */
			b.saves = 1;
			walk(&b, 0, levels);
			b.saves = REPEATED_SAVES;
			/* A tick of the timer takes as long as hundreds of saves. */
			for (n = 0; n < REPEATED_PASSES; n++) {
				b.time = 0;
				walk(&b, 0, levels);
				least = min(least, b.time);
			}
			seq_printf(seq, " %s=%llu%s", variants[var].name,
				   div_u64(least, REPEATED_SAVES), b.failed ? "!" : "");
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

	for (i = 1; i <= 4 && i <= num_online_cpus(); i *= 2) {
		for (n = 0; n < 2; n++) {
			seq_printf(seq, "cpus %d %s", i, n ? "repeated" : "new");
			for (var = 0; var < ARRAY_SIZE(variants); var++)
				seq_printf(seq, " %s=%lld", variants[var].name,
					   bench_cpus(variants[var].save, i, n));
			seq_puts(seq, "\n");
		}
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
