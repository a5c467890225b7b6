/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memo: which depot record the words on the SCS became last time.
 *
 * The words of a window determine its trace, so a window that was judged once
 * need not be judged again.  Each CPU has a small table of pointers to depot
 * records, indexed by a hash of some words.  A hit is one comparison of the SCS
 * with a record: nothing is copied, hashed as a whole, judged or cleared.
 *
 * A slot is one word and is only ever empty or a record that its window was
 * judged to be, so tasks may migrate, and task, softirq, hard interrupt and NMI
 * may read and write the same slots.
 *
 * Where traces are saved with a reference (tag-based modes) the record may have
 * been evicted since, and filled with another trace.  There a reference is
 * taken before the record is compared.  To drop it again may take the depot's
 * lock, which is why NMIs do without the memo then.
 */
#ifndef __MM_KASAN_MEMO_H
#define __MM_KASAN_MEMO_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include <asm/scs_unwind.h>

#include "depot.h"

/* 4 KiB a CPU. */
#define KASAN_MEMO_BITS		9

/*
 * Slots that the same words may be in: that of their index, and those of which
 * the index differs in the lower bits.
 */
#define KASAN_MEMO_WAYS		4

/*
 * Windows and traces with fewer words have no use for it.  Those with fewer than
 * SCS_EQUAL_WORDS are short: close to a system call, or in a softirq.  They are
 * compared word by word, and never where kasan_memo_find() would look for them.
 */
#define KASAN_MEMO_MIN_WORDS	4

/**
 * struct kasan_memo - the memo of a CPU
 * @slots: a record each, of which the first entry is 0 if it is none
 * @hits: how often a record was found here, by whatever CPU
 */
struct kasan_memo {
	struct stack_record *slots[1 << KASAN_MEMO_BITS];
	atomic64_t hits;
};

DECLARE_PER_CPU(struct kasan_memo, kasan_memo);

/*
 * The upper bits of the product depend on all bits, as those of hash_64() do.  One
 * instruction loads this factor, four that of hash_64().
 */
#define KASAN_MEMO_FACTOR	0xc7c7c7c7c7c7c7c7ULL

static __always_inline unsigned long kasan_memo_fold(u64 hash)
{
	return hash * KASAN_MEMO_FACTOR >> (64 - KASAN_MEMO_BITS);
}

/*
 * The newest word is in KASAN and differs little.  Those behind it, in the allocator
 * and its callers, tell call sites apart, one in the middle and one near the bottom
 * the paths that lead there: different system calls look up the same names.
 */
static __always_inline unsigned long
kasan_memo_index(const unsigned long *top, const unsigned long *base,
		 unsigned long words)
{
	u64 hash = scs_strip(top[-2]);

	hash = ror64(hash, 9) ^ scs_strip(top[-3]);
	hash = ror64(hash, 9) ^ scs_strip(top[-4]);
	hash = ror64(hash, 9) ^ scs_strip(top[-5]);
	hash = ror64(hash, 9) ^ scs_strip(top[-6]);
	hash = ror64(hash, 9) ^ scs_strip(top[-7]);
	hash = ror64(hash, 9) ^ scs_strip(top[-(words / 2)]);
	hash = ror64(hash, 9) ^ scs_strip(base[6]);
	return kasan_memo_fold(hash);
}

/*
 * Does the record say all that the words say: up to the bottom, or to where
 * traces are cut?  There are at least SCS_EQUAL_WORDS; of the record, which may
 * be another window's, that is not known.
 */
static __always_inline bool kasan_memo_matches(const struct stack_record *record,
					       const unsigned long *top,
					       unsigned long words)
{
	unsigned long nr = record->size - 1;

	if (nr != words &&
	    (nr > words || nr < SCS_EQUAL_WORDS ||
	     (nr != KASAN_TRACE_ENTRIES - 1 && !scs_in_irqentry(record->entries[nr]))))
		return false;
	return scs_equal(top, record->entries + 1, nr);
}

/* As scs_base(), for an SCS of *@words, at least @min_words. */
static __always_inline bool
kasan_memo_base(const unsigned long *top, const unsigned long **base,
		unsigned long *words, unsigned long min_words)
{
	const unsigned long least = min_words * sizeof(*top);
	unsigned long used;

	*base = task_scs(current);
	used = (unsigned long)top - (unsigned long)*base;
	if (unlikely(used - least >= SCS_SIZE - least)) {
		*base = raw_cpu_read(irq_shadow_call_stack_ptr);
		used = (unsigned long)top - (unsigned long)*base;
		if (used - least >= SCS_SIZE - least)
			return false;
	}
	*words = used / sizeof(*top);
	return true;
}

/*
 * A window's key: its index and, above it, how many words it has.  Not 0, which
 * stands for a window without a key, or of which the key was not computed yet.
 */
static __always_inline unsigned long kasan_memo_make_key(unsigned long index,
							 unsigned long words)
{
	return words << KASAN_MEMO_BITS | index;
}

/**
 * kasan_memo_find - look the words on the SCS up
 * @top: the calling function's scs_stack_pointer()
 * @self: the trace's first entry
 * @key: where to store the window's key, or 0
 *
 * Only where records are not evicted.  Looks at the slot that the words are
 * remembered in at first, unless they are few; kasan_memo_find_moved() looks at the
 * others.
 *
 * Context: Any.
 * Return: The record that these words are known to become, or NULL.
 */
static __always_inline struct stack_record *
kasan_memo_find(const unsigned long *top, unsigned long self, unsigned long *key)
{
	struct kasan_memo *memo = raw_cpu_ptr(&kasan_memo);
	const unsigned long *base;
	struct stack_record *record;
	unsigned long words, index;

	*key = 0;
	if (unlikely(!kasan_memo_base(top, &base, &words, SCS_EQUAL_WORDS)))
		return NULL;
	index = kasan_memo_index(top, base, words);
	*key = kasan_memo_make_key(index, words);
	/* Pairs with put_first() in memo.c: what is read depends on the address. */
	record = READ_ONCE(memo->slots[index]);
	if (record->entries[0] != self || !kasan_memo_matches(record, top, words))
		return NULL;
	atomic64_inc(&memo->hits);
	return record;
}

unsigned long kasan_memo_key(const unsigned long *top);
struct stack_record *kasan_memo_find_moved(const unsigned long *top, unsigned long self,
					   unsigned long key);
struct stack_record *kasan_memo_get(const unsigned long *top, unsigned long self,
				    unsigned long key);
void kasan_memo_keep(unsigned long key, struct stack_record *record);
#ifdef CONFIG_KASAN_SCS_TESTS
void kasan_test_fill_memo(struct stack_record *record);
#endif

#endif /* __MM_KASAN_MEMO_H */
