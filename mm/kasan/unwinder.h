/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KASAN's stack traces: from the shadow call stack (SCS) where that gives the
 * same trace as frame records, else from frame records.
 */
#ifndef __MM_KASAN_UNWINDER_H
#define __MM_KASAN_UNWINDER_H

#include <linux/compiler.h>
#include <linux/stacktrace.h>

#ifdef CONFIG_KASAN_SCS_UNWINDER

#include <linux/jump_label.h>

#include <asm/scs_unwind.h>

#include "kasan.h"

DECLARE_STATIC_KEY_TRUE(kasan_unwinder_scs);
DECLARE_STATIC_KEY_FALSE(kasan_unwinder_verify);

unsigned int kasan_scs_trace(const unsigned long *top, unsigned long ret,
			     unsigned long self, unsigned long *entries,
			     unsigned int size);
void kasan_unwinder_compare(const unsigned long *scs, unsigned int nr_scs,
			    unsigned long *frame, unsigned int nr_frame);

/*
 * An address in the function that this is inlined into.  Traces of both
 * sources begin with it, so that those of one site share one depot record.
 */
static __always_inline unsigned long kasan_this_address(void)
{
	unsigned long addr;

	asm volatile("adr %0, ." : "=r" (addr));
	return addr;
}

/*
 * Compare a trace from the SCS with that of the frame-record unwinder, taken
 * here so that it has the same number of entries.
 */
static __always_inline void kasan_verify_trace(const unsigned long *entries,
					       unsigned int nr)
{
#ifdef CONFIG_KASAN_SCS_VERIFY
	if (static_branch_unlikely(&kasan_unwinder_verify)) {
		unsigned long frame[KASAN_STACK_DEPTH];
		unsigned int nr_frame;

		nr_frame = stack_trace_save(frame, ARRAY_SIZE(frame), 0);
		kasan_unwinder_compare(entries, nr, frame, nr_frame);
	}
#endif
}

/**
 * kasan_stack_trace - take the current stack trace
 * @entries: where to store it, newest entry first; the first entry lies in the
 *	     function that this is inlined into
 * @size: number of entries that fit, at least two
 *
 * Traces from the SCS end at the first irqentry or softirqentry function, where
 * the stack depot cuts traces anyway.
 *
 * Context: Any.
 * Return: Number of entries stored.
 */
static __always_inline unsigned int kasan_stack_trace(unsigned long *entries,
						      unsigned int size)
{
	unsigned long self;
	unsigned int nr;

	if (!static_branch_likely(&kasan_unwinder_scs))
		return stack_trace_save(entries, size, 0);

	self = kasan_this_address();
	nr = kasan_scs_trace(scs_stack_pointer(),
			     (unsigned long)__builtin_return_address(0),
			     self, entries, size);
	if (likely(nr)) {
		kasan_verify_trace(entries, nr);
		return nr;
	}

	nr = stack_trace_save(entries, size, 0);
	if (nr)
		entries[0] = self;
	return nr;
}

#else /* CONFIG_KASAN_SCS_UNWINDER */

static __always_inline unsigned int kasan_stack_trace(unsigned long *entries,
						      unsigned int size)
{
	return stack_trace_save(entries, size, 0);
}

#endif /* CONFIG_KASAN_SCS_UNWINDER */

#endif /* __MM_KASAN_UNWINDER_H */
