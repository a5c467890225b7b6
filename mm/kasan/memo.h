/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memo: which depot record the words on the SCS became last time.
 *
 * The words of a window determine its trace, so a window that was judged once
 * need not be judged again.  Each CPU has a small table of pointers to depot
 * records, indexed by a hash of some words.  A hit is one comparison of the SCS
 * with a record: nothing is copied, hashed as a whole, judged or cleared.
 *
 * A slot is one word and is only ever NULL or a record that its window was
 * judged to be, so tasks may migrate, and task, softirq, hard interrupt and NMI
 * may read and write the same slots.  Records must never be evicted: traces
 * saved with a reference (tag-based modes) do not use the memo.
 */
#ifndef __MM_KASAN_MEMO_H
#define __MM_KASAN_MEMO_H

#include <linux/hash.h>
#include <linux/percpu.h>

#include <asm/scs_unwind.h>

#include "depot.h"

/* 4 KiB a CPU. */
#define KASAN_MEMO_BITS		9

/* Windows and traces with fewer words have no use for it. */
#define KASAN_MEMO_MIN_WORDS	SCS_EQUAL_WORDS

DECLARE_PER_CPU(struct stack_record * [1 << KASAN_MEMO_BITS], kasan_memo);

/*
 * The newest words are in KASAN and in the allocator and differ little.  Those
 * behind them tell call sites apart, one in the middle and one near the bottom
 * the paths that lead there: different system calls look up the same names.
 */
static __always_inline struct stack_record **
kasan_memo_slot(const unsigned long *top, const unsigned long *base,
		unsigned long words)
{
	u64 hash = top[-3];

	hash = ror64(hash, 9) ^ top[-4];
	hash = ror64(hash, 9) ^ top[-5];
	hash = ror64(hash, 9) ^ top[-6];
	hash = ror64(hash, 9) ^ top[-7];
	hash = ror64(hash, 9) ^ top[-8];
	hash = ror64(hash, 9) ^ top[-(words / 2)];
	hash = ror64(hash, 9) ^ base[6];
	return raw_cpu_ptr(kasan_memo) + hash_64(hash, KASAN_MEMO_BITS);
}

/**
 * kasan_memo_find - look the words on the SCS up
 * @top: the calling function's scs_stack_pointer()
 * @self: the trace's first entry
 *
 * Context: Any.
 * Return: The record that these words are known to become, or NULL.
 */
static __always_inline struct stack_record *
kasan_memo_find(const unsigned long *top, unsigned long self)
{
	const unsigned long *base = scs_base(top);
	struct stack_record *record;
	unsigned long words, nr;

	/* Without a base this is a large number. */
	words = top - base;
	if (unlikely(words < KASAN_MEMO_MIN_WORDS || words >= SCS_SIZE / sizeof(*top)))
		return NULL;

	/* Pairs with the release in kasan_memo_keep(). */
	record = smp_load_acquire(kasan_memo_slot(top, base, words));
	if (!record || record->entries[0] != self)
		return NULL;

	/*
	 * The record must say all that the window says: up to the bottom, or to
	 * where traces are cut.
	 */
	nr = record->size - 1;
	if (nr != words &&
	    (nr > words ||
	     (nr != KASAN_STACK_DEPTH - 1 && !scs_in_irqentry(record->entries[nr]))))
		return NULL;
	return scs_equal(top, record->entries + 1, nr) ? record : NULL;
}

void kasan_memo_keep(const unsigned long *top, depot_stack_handle_t handle,
		     unsigned int nr);
#ifdef CONFIG_KASAN_SCS_TESTS
void kasan_test_fill_memo(depot_stack_handle_t handle);
#endif

#endif /* __MM_KASAN_MEMO_H */
