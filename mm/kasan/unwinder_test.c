// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the shadow call stack (SCS) unwinder.
 *
 * Each context is tested by taking both traces at one place: the trace from the
 * SCS has to equal the frame-record unwinder's, or to be refused for the
 * expected reason.  Made-up windows test what no context brings about.
 */
#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/ftrace.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/scs.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <trace/events/power.h>

#include <asm/brk-imm.h>
#include <asm/scs_unwind.h>

#include "unwinder.h"
#include "unwinder_trace.h"

#define DEPTH	KASAN_STACK_DEPTH

/* The trace was taken from the SCS and equals frame records'. */
static void expect_equal(struct kunit *test, struct traces *t)
{
	int i;

	KUNIT_ASSERT_GT_MSG(test, t->nr_scs, 0, "fallback, reason %d", -t->nr_scs);
	KUNIT_ASSERT_EQ(test, t->nr_scs + 1, (int)t->nr_frame);
	for (i = 0; i < t->nr_scs; i++)
		KUNIT_EXPECT_EQ_MSG(test, t->scs[i], t->frame[i + 1],
				    "entry %d: %pS, %pS", i, (void *)t->scs[i],
				    (void *)t->frame[i + 1]);
}

/* The address in a trace that lies in the function of this name, or 0. */
static unsigned long has_entry(struct kunit *test, struct traces *t, const char *name)
{
	char *symbol = kunit_kzalloc(test, KSYM_SYMBOL_LEN, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, symbol);
	for (i = 0; i < t->nr_raw; i++) {
		sprint_symbol_no_offset(symbol, t->frame[i]);
		if (!strcmp(symbol, name))
			return t->frame[i];
	}
	return 0;
}

static unsigned long find_entry(struct kunit *test, struct traces *t, const char *name)
{
	unsigned long addr = has_entry(test, t, name);

	KUNIT_EXPECT_NE_MSG(test, addr, 0UL, "no %s in the trace", name);
	return addr;
}

static struct traces *traces_alloc(struct kunit *test)
{
	struct traces *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t);
	return t;
}

static void task_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);

	scs_test_take(t);
	expect_equal(test, t);
}

/* Deeper than a trace may be long: both are cut at the same entry. */
static noinline notrace int recurse(struct traces *t, int depth)
{
	int ret;

	if (!depth) {
		scs_test_take(t);
		return 0;
	}
	ret = recurse(t, depth - 1);
	/* Keeps the compiler from making a loop of this. */
	barrier();
	return ret + 1;
}

static void deep_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);

	KUNIT_EXPECT_EQ(test, recurse(t, DEPTH + 8), DEPTH + 8);
	KUNIT_EXPECT_EQ(test, t->nr_scs, DEPTH - 1);
	expect_equal(test, t);
}

/* What taking traces, and an interrupt meanwhile, may push above its caller. */
#define SLOTS_TO_TAKE	128

/* Near the end of the SCS, or as near as the stack lets one get. */
static void near_end_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);
	unsigned long slots, frames;
	int depth;

	slots = SCS_SIZE / sizeof(long) -
		(scs_stack_pointer() - (unsigned long *)task_scs(current));
	/* A frame of recurse() takes less than 64 bytes. */
	frames = (current_stack_pointer - (unsigned long)task_stack_page(current)) / 64;
	depth = min(slots, frames) - SLOTS_TO_TAKE;
	KUNIT_ASSERT_GT(test, depth, 0);
	KUNIT_EXPECT_EQ(test, recurse(t, depth), depth);
	KUNIT_EXPECT_EQ(test, t->nr_scs, DEPTH - 1);
	expect_equal(test, t);
	kunit_info(test, "%d calls, of %lu slots\n", depth, slots);
}

static int take_in_kthread(void *t)
{
	scs_test_take(t);
	/* Wait to be stopped, so that the stop finds a living thread. */
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static void kthread_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);
	struct task_struct *task;

	task = kthread_run(take_in_kthread, t, "scs_unwind_test");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	while (!READ_ONCE(t->nr_frame))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, kthread_stop(task), 0);
	expect_equal(test, t);
}

struct traces_work {
	struct work_struct work;
	struct irq_work irq_work;
	struct tasklet_struct tasklet;
	struct completion done;
	struct traces t;
};

static struct traces_work *traces_work_alloc(struct kunit *test)
{
	struct traces_work *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, w);
	init_completion(&w->done);
	return w;
}

static void take_in_work(struct work_struct *work)
{
	struct traces_work *w = container_of(work, struct traces_work, work);

	scs_test_take(&w->t);
	complete(&w->done);
}

static void workqueue_test(struct kunit *test)
{
	struct traces_work *w = traces_work_alloc(test);

	INIT_WORK(&w->work, take_in_work);
	schedule_work(&w->work);
	wait_for_completion(&w->done);
	flush_work(&w->work);
	expect_equal(test, &w->t);
}

/*
 * A record that was saved right after scs_test_take(), at any depth below: its last
 * entries are @t's callers.
 */
static void expect_callers(struct kunit *test, struct traces *t,
			   const unsigned long *entries, unsigned int nr)
{
	unsigned int callers = t->nr_frame - 1, i;

	KUNIT_ASSERT_GE(test, nr, callers);
	entries += nr - callers;
	/* Two calls in one function, at different addresses. */
	KUNIT_EXPECT_LT(test, entries[0] - t->frame[1], 64UL);
	for (i = 1; i < callers; i++)
		KUNIT_EXPECT_EQ(test, entries[i], t->frame[i + 1]);
}

#ifdef CONFIG_KASAN_GENERIC
static noinline notrace void queue(struct traces_work *w)
{
	scs_test_take(&w->t);
	schedule_work(&w->work);
	/* Not a tail call. */
	barrier();
}

static void do_nothing(struct work_struct *work)
{
}

/* KASAN notes who queued the work: an auxiliary stack of the object that it is in. */
static void aux_stack_test(struct kunit *test)
{
	struct traces_work *w = traces_work_alloc(test);
	depot_stack_handle_t handle;
	unsigned long *entries;
	unsigned int nr;

	INIT_WORK(&w->work, do_nothing);
	queue(w);
	flush_work(&w->work);
	expect_equal(test, &w->t);
	handle = kasan_test_aux_stack(w);
	KUNIT_ASSERT_NE(test, handle, 0U);
	nr = stack_depot_fetch(handle, &entries);
	KUNIT_ASSERT_GE(test, nr, w->t.nr_frame);
	KUNIT_ASSERT_LT(test, nr, (unsigned int)DEPTH);
	expect_callers(test, &w->t, entries, nr);
}
#endif

static void take_in_irq_work(struct irq_work *work)
{
	struct traces_work *w = container_of(work, struct traces_work, irq_work);

	scs_test_take(&w->t);
	complete(&w->done);
}

static void take_hardirq(struct traces_work *w)
{
	w->irq_work = IRQ_WORK_INIT_HARD(take_in_irq_work);
	irq_work_queue(&w->irq_work);
	wait_for_completion(&w->done);
	irq_work_sync(&w->irq_work);
}

static void hardirq_test(struct kunit *test)
{
	struct traces_work *w = traces_work_alloc(test);

	take_hardirq(w);
	KUNIT_EXPECT_TRUE(test, w->t.in_hardirq);
	expect_equal(test, &w->t);
}

static void take_in_tasklet(struct tasklet_struct *tasklet)
{
	struct traces_work *w = container_of(tasklet, struct traces_work, tasklet);

	scs_test_take(&w->t);
	complete(&w->done);
}

/* A tasklet raised with softirqs off runs on the IRQ SCS when they come on. */
static void softirq_test(struct kunit *test)
{
	struct traces_work *w = traces_work_alloc(test);

	tasklet_setup(&w->tasklet, take_in_tasklet);
	local_bh_disable();
	tasklet_schedule(&w->tasklet);
	local_bh_enable();
	wait_for_completion(&w->done);
	tasklet_kill(&w->tasklet);
	KUNIT_EXPECT_TRUE(test, w->t.in_softirq);
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		find_entry(test, &w->t, "call_on_irq_stack");
	expect_equal(test, &w->t);
}

/*
 * Raised in task context with softirqs on, it is left to ksoftirqd, unless an
 * interrupt comes first.
 */
static void ksoftirqd_test(struct kunit *test)
{
	struct traces_work *w;
	unsigned int tries = 100;

	do {
		w = traces_work_alloc(test);
		tasklet_setup(&w->tasklet, take_in_tasklet);
		tasklet_schedule(&w->tasklet);
		wait_for_completion(&w->done);
		tasklet_kill(&w->tasklet);
		KUNIT_EXPECT_TRUE(test, w->t.in_softirq);
		expect_equal(test, &w->t);
	} while (!has_entry(test, &w->t, "run_ksoftirqd") && --tries);
	KUNIT_EXPECT_GT(test, tries, 0U);
}

/*
 * The way of kasan_save_stack() to the depot: whether the memo has the trace or
 * not, one place has one record, and the trace begins in the saving function.
 */
static noinline notrace void save_flags(struct traces *t, depot_stack_handle_t *handle,
					kasan_depot_flags_t flags)
{
	scs_test_take(t);
	*handle = kasan_test_save_stack(flags);
}

static noinline notrace void save(struct traces *t, depot_stack_handle_t *handle)
{
	save_flags(t, handle, KASAN_DEPOT_CAN_ALLOC);
	barrier();
}

/* The record of @handle is the trace that frame records gave in save_flags(). */
static void expect_record(struct kunit *test, struct traces *t,
			  depot_stack_handle_t handle)
{
	unsigned long *entries;
	unsigned int nr;

	KUNIT_ASSERT_NE(test, handle, 0U);
	nr = stack_depot_fetch(handle, &entries);
	KUNIT_ASSERT_EQ(test, nr, t->nr_frame);
	KUNIT_EXPECT_GT(test, entries[0], (unsigned long)kasan_test_save_stack);
	KUNIT_EXPECT_LT(test, entries[0], (unsigned long)kasan_test_save_stack + 1024);
	expect_callers(test, t, entries, nr);
}

static void save_path_too(struct traces *t, depot_stack_handle_t *handle,
			  kasan_depot_flags_t flags, unsigned int path, int bits);

/* As save_flags(), with another trace for each number of so many bits. */
static noinline notrace void save_path(struct traces *t, depot_stack_handle_t *handle,
				       kasan_depot_flags_t flags, unsigned int path, int bits)
{
	if (!bits)
		save_flags(t, handle, flags);
	else if (path & 1)
		save_path_too(t, handle, flags, path >> 1, bits - 1);
	else
		save_path(t, handle, flags, path >> 1, bits - 1);
	barrier();
}

static noinline notrace void save_path_too(struct traces *t, depot_stack_handle_t *handle,
					   kasan_depot_flags_t flags, unsigned int path,
					   int bits)
{
	save_path(t, handle, flags, path, bits);
	barrier();
}

#ifdef CONFIG_PERF_EVENTS
static struct traces *perf_traces;
static depot_stack_handle_t perf_handle;
static unsigned int perf_paths;
static unsigned int perf_allocated;

/* Ever new traces, while what is interrupted saves some, too. */
#define PATH_BITS	9
#define OWN_PATH_BITS	12

static void take_in_overflow(struct perf_event *event, struct perf_sample_data *data,
			     struct pt_regs *regs)
{
	if (perf_paths < 1 << PATH_BITS)
		save_path(perf_traces, &perf_handle, 0, perf_paths++, PATH_BITS);
#ifdef kmalloc_nolock
	void *object = kmalloc_nolock(64, 0, NUMA_NO_NODE);

	/* KASAN itself saves a trace, without waiting for a lock or allocating memory. */
	perf_allocated += !!object;
	kfree_nolock(object);
#endif
}

/* Take traces when an event of this CPU overflows. */
static struct traces *take_overflow(struct kunit *test, u32 type, u64 config)
{
	struct traces *t = traces_alloc(test), *own = traces_alloc(test);
	depot_stack_handle_t handle[2];
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.size = sizeof(attr),
		.pinned = 1,
		.sample_period = 100000,
	};
	unsigned long timeout = jiffies + 2 * HZ;
	struct perf_event *event;
	unsigned int path = 0;

	perf_traces = t;
	perf_handle = 0;
	perf_paths = 0;
	perf_allocated = 0;
	migrate_disable();
	event = perf_event_create_kernel_counter(&attr, raw_smp_processor_id(), NULL,
						 take_in_overflow, NULL);
	if (IS_ERR(event)) {
		migrate_enable();
		kunit_skip(test, "no such event, error %ld", PTR_ERR(event));
	}
	while (READ_ONCE(perf_paths) < 1 << PATH_BITS && time_before(jiffies, timeout)) {
		save_path(own, &handle[path % 2], KASAN_DEPOT_CAN_ALLOC,
			  path % (1 << OWN_PATH_BITS), OWN_PATH_BITS);
		path++;
	}
	perf_event_release_kernel(event);
	migrate_enable();
	KUNIT_ASSERT_GT(test, path, 1U);
	expect_record(test, own, handle[(path - 1) % 2]);
	KUNIT_EXPECT_NE(test, handle[0], handle[1]);
#ifdef kmalloc_nolock
	/* With PREEMPT_RT there are none in such contexts. */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		KUNIT_EXPECT_GT(test, perf_allocated, 0U);
#endif
	kunit_info(test, "%u traces saved in %s, beside %u\n", perf_paths,
		   t->in_nmi ? "NMIs" : "hard interrupts", path);
	/* Without memory for it, or with another one at it, it is not stored. */
	if (perf_handle)
		expect_record(test, t, perf_handle);
	return t;
}

/* A pseudo-NMI with irqchip.gicv3_pseudo_nmi=1, else a hard interrupt. */
static void overflow_test(struct kunit *test)
{
	struct traces *t = take_overflow(test, PERF_TYPE_HARDWARE,
					 PERF_COUNT_HW_CPU_CYCLES);

	KUNIT_EXPECT_TRUE(test, t->in_nmi || t->in_hardirq);
	expect_equal(test, t);
}

/* The software clock's events overflow in the callback of a hrtimer. */
static void hrtimer_test(struct kunit *test)
{
	struct traces *t = take_overflow(test, PERF_TYPE_SOFTWARE,
					 PERF_COUNT_SW_CPU_CLOCK);

	KUNIT_EXPECT_TRUE(test, t->in_hardirq);
	find_entry(test, t, "perf_swevent_hrtimer");
	expect_equal(test, t);
}
#endif

static void take_in_call(void *t)
{
	scs_test_take(t);
}

/* A call from another CPU, which is idle or not. */
static void call_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu == raw_smp_processor_id())
			continue;
		if (smp_call_function_single(cpu, take_in_call, t, 1))
			continue;
		KUNIT_EXPECT_TRUE(test, t->in_hardirq);
		expect_equal(test, t);
	}
}

#ifdef CONFIG_TRACEPOINTS
static struct traces *idle_traces;
static int idle_wanted;

static void take_in_idle(void *data, unsigned int state, unsigned int cpu)
{
	if (cpu == READ_ONCE(idle_wanted) && state != PWR_EVENT_EXIT &&
	    !idle_traces->nr_frame)
		scs_test_take(idle_traces);
}

/*
 * Idle tasks have no parent.  The boot CPU's is the init task, whose trace has
 * start_kernel() in it: once that is freed there is no telling whether it pushed.
 */
static void idle_test(struct kunit *test)
{
	int cpu;

	for_each_online_cpu(cpu) {
		unsigned long timeout = jiffies + 5 * HZ;

		idle_traces = traces_alloc(test);
		idle_wanted = cpu;
		KUNIT_ASSERT_EQ(test, register_trace_cpu_idle(take_in_idle, NULL), 0);
		while (!READ_ONCE(idle_traces->nr_frame) && time_before(jiffies, timeout))
			schedule_timeout_uninterruptible(1);
		unregister_trace_cpu_idle(take_in_idle, NULL);
		tracepoint_synchronize_unregister();
		find_entry(test, idle_traces, "do_idle");
		if (!cpu && system_state == SYSTEM_RUNNING)
			KUNIT_EXPECT_EQ(test, idle_traces->nr_scs, -SCS_FALLBACK_NOT_TEXT);
		else
			expect_equal(test, idle_traces);
	}
}
#endif

/* Taken while the kernel was booting. */
static void boot_test(struct kunit *test)
{
	expect_equal(test, &scs_test_boot_traces[TRACES_OF_INIT_TASK]);
	expect_equal(test, &scs_test_boot_traces[TRACES_OF_FIRST_THREAD]);
}

static noinline void __init take_in_init(struct traces *t)
{
	scs_test_take(t);
	/* Not a tail call. */
	barrier();
}

/* Suites run before a module's init text is freed. */
static void __ref init_text_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);

#ifdef MODULE
	if (!within_module_init((unsigned long)take_in_init, THIS_MODULE))
		kunit_skip(test, "run again, without init text");
#endif
	take_in_init(t);
	expect_equal(test, t);
	/* Where other text may come unannounced, no verdict lasts. */
	KUNIT_EXPECT_EQ(test, t->lasting, !IS_MODULE(CONFIG_KASAN_SCS_KUNIT_TEST));
}

static noinline void probed(struct traces *t)
{
	scs_test_take(t);
	/* Not a tail call. */
	barrier();
}

#ifdef CONFIG_KRETPROBES
static noinline void probed_too(struct traces *t)
{
	probed(t);
	barrier();
}

static struct traces *kretprobe_traces;

static int kretprobe_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	scs_test_take(kretprobe_traces);
	return 0;
}

static struct kretprobe kretprobes[] = {
	{
		.kp.addr = (kprobe_opcode_t *)probed,
		.handler = kretprobe_handler,
		.maxactive = 4,
	}, {
		.kp.addr = (kprobe_opcode_t *)probed_too,
		.handler = kretprobe_handler,
		.maxactive = 4,
	},
};

/* Out of line, so that the loop around it is not made two calls. */
static noinline int set_kretprobes(bool on)
{
	unsigned int i;

	if (!on)
		return 0;
	for (i = 0; i < ARRAY_SIZE(kretprobes); i++) {
		struct kretprobe *rp = &kretprobes[i];

		/* As if it had never been registered. */
		rp->kp = (struct kprobe) { .addr = rp->kp.addr };
		if (register_kretprobe(rp)) {
			while (i--)
				unregister_kretprobe(&kretprobes[i]);
			return -EINVAL;
		}
	}
	return 0;
}

/* The probed functions return to trampolines, which are on the SCS. */
static void kretprobe_test(struct kunit *test)
{
	struct traces *without = traces_alloc(test), *with = traces_alloc(test);
	struct traces *t[] = { without, with };
	unsigned int i, n = ARRAY_SIZE(t);

	kretprobe_traces = traces_alloc(test);
	OPTIMIZER_HIDE_VAR(n);
	for (i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test, set_kretprobes(t[i] == with), 0);
		probed_too(t[i]);
	}
	for (i = 0; i < ARRAY_SIZE(kretprobes); i++)
		unregister_kretprobe(&kretprobes[i]);

	expect_equal(test, without);
	KUNIT_EXPECT_EQ(test, with->nr_scs, -SCS_FALLBACK_NO_PUSH);
	KUNIT_EXPECT_EQ(test, with->nr_frame, without->nr_frame);
	for (i = 0; i < with->nr_frame; i++)
		KUNIT_EXPECT_EQ(test, with->frame[i], without->frame[i]);
	/* The handler is called by the trampoline, or in an exception raised there. */
#ifdef KRETPROBES_BRK_IMM
	KUNIT_EXPECT_EQ(test, kretprobe_traces->nr_scs, -SCS_FALLBACK_EXCEPTION);
#else
	KUNIT_EXPECT_EQ(test, kretprobe_traces->nr_scs, -SCS_FALLBACK_NO_PUSH);
#endif
	KUNIT_EXPECT_GT(test, kretprobe_traces->nr_frame, 1U);
}
#endif

#ifdef CONFIG_DYNAMIC_FTRACE
static struct traces *ftrace_traces;

static void notrace ftrace_callback(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	scs_test_take(ftrace_traces);
}

static struct ftrace_ops ftrace_ops = {
	.func = ftrace_callback,
};

noinline void scs_test_traced(struct traces *t);
noinline void scs_test_traced(struct traces *t)
{
	scs_test_take(t);
	barrier();
}

/* The callback's caller is assembly; the traced function is not affected. */
static void ftrace_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);
	struct traces *inner = traces_alloc(test);
	char name[] = "scs_test_traced";

	ftrace_traces = t;
	KUNIT_ASSERT_EQ(test, ftrace_set_filter(&ftrace_ops, name, strlen(name), 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_function(&ftrace_ops), 0);
	scs_test_traced(inner);
	unregister_ftrace_function(&ftrace_ops);
	KUNIT_EXPECT_EQ(test, t->nr_scs, -SCS_FALLBACK_NO_PUSH);
	expect_equal(test, inner);
}
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
/*
 * A trampoline that traced functions call directly, as BPF's do: x9 is the
 * return address of the traced function, x30 the place to go on at.
 */
asmlinkage void scs_test_direct(void);
asm("	.pushsection .text\n"
	"	.globl scs_test_direct\n"
	"	.type scs_test_direct, @function\n"
	"scs_test_direct:\n"
	"	bti c\n"
	"	stp x29, x9, [sp, #-32]!\n"
	"	mov x29, sp\n"
	"	stp x0, x30, [sp, #16]\n"
	"	bl scs_test_direct_call\n"
	"	ldp x0, x30, [sp, #16]\n"
	"	ldp x29, x9, [sp], #32\n"
	"	mov x10, x30\n"
	"	mov x30, x9\n"
	"	ret x10\n"
	"	.size scs_test_direct, . - scs_test_direct\n"
	"	.popsection\n");

asmlinkage void scs_test_direct_call(void);

asmlinkage notrace void scs_test_direct_call(void)
{
	scs_test_take(ftrace_traces);
	barrier();
}

static void direct_call_test(struct kunit *test)
{
	struct traces *inner = traces_alloc(test);
	struct ftrace_ops ops = {};

	ftrace_traces = traces_alloc(test);
	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, (unsigned long)scs_test_traced,
						   0, 1), 0);
	KUNIT_ASSERT_EQ(test, register_ftrace_direct(&ops, (unsigned long)scs_test_direct),
			0);
	scs_test_traced(inner);
	unregister_ftrace_direct(&ops, (unsigned long)scs_test_direct, true);
	KUNIT_EXPECT_EQ(test, ftrace_traces->nr_scs, -SCS_FALLBACK_NO_PUSH);
	expect_equal(test, inner);
}
#endif

#ifdef CONFIG_KPROBES
static struct traces *kprobe_traces;

static int kprobe_handler(struct kprobe *p, struct pt_regs *regs)
{
	scs_test_take(kprobe_traces);
	return 0;
}

/* The handler runs in an exception from EL1. */
static void kprobe_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);
	struct traces *inner = traces_alloc(test);
	struct kprobe probe = {
		.addr = (kprobe_opcode_t *)probed,
		.pre_handler = kprobe_handler,
	};

	kprobe_traces = t;
	KUNIT_ASSERT_EQ(test, register_kprobe(&probe), 0);
	probed(inner);
	unregister_kprobe(&probe);
	KUNIT_EXPECT_EQ(test, t->nr_scs, -SCS_FALLBACK_EXCEPTION);
	expect_equal(test, inner);
}
#endif

static noinline notrace int save_deep(struct traces *t, depot_stack_handle_t *handle,
				      int depth)
{
	int ret = 0;

	if (depth)
		ret = save_deep(t, handle, depth - 1);
	else
		save(t, handle);
	barrier();
	return ret + 1;
}

static void format_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);
	depot_stack_handle_t handle[3];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(handle); i++) {
		/* All calls have to be made from one place. */
		OPTIMIZER_HIDE_VAR(i);
		save(t, &handle[i]);
		expect_record(test, t, handle[i]);
		KUNIT_EXPECT_EQ(test, handle[i], handle[0]);
	}
}

static void fill_memo(depot_stack_handle_t handle)
{
	kasan_test_fill_memo(kasan_depot_record(handle));
}

/*
 * Stacks of all depths, of which each finds another one's record in the memo:
 * shorter ones, longer ones, full ones.
 */
static void memo_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);
	depot_stack_handle_t handle, again;
	int depth, other;

	for (other = 0; other < DEPTH + 4; other += 3) {
		save_deep(t, &handle, other);
		for (depth = 0; depth < DEPTH + 4; depth++) {
			fill_memo(handle);
			save_deep(t, &again, depth);
			expect_record(test, t, again);
			/* And with what this has put into the memo. */
			save_deep(t, &again, depth);
			expect_record(test, t, again);
		}
	}
}

struct short_save {
	struct traces *t;
	int depth, other;
	depot_stack_handle_t handle[2];
	struct completion done;
};

static int save_short(void *data)
{
	struct short_save *s = data;
	unsigned int i;

	save_deep(s->t, &s->handle[0], s->other);
	fill_memo(s->handle[0]);
	for (i = 0; i < ARRAY_SIZE(s->handle); i++) {
		/* All calls have to be made from one place. */
		OPTIMIZER_HIDE_VAR(i);
		save_deep(s->t, &s->handle[i], s->depth);
	}
	complete(&s->done);
	return 0;
}

/*
 * The same with the few words that a kernel thread's stack begins with, some of them
 * too few to be compared as longer ones are.
 */
static void short_memo_test(struct kunit *test)
{
	struct short_save s = { .t = traces_alloc(test) };
	struct task_struct *task;

	for (s.other = 0; s.other < 8; s.other++) {
		for (s.depth = 0; s.depth < 8; s.depth++) {
			init_completion(&s.done);
			task = kthread_run(save_short, &s, "scs_unwind_test");
			KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
			wait_for_completion(&s.done);
			expect_record(test, s.t, s.handle[1]);
			KUNIT_EXPECT_EQ(test, s.handle[0], s.handle[1]);
			if (!s.depth)
				KUNIT_EXPECT_LT(test, s.t->nr_frame, SCS_EQUAL_WORDS);
		}
	}
}

/*
 * A record that is shorter than what is compared at a time, and is in the memo where
 * a longer one would be: nothing is read behind it, where there is no memory.
 */
static void edge_memo_test(struct kunit *test)
{
	const unsigned int nr = KASAN_MEMO_MIN_WORDS + 1;
	struct traces_work *work = traces_work_alloc(test);
	struct traces *t = traces_alloc(test);
	unsigned long *entries, cut;
	struct stack_record *record;
	depot_stack_handle_t handle;
	void *page;

	take_hardirq(work);
	cut = work->t.frame[work->t.nr_frame - 1];
	save_deep(t, &handle, 16);
	stack_depot_fetch(handle, &entries);

	page = vmalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, page);
	record = page + PAGE_SIZE - nr * sizeof(long) - offsetof(struct stack_record, entries);
	record->size = nr;
	record->entries[0] = entries[0];
	/* Traces that are cut are compared with longer windows, too. */
	record->entries[nr - 1] = cut;
	kasan_test_fill_memo(record);
	save_deep(t, &handle, 16);
	expect_record(test, t, handle);

	/* It may be moved once while it is replaced, not any more then. */
	fill_memo(handle);
	synchronize_rcu();
	fill_memo(handle);
	synchronize_rcu();
	vfree(page);
}

#ifdef STACK_DEPOT_FLAG_GET
/* As save(), the way of the tag-based modes, by one of two paths. */
static noinline notrace void save_get(struct traces *t, depot_stack_handle_t *handle,
				      int depth, bool path)
{
	if (depth && path) {
		save_get(t, handle, depth - 1, path);
	} else if (depth) {
		save_get(t, handle, depth - 1, path);
		barrier();
	} else {
		scs_test_take(t);
		*handle = kasan_test_save_stack(KASAN_DEPOT_GET);
	}
	barrier();
}

struct get_work {
	struct work_struct work;
	struct traces *t;
	depot_stack_handle_t handle;
	int depth;
	bool path;
};

static void get_in_work(struct work_struct *work)
{
	struct get_work *w = container_of(work, struct get_work, work);

	save_get(w->t, &w->handle, w->depth, w->path);
}

/* In a workqueue, so that it does not matter who wants it. */
static depot_stack_handle_t get(struct traces *t, int depth, bool path)
{
	struct get_work w = { .t = t, .depth = depth, .path = path };

	INIT_WORK_ONSTACK(&w.work, get_in_work);
	schedule_work(&w.work);
	flush_work(&w.work);
	destroy_work_on_stack(&w.work);
	return w.handle;
}

/*
 * The memo finds records that were evicted, or hold another trace since then:
 * the right trace is saved, and each save holds one reference.
 */
static void evicted_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test), *other = traces_alloc(test);
	struct stack_record *record, *record_other;
	depot_stack_handle_t handle, handle_other;
	int depth;

	/* Depths from where all words of the memo's key are in the recursion. */
	for (depth = 8; depth < 24; depth++) {
		handle = get(t, depth, false);
		expect_record(test, t, handle);
		record = kasan_depot_record(handle);
		KUNIT_ASSERT_NOT_NULL(test, record);
		KUNIT_EXPECT_EQ(test, refcount_read(&record->count), 1);
		KUNIT_EXPECT_EQ(test, get(t, depth, false), handle);
		KUNIT_EXPECT_EQ(test, refcount_read(&record->count), 2);

		/* Another trace whose key collides. */
		fill_memo(handle);
		handle_other = get(other, depth, true);
		expect_record(test, other, handle_other);
		KUNIT_EXPECT_NE(test, handle_other, handle);
		KUNIT_EXPECT_EQ(test, refcount_read(&record->count), 2);
		record_other = kasan_depot_record(handle_other);
		KUNIT_ASSERT_NOT_NULL(test, record_other);
		KUNIT_EXPECT_EQ(test, refcount_read(&record_other->count), 1);

		/* Evicted, and still in all of the memo. */
		fill_memo(handle);
		stack_depot_put(handle);
		stack_depot_put(handle);
		KUNIT_EXPECT_EQ(test, refcount_read(&record->count), 0);
		KUNIT_EXPECT_EQ(test, get(other, depth, true), handle_other);
		KUNIT_EXPECT_EQ(test, refcount_read(&record_other->count), 2);
		stack_depot_put(handle_other);

		/* Its place may be filled again after a grace period. */
		fill_memo(handle_other);
		stack_depot_put(handle_other);
		synchronize_rcu();
		handle = get(t, depth, false);
		expect_record(test, t, handle);
		handle_other = get(other, depth, true);
		expect_record(test, other, handle_other);
		stack_depot_put(handle);
		stack_depot_put(handle_other);
	}
}
#endif

/*
 * The address of an SCS is a secret: after traces of all kinds no variable of
 * the kernel and no record holds an address on this task's.
 */
static void secret_test(struct kunit *test)
{
	unsigned long low = (unsigned long)task_scs(current), high = low + SCS_SIZE;
	struct traces *t = traces_alloc(test);
	depot_stack_handle_t handle = 0;
	unsigned long *entries;
	unsigned int i, nr;
	int depth;

	for (depth = 0; depth < DEPTH + 4; depth++) {
		save_deep(t, &handle, depth);
		nr = stack_depot_fetch(handle, &entries);
		for (i = 0; i < nr; i++)
			KUNIT_ASSERT_FALSE(test, entries[i] >= low && entries[i] < high);
	}
	KUNIT_EXPECT_EQ(test, scs_test_find_word(low, high), 0UL);
	/* The search finds what is there. */
	low = 0x5c5005c5005c5005;
	scs_test_boot_traces[0].scs[KASAN_STACK_DEPTH - 1] = low;
	KUNIT_EXPECT_EQ(test, scs_test_find_word(low, low + 1),
			(unsigned long)&scs_test_boot_traces[0].scs[KASAN_STACK_DEPTH - 1]);
	scs_test_boot_traces[0].scs[KASAN_STACK_DEPTH - 1] = 0;
}

/* What verify mode rests on. */
static void same_trace_test(struct kunit *test)
{
	unsigned long scs[DEPTH], frame[DEPTH];
	unsigned int i;

	for (i = 0; i < DEPTH; i++) {
		scs[i] = i;
		frame[i] = i;
	}
	frame[0]++;
	KUNIT_EXPECT_TRUE(test, kasan_same_trace(scs, DEPTH, frame, DEPTH));
	KUNIT_EXPECT_TRUE(test, kasan_same_trace(scs, 2, frame, 2));
	KUNIT_EXPECT_FALSE(test, kasan_same_trace(scs, DEPTH - 1, frame, DEPTH));
	KUNIT_EXPECT_FALSE(test, kasan_same_trace(scs, DEPTH, frame, DEPTH - 1));
	KUNIT_EXPECT_FALSE(test, kasan_same_trace(scs, 1, frame, 1));
	KUNIT_EXPECT_FALSE(test, kasan_same_trace(scs, 0, frame, 0));
	for (i = 1; i < DEPTH; i++) {
		frame[i]++;
		KUNIT_EXPECT_FALSE(test, kasan_same_trace(scs, DEPTH, frame, DEPTH));
		KUNIT_EXPECT_EQ(test, kasan_same_trace(scs, i, frame, i), i > 1);
		frame[i]--;
	}
}

/*
 * Made-up windows.  They are copies of a true trace of this task, oldest word
 * first as on an SCS, which the judge has to accept unless it is damaged.
 */
struct window {
	unsigned int nr;
	/* As large as an SCS, so that any offset in bounds may be read. */
	unsigned long *base;
	unsigned long ret;
	/* In the code that enters the kernel from EL1, for who wants it. */
	unsigned long entry;
	unsigned long entries[DEPTH];
};

/* Instrumented code may not read what the judge may. */
static noinline __no_sanitize_address
int judge_at(struct window *w, const unsigned long *top, const unsigned long *base)
{
	struct scs_trace trace = {};
	int nr = scs_judge(top, base, w->ret, DEPTH - 1, &trace);

	if (nr > 0)
		scs_copy(top, w->entries, nr);
	return nr;
}

static int judge(struct window *w, const unsigned long *top)
{
	return judge_at(w, top, w->base);
}

static struct window *window_alloc(struct kunit *test)
{
	struct window *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct traces *t = traces_alloc(test);
	unsigned int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, w);
	w->base = kunit_kzalloc(test, SCS_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, w->base);
	scs_test_take(t);
	KUNIT_ASSERT_GT(test, t->nr_scs, 3);
	w->nr = t->nr_scs;
	w->ret = t->scs[0];
	for (i = 0; i < w->nr; i++)
		w->base[i] = t->scs[w->nr - 1 - i];
	KUNIT_ASSERT_EQ(test, judge(w, w->base + w->nr), (int)w->nr);
	for (i = 0; i < w->nr; i++)
		KUNIT_ASSERT_EQ(test, w->entries[i], t->scs[i]);
	return w;
}

static void bounds_test(struct kunit *test)
{
	struct window *w = window_alloc(test);
	unsigned long *end = w->base + SCS_SIZE / sizeof(long);
	unsigned long *top = w->base + w->nr;
	unsigned long base = (unsigned long)w->base;

	KUNIT_EXPECT_EQ(test, judge(w, NULL), -SCS_FALLBACK_FOREIGN);
	KUNIT_EXPECT_EQ(test, judge(w, w->base - 1), -SCS_FALLBACK_FOREIGN);
	KUNIT_EXPECT_EQ(test, judge(w, end), -SCS_FALLBACK_FOREIGN);
	KUNIT_EXPECT_EQ(test, judge(w, end + 1), -SCS_FALLBACK_FOREIGN);
	KUNIT_EXPECT_EQ(test, judge(w, (void *)top + 4), -SCS_FALLBACK_FOREIGN);
	KUNIT_EXPECT_EQ(test, judge(w, (void *)top - 1), -SCS_FALLBACK_FOREIGN);
	/* The last slot is the end marker's: the highest top is below it. */
	KUNIT_EXPECT_EQ(test, judge(w, end - 1), -SCS_FALLBACK_SPLICE);
	/* The base alone, then base and top off by the same. */
	w->base = (void *)base + 4;
	KUNIT_EXPECT_EQ(test, judge(w, top), -SCS_FALLBACK_FOREIGN);
	KUNIT_EXPECT_EQ(test, judge(w, (void *)top + 4), -SCS_FALLBACK_FOREIGN);
}

static void splice_test(struct kunit *test)
{
	struct window *w = window_alloc(test);
	unsigned long *top = w->base + w->nr;

	/* Nothing on the SCS; a stale word too many; a word missing. */
	KUNIT_EXPECT_EQ(test, judge(w, w->base), -SCS_FALLBACK_SPLICE);
	*top = w->base[0];
	KUNIT_EXPECT_EQ(test, judge(w, top + 1), -SCS_FALLBACK_SPLICE);
	KUNIT_EXPECT_EQ(test, judge(w, top - 1), -SCS_FALLBACK_SPLICE);
	w->ret += 4;
	KUNIT_EXPECT_EQ(test, judge(w, top), -SCS_FALLBACK_SPLICE);
}

/* scs_unwind() itself, with an x18 on no SCS of this task and CPU. */
static void foreign_test(struct kunit *test)
{
	struct window *w = window_alloc(test);
	unsigned long *top = w->base + w->nr;
	struct scs_trace trace = {};
	struct task_struct *task;

	KUNIT_EXPECT_EQ(test, scs_unwind(NULL, w->ret, DEPTH - 1, &trace),
			-SCS_FALLBACK_FOREIGN);
	KUNIT_EXPECT_EQ(test, scs_unwind(top, w->ret, DEPTH - 1, &trace),
			-SCS_FALLBACK_FOREIGN);
	KUNIT_EXPECT_EQ(test, scs_unwind((void *)-8UL, w->ret, DEPTH - 1, &trace),
			-SCS_FALLBACK_FOREIGN);

	/* Another task's, which has not run yet. */
	task = kthread_create(take_in_kthread, w, "scs_unwind_test");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	for (top = task_scs(task); (void *)top < task_scs(task) + SCS_SIZE; top++)
		KUNIT_ASSERT_EQ(test, scs_unwind(top, w->ret, DEPTH - 1, &trace),
				-SCS_FALLBACK_FOREIGN);
	kthread_stop(task);
}

static void bottom_test(struct kunit *test)
{
	struct window *w = window_alloc(test);
	unsigned long *top = w->base + w->nr;
	unsigned long *base = w->base;

	/* The bottom word is missing. */
	w->base = base + 1;
	KUNIT_EXPECT_EQ(test, judge(w, top), -SCS_FALLBACK_BOTTOM);
	/* It is not in the bottom slot. */
	w->base = base;
	base[1] = base[0];
	KUNIT_EXPECT_EQ(test, judge(w, top), -SCS_FALLBACK_BOTTOM);
}

/* An address in the code that enters the kernel from EL1. */
static unsigned long el1_entry(struct kunit *test)
{
	struct traces_work *work = traces_work_alloc(test);

	take_hardirq(work);
	return find_entry(test, &work->t, "el1h_64_irq");
}

/* Words of the kernel's assembly that no task's SCS starts with. */
static void wrong_bottom_test(struct kunit *test)
{
	struct traces_work *work = traces_work_alloc(test);
	struct window *w = window_alloc(test);

	take_hardirq(work);
	w->base[0] = find_entry(test, &work->t, "call_on_irq_stack");
	KUNIT_EXPECT_EQ(test, judge(w, w->base + w->nr), -SCS_FALLBACK_NO_PUSH);
	w->base[0] = find_entry(test, &work->t, "el1h_64_irq");
	KUNIT_EXPECT_EQ(test, judge(w, w->base + w->nr), -SCS_FALLBACK_EXCEPTION);
}

/* Each word in turn is one that no function which pushes can have left. */
static void impure_test(struct kunit *test)
{
	static unsigned long data;
	struct window *w = window_alloc(test);
	unsigned long *top = w->base + w->nr;
	void *page = vmalloc(PAGE_SIZE);
	struct {
		unsigned long word;
		int expected;
	} cases[] = {
		{ 0, -SCS_FALLBACK_NOT_TEXT },
		{ 4, -SCS_FALLBACK_NOT_TEXT },
		{ -4UL, -SCS_FALLBACK_NOT_TEXT },
		{ (unsigned long)&data, -SCS_FALLBACK_NOT_TEXT },
		{ (unsigned long)page, -SCS_FALLBACK_NOT_TEXT },
		{ (unsigned long)w, -SCS_FALLBACK_NOT_TEXT },
		/* In text, but misaligned. */
		{ w->ret + 1, -SCS_FALLBACK_NOT_TEXT },
		/* In text, but not behind a call. */
		{ (unsigned long)scs_test_take + 4, -SCS_FALLBACK_NO_PUSH },
		{ el1_entry(test), -SCS_FALLBACK_EXCEPTION },
	};
	unsigned int i, slot, nr = ARRAY_SIZE(cases);

	KUNIT_ASSERT_NOT_NULL(test, page);
	/* Below the last one there may be what was interrupted: see interrupted_test(). */
	if (IS_ENABLED(CONFIG_ARM64_SCS_INTERRUPTED_PC))
		nr--;
	for (slot = 0; slot < w->nr - 1; slot++) {
		unsigned long word = w->base[slot];

		for (i = 0; i < nr; i++) {
			w->base[slot] = cases[i].word;
			KUNIT_EXPECT_EQ_MSG(test, judge(w, top), cases[i].expected,
					    "slot %u, case %u", slot, i);
		}
		w->base[slot] = word;
	}
	KUNIT_EXPECT_EQ(test, judge(w, top), (int)w->nr);
	vfree(page);
}

/*
 * Windows damaged at random.  Whatever the judge accepts has to be what lies in
 * the window, begin with the return address and consist of return addresses in
 * functions that push; it may not read outside the window, nor fault on a word.
 */
#define FUZZ_SEEDS	50
#define FUZZ_ROUNDS	500

static unsigned long fuzz_word(struct rnd_state *rnd, struct window *w)
{
	u32 r = prandom_u32_state(rnd);
	unsigned long text = (unsigned long)kfree, self = (unsigned long)probed;

	switch (r % 13) {
	case 0:	/* Any text, aligned or not. */
		return text + (prandom_u32_state(rnd) % SZ_8M) - SZ_4M;
	case 1:
		return (text + (prandom_u32_state(rnd) % SZ_8M) - SZ_4M) & ~3UL;
	case 2: /* This module, and where others are or were. */
		return (self + (prandom_u32_state(rnd) % SZ_4K)) & ~3UL;
	case 3:
		return (self + (prandom_u32_state(rnd) % SZ_64M) - SZ_32M) & ~3UL;
	case 4: /* Data, stack, heap. */
		return (unsigned long)w + (r & 0xfff);
	case 5:
		return (unsigned long)__builtin_frame_address(0);
	case 6: /* User addresses and holes. */
		return prandom_u32_state(rnd);
	case 7:
		return (unsigned long)prandom_u32_state(rnd) << 32 | r;
	case 8:
		return -(unsigned long)(r & 0xffff);
	case 9: /* Words of the true trace at other places. */
		return w->base[prandom_u32_state(rnd) % w->nr];
	case 10: /* Next to a return address. */
		return w->base[prandom_u32_state(rnd) % w->nr] + (r >> 8) % 17 - 8;
	case 11: /* Entry from EL1 and around it. */
		return (w->entry + (r >> 8) % SZ_8K - SZ_4K) & ~3UL;
	default: /* The bottom's assembly, at every depth. */
		return (w->base[0] & ~0xfffUL) + (r & 0xffc);
	}
}

/* Is this in the assembly with which an SCS starts? */
static bool starts_scs(unsigned long word)
{
	char symbol[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(symbol, word - 4);
	return str_has_prefix(symbol, "el0t_") || !strcmp(symbol, "ret_from_fork");
}

/* Of many seeds, which are the same in each run: what is found can be found again. */
static void fuzz_test(struct kunit *test)
{
	struct window *w = window_alloc(test);
	unsigned long *mem = kunit_kzalloc(test, 3 * SCS_SIZE, GFP_KERNEL);
	unsigned long *base, *top;
	unsigned int round, i, accepted = 0, judged = 0;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mem);
	w->entry = el1_entry(test);
	for (round = 0; round < FUZZ_SEEDS * FUZZ_ROUNDS; round++) {
		if (round % FUZZ_ROUNDS == 0)
			prandom_seed_state(&rnd, round / FUZZ_ROUNDS + 1);
		u32 r = prandom_u32_state(&rnd);
		int nr, damage = r % 4;

		/* A window that may lie at any offset of an SCS. */
		base = mem + SCS_SIZE / sizeof(long);
		top = base + w->nr;
		memcpy(base, w->base, w->nr * sizeof(long));
		while (damage--)
			base[prandom_u32_state(&rnd) % w->nr] = fuzz_word(&rnd, w);
		if (r & 0x100)
			top = (void *)top + (s32)prandom_u32_state(&rnd) % 64;
		if (r & 0x200)
			base += (s32)prandom_u32_state(&rnd) % 4;
		if (!(r & 0xf000))
			base = (void *)base + (s32)prandom_u32_state(&rnd) % (s32)SCS_SIZE;

		memset(w->entries, 0, sizeof(w->entries));
		nr = judge_at(w, top, base);
		judged++;
		if (nr < 0) {
			KUNIT_ASSERT_GT(test, nr, -SCS_NR_FALLBACKS);
			continue;
		}
		accepted++;
		KUNIT_ASSERT_GT(test, nr, 0);
		KUNIT_ASSERT_LT(test, nr, DEPTH);
		KUNIT_ASSERT_LE(test, nr, (int)(top - base));
		KUNIT_ASSERT_EQ(test, w->entries[0], w->ret);
		for (i = 0; i < nr; i++) {
			unsigned long word = w->entries[i];

			KUNIT_ASSERT_EQ(test, word, *(top - 1 - i));
			KUNIT_ASSERT_TRUE_MSG(test, scs_test_is_pure(word, i) ||
					      (top - 1 - i == base && starts_scs(word)),
					      "seed %u, entry %u: %pS",
					      round / FUZZ_ROUNDS + 1, i, (void *)word);
		}
		KUNIT_ASSERT_EQ(test, w->entries[nr], 0UL);
	}
	kunit_info(test, "%u windows, %u accepted\n", judged, accepted);
	/* Both outcomes have to occur, or this tests nothing. */
	KUNIT_EXPECT_GT(test, accepted, judged / 20);
	KUNIT_EXPECT_LT(test, accepted, judged * 19 / 20);
}

/*
 * A call made by assembly which does not push, as the tracers' trampolines do.
 * Its caller's return address is in no slot, so whatever lies below is not its
 * caller.
 */
asmlinkage void scs_test_calls(void (*fn)(struct traces *t), struct traces *t);
asm("	.pushsection .text\n"
	"	.globl scs_test_calls\n"
	"	.type scs_test_calls, @function\n"
	"scs_test_calls:\n"
	"	bti c\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, sp\n"
	"	mov x2, x0\n"
	"	mov x0, x1\n"
	"	blr x2\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	"	.size scs_test_calls, . - scs_test_calls\n"
	"	.popsection\n");

static depot_stack_handle_t saved_handle;

static void save_called(struct traces *t)
{
	save(t, &saved_handle);
	barrier();
}

static void assembly_test(struct kunit *test)
{
	struct traces *t = traces_alloc(test);

	scs_test_calls(scs_test_take, t);
	KUNIT_EXPECT_EQ(test, t->nr_scs, -SCS_FALLBACK_NO_PUSH);
	scs_test_calls(probed, t);
	KUNIT_EXPECT_EQ(test, t->nr_scs, -SCS_FALLBACK_NO_PUSH);
	/* What is saved then is what frame records say. */
	scs_test_calls(save_called, t);
	KUNIT_EXPECT_EQ(test, t->nr_scs, -SCS_FALLBACK_NO_PUSH);
	expect_record(test, t, saved_handle);
}

/*
 * Functions that end in a call, with another one right behind.  The address
 * behind the call is a return address if the next function pushes too; if not,
 * it may as well be a trampoline that a tracer put there.  Never executed.
 */
asmlinkage void scs_test_ends_in_call(void);
asmlinkage void scs_test_trampoline(void);
asmlinkage void scs_test_ends_in_call_too(void);
asmlinkage void scs_test_pushes(void);
asmlinkage void scs_test_pushes_late(void);
asm("	.pushsection .text\n"
	"	.balign 8\n"
	"	.globl scs_test_ends_in_call\n"
	"	.type scs_test_ends_in_call, @function\n"
	"scs_test_ends_in_call:\n"
	"	str x30, [x18], #8\n"
	"	bl scs_test_take\n"
	"	.globl scs_test_trampoline\n"
	"	.type scs_test_trampoline, @function\n"
	"scs_test_trampoline:\n"
	"	bl scs_test_take\n"
	"	ret\n"
	"	.globl scs_test_ends_in_call_too\n"
	"	.type scs_test_ends_in_call_too, @function\n"
	"scs_test_ends_in_call_too:\n"
	"	str x30, [x18], #8\n"
	"	bl scs_test_take\n"
	"	.globl scs_test_pushes\n"
	"	.type scs_test_pushes, @function\n"
	"scs_test_pushes:\n"
	"	str x30, [x18], #8\n"
	"	bl scs_test_take\n"
	"	ldr x30, [x18, #-8]!\n"
	"	ret\n"
	"	.globl scs_test_pushes_late\n"
	"	.type scs_test_pushes_late, @function\n"
	"scs_test_pushes_late:\n"
	"	bl scs_test_take\n"
	"	str x30, [x18], #8\n"
	"	bl scs_test_take\n"
	"	ret\n"
	"	.popsection\n");

/* The trace falls back at each call in the function @name; returns how many there are. */
static unsigned int judge_calls(struct kunit *test, struct window *w, const char *name)
{
	unsigned long word;
	unsigned int nr = 0;

	for (word = scs_test_next_call(name, 0); word; word = scs_test_next_call(name, word)) {
		int judged;

		w->base[1] = word;
		judged = judge(w, w->base + w->nr);
		KUNIT_EXPECT_TRUE_MSG(test, judged == -SCS_FALLBACK_NO_PUSH ||
				      judged == -SCS_FALLBACK_EXCEPTION,
				      "%s: %d", name, judged);
		nr++;
	}
	return nr;
}

/* What the kernel has of such assembly, some of it called by code made at run time. */
static void kernel_assembly_test(struct kunit *test)
{
	static const struct {
		const char *names[3];
		bool expected;
	} code[] = {
		{ { "ftrace_caller", "ftrace_common", "ftrace_call" },
		  IS_ENABLED(CONFIG_DYNAMIC_FTRACE) },
		{ { "return_to_handler" }, IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER) },
#ifndef KRETPROBES_BRK_IMM
		/* Else there is a breakpoint in it, and no call. */
		{ { "__kretprobe_trampoline" }, IS_ENABLED(CONFIG_KRETPROBES) },
#endif
		/* Not in all versions. */
		{ { "arch_bpf_timed_may_goto" }, false },
		{ { "__hwasan_tag_mismatch" }, IS_ENABLED(CONFIG_KASAN_SW_TAGS) },
		{ { "el1h_64_irq" }, true },
		{ { "call_on_irq_stack" }, true },
	};
	struct window *w = window_alloc(test);
	unsigned int i, j, found;

	for (i = 0; i < ARRAY_SIZE(code); i++) {
		found = 0;
		for (j = 0; j < ARRAY_SIZE(code[i].names) && code[i].names[j]; j++)
			found += judge_calls(test, w, code[i].names[j]);
		kunit_info(test, "%s: %u calls\n", code[i].names[0], found);
		if (code[i].expected)
			KUNIT_EXPECT_GT_MSG(test, found, 0U, "%s", code[i].names[0]);
	}
}

static void boundary_test(struct kunit *test)
{
	struct window *w = window_alloc(test);
	unsigned long *top = w->base + w->nr;
	struct {
		unsigned long word;
		int expected;
	} cases[] = {
		{ (unsigned long)scs_test_trampoline, -SCS_FALLBACK_NO_PUSH },
		{ (unsigned long)scs_test_trampoline + 4, -SCS_FALLBACK_NO_PUSH },
		{ (unsigned long)scs_test_pushes, w->nr },
		{ (unsigned long)scs_test_pushes + 8, w->nr },
		/* Behind a push, but not behind a call. */
		{ (unsigned long)scs_test_pushes + 12, -SCS_FALLBACK_NO_PUSH },
		/* The push counts only in front of the call. */
		{ (unsigned long)scs_test_pushes_late + 4, -SCS_FALLBACK_NO_PUSH },
		{ (unsigned long)scs_test_pushes_late + 12, w->nr },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w->base[1] = cases[i].word;
		KUNIT_EXPECT_EQ_MSG(test, judge(w, top), cases[i].expected, "case %u", i);
	}
}

#ifdef CONFIG_ARM64_SCS_INTERRUPTED_PC
/* Places to be interrupted at.  Never executed. */
asmlinkage void scs_test_leaf(void);
asmlinkage void scs_test_framed(void);
asmlinkage void scs_test_unpushed(void);
asmlinkage void scs_test_saves(void);
asm("	.pushsection .text\n"
	"	.globl scs_test_leaf\n"
	"	.type scs_test_leaf, @function\n"
	"scs_test_leaf:\n"
	"	ldr x0, [x0]\n"
	"	ret\n"
	"	.globl scs_test_framed\n"
	"	.type scs_test_framed, @function\n"
	"scs_test_framed:\n"
	"	str x30, [x18], #8\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, sp\n"
	"	sttr x0, [x1]\n"
	"	brk #1\n"
	"	.globl scs_test_unpushed\n"
	"	.type scs_test_unpushed, @function\n"
	"scs_test_unpushed:\n"
	"	sub sp, sp, #32\n"
	"	stp x29, x30, [sp, #16]\n"
	"	add x29, sp, #16\n"
	"	ldr x0, [x0]\n"
	"	ret\n"
	"	.globl scs_test_saves\n"
	"	.type scs_test_saves, @function\n"
	"scs_test_saves:\n"
	"	str x30, [x18], #8\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	str x19, [sp, #16]\n"
	"	mov x29, sp\n"
	"	ldr x19, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ldr x30, [x18, #-8]!\n"
	"	ret\n"
	"	.popsection\n");

static void interrupted_test(struct kunit *test)
{
	struct traces_work *work = traces_work_alloc(test);
	struct window *w = window_alloc(test);
	unsigned long *top = w->base + w->nr;
	struct {
		unsigned long pc;
		int expected;
	} cases[] = {
		{ (unsigned long)scs_test_leaf, w->nr },
		{ (unsigned long)scs_test_framed + 12, w->nr },
		/* The push, the frame record, a breakpoint. */
		{ (unsigned long)scs_test_framed, -SCS_FALLBACK_EXCEPTION },
		{ (unsigned long)scs_test_framed + 4, -SCS_FALLBACK_EXCEPTION },
		{ (unsigned long)scs_test_framed + 16, -SCS_FALLBACK_EXCEPTION },
		/* Its caller is in no slot. */
		{ (unsigned long)scs_test_unpushed + 12, -SCS_FALLBACK_EXCEPTION },
		/* Saved before x29 is set, loaded, popped behind where it is restored. */
		{ (unsigned long)scs_test_saves + 8, -SCS_FALLBACK_EXCEPTION },
		{ (unsigned long)scs_test_saves + 16, w->nr },
		{ (unsigned long)scs_test_saves + 20, w->nr },
		{ (unsigned long)scs_test_saves + 24, -SCS_FALLBACK_EXCEPTION },
		/* No code. */
		{ (unsigned long)scs_test_leaf + 1, -SCS_FALLBACK_EXCEPTION },
		{ (unsigned long)w, -SCS_FALLBACK_EXCEPTION },
		{ 0, -SCS_FALLBACK_EXCEPTION },
		{ -4UL, -SCS_FALLBACK_EXCEPTION },
	};
	unsigned int i, cut = 0;

	take_hardirq(work);
	w->base[2] = find_entry(test, &work->t, "el1h_64_irq");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w->base[1] = cases[i].pc;
		KUNIT_EXPECT_EQ_MSG(test, judge(w, top), cases[i].expected, "case %u", i);
	}
	/* Where a load or store in irqentry text is, the depot cuts. */
	w->base[1] = work->t.frame[work->t.nr_frame - 1];
	for (i = 0; i < 64; i++, w->base[1] += 4) {
		int nr = judge(w, top);

		if (nr > 0 && ++cut)
			KUNIT_EXPECT_EQ(test, nr, (int)w->nr - 1);
	}
	KUNIT_EXPECT_GT(test, cut, 0U);
	/* Only what enters the kernel from EL1 pushes the PC. */
	w->base[1] = (unsigned long)scs_test_leaf;
	w->base[2] = find_entry(test, &work->t, "call_on_irq_stack");
	KUNIT_EXPECT_EQ(test, judge(w, top), -SCS_FALLBACK_NO_PUSH);
}
#endif

static struct kunit_case unwinder_cases[] = {
	KUNIT_CASE(task_test),
	KUNIT_CASE(deep_test),
	KUNIT_CASE(near_end_test),
	KUNIT_CASE(kthread_test),
	KUNIT_CASE(workqueue_test),
#ifdef CONFIG_KASAN_GENERIC
	KUNIT_CASE(aux_stack_test),
#endif
	KUNIT_CASE(hardirq_test),
	KUNIT_CASE(softirq_test),
	KUNIT_CASE(ksoftirqd_test),
#ifdef CONFIG_PERF_EVENTS
	KUNIT_CASE(overflow_test),
	KUNIT_CASE(hrtimer_test),
#endif
	KUNIT_CASE(call_test),
#ifdef CONFIG_TRACEPOINTS
	KUNIT_CASE(idle_test),
#endif
	KUNIT_CASE(boot_test),
	KUNIT_CASE(init_text_test),
#ifdef CONFIG_KRETPROBES
	KUNIT_CASE(kretprobe_test),
#endif
#ifdef CONFIG_DYNAMIC_FTRACE
	KUNIT_CASE(ftrace_test),
#endif
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	KUNIT_CASE(direct_call_test),
#endif
#ifdef CONFIG_KPROBES
	KUNIT_CASE(kprobe_test),
#endif
	KUNIT_CASE(format_test),
	KUNIT_CASE(memo_test),
	KUNIT_CASE(short_memo_test),
	KUNIT_CASE(edge_memo_test),
#ifdef STACK_DEPOT_FLAG_GET
	KUNIT_CASE(evicted_test),
#endif
	KUNIT_CASE(secret_test),
	KUNIT_CASE(same_trace_test),
	KUNIT_CASE(bounds_test),
	KUNIT_CASE(splice_test),
	KUNIT_CASE(foreign_test),
	KUNIT_CASE(bottom_test),
	KUNIT_CASE(wrong_bottom_test),
	KUNIT_CASE(impure_test),
	KUNIT_CASE(fuzz_test),
	KUNIT_CASE(assembly_test),
	KUNIT_CASE(kernel_assembly_test),
	KUNIT_CASE(boundary_test),
#ifdef CONFIG_ARM64_SCS_INTERRUPTED_PC
	KUNIT_CASE(interrupted_test),
#endif
	{}
};

static int unwinder_init(struct kunit *test)
{
	struct traces *t = traces_alloc(test);

	scs_test_take(t);
	if (t->nr_scs == -SCS_FALLBACK_OFF)
		kunit_skip(test, "the shadow call stack is off on this CPU");
	return 0;
}

static struct kunit_suite unwinder_suite = {
	.name = "kasan_unwinder",
	.init = unwinder_init,
	.test_cases = unwinder_cases,
};

kunit_test_suite(unwinder_suite);

MODULE_DESCRIPTION("KUnit tests of KASAN's shadow call stack unwinder");
MODULE_LICENSE("GPL");
