/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KASAN's stack traces: from the shadow call stack (SCS) where that gives the
 * same trace as frame records, else from frame records.
 */
#ifndef __MM_KASAN_UNWINDER_H
#define __MM_KASAN_UNWINDER_H

#include <linux/compiler.h>
#include <linux/stacktrace.h>

#include "depot.h"
#include "kasan.h"

#ifdef CONFIG_KASAN_SCS_UNWINDER

#include <linux/jump_label.h>

#include <asm/scs_unwind.h>

#include "memo.h"

DECLARE_STATIC_KEY_TRUE(kasan_unwinder_scs);
DECLARE_STATIC_KEY_FALSE(kasan_unwinder_verify);

depot_stack_handle_t kasan_scs_save(gfp_t gfp, kasan_depot_flags_t flags,
				    const unsigned long *top, unsigned long ret,
				    unsigned long self, unsigned long key);
depot_stack_handle_t kasan_frame_save(gfp_t gfp, kasan_depot_flags_t flags);
depot_stack_handle_t kasan_verify_save(depot_stack_handle_t handle, unsigned int skip);
bool kasan_same_trace(const unsigned long *scs, unsigned int nr_scs,
		      const unsigned long *frame, unsigned int nr_frame);

#ifdef CONFIG_KASAN_SCS_TESTS
depot_stack_handle_t kasan_test_save_stack(kasan_depot_flags_t flags);
#endif

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

/**
 * kasan_depot_save - save the current stack trace in the stack depot
 * @gfp: for memory that the depot may need
 * @flags: for the depot
 *
 * The trace's first entry lies in the function that this is inlined into.
 *
 * Context: Any that the depot allows with @flags.
 * Return: Handle of the trace's record, 0 if it could not be stored.
 */
static __always_inline depot_stack_handle_t
kasan_depot_save(gfp_t gfp, kasan_depot_flags_t flags)
{
	depot_stack_handle_t handle;
	const unsigned long *top;
	unsigned long self, key = 0;

	if (!static_branch_likely(&kasan_unwinder_scs)) {
		handle = kasan_frame_save(gfp, flags);
		goto no_tail_call;
	}

	top = scs_stack_pointer();
	self = kasan_this_address();
	if (likely(!kasan_depot_evicts(flags))) {
		struct stack_record *record = kasan_memo_find(top, self, &key);

		if (likely(record)) {
			handle = record->handle.handle;
			if (!static_branch_unlikely(&kasan_unwinder_verify))
				return handle;
			handle = kasan_verify_save(handle, 0);
			goto no_tail_call;
		}
	}
	handle = kasan_scs_save(gfp, flags, top,
				(unsigned long)__builtin_return_address(0), self, key);
no_tail_call:
	/* The trace begins here, so this function has to be on the stack. */
	barrier();
	return handle;
}

#else /* CONFIG_KASAN_SCS_UNWINDER */

static __always_inline depot_stack_handle_t
kasan_depot_save(gfp_t gfp, kasan_depot_flags_t flags)
{
	unsigned long entries[KASAN_STACK_DEPTH];
	unsigned int nr;

	nr = stack_trace_save(entries, ARRAY_SIZE(entries), 0);
	return kasan_depot_store(entries, nr, gfp, flags);
}

#endif /* CONFIG_KASAN_SCS_UNWINDER */

#endif /* __MM_KASAN_UNWINDER_H */
