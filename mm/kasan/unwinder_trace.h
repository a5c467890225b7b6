/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the unwinders share: both traces of one place.
 */
#ifndef __MM_KASAN_UNWINDER_TRACE_H
#define __MM_KASAN_UNWINDER_TRACE_H

#include <linux/types.h>

#include "unwinder.h"

/**
 * struct traces - both traces of one place
 * @nr_scs: number of entries in @scs, or a negated &enum scs_fallback
 * @lasting: as scs_unwind() says
 * @scs: from the SCS, beginning with the caller of scs_test_take()
 * @nr_frame: number of entries in @frame, interrupted code filtered out
 * @nr_raw: number of entries in @frame with interrupted code
 * @frame: from frame records; the first entry lies in scs_test_take() itself
 * @in_nmi: taken in an NMI
 * @in_hardirq: taken in a hard interrupt
 * @in_softirq: taken in a softirq
 */
struct traces {
	int nr_scs;
	bool lasting;
	unsigned long scs[KASAN_STACK_DEPTH];
	unsigned int nr_frame;
	unsigned int nr_raw;
	unsigned long frame[KASAN_STACK_DEPTH];
	bool in_nmi;
	bool in_hardirq;
	bool in_softirq;
};

/* When the kernel took traces of itself at boot. */
enum {
	/* The init task, before it was scheduled for the first time. */
	TRACES_OF_INIT_TASK,
	/* The first thread, before it became a process. */
	TRACES_OF_FIRST_THREAD,
	NR_BOOT_TRACES,
};

extern struct traces scs_test_boot_traces[NR_BOOT_TRACES];

void scs_test_take(struct traces *t);
depot_stack_handle_t kasan_test_aux_stack(void *object);
void *kasan_test_bucket(u32 hash);
bool scs_test_is_pure(unsigned long addr, unsigned int depth);
unsigned long scs_test_next_call(const char *name, unsigned long after);
unsigned long scs_test_find_word(unsigned long low, unsigned long high);

#endif /* __MM_KASAN_UNWINDER_TRACE_H */
