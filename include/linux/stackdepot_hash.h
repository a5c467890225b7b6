/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hash of the stack depot, entry by entry, for those who find a trace
 * elsewhere than in an array.
 */
#ifndef _LINUX_STACKDEPOT_HASH_H
#define _LINUX_STACKDEPOT_HASH_H

#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/types.h>

#define STACK_DEPOT_HASH_SEED	0x9747b28cULL

/*
 * Added to the number of entries of a trace that is saved: its hash lies behind
 * them, and there is nothing behind its first entry in irqentry or softirqentry
 * text.
 */
#define STACK_DEPOT_HASHED	BIT(31)

/**
 * stack_depot_hash_add - hash one more entry
 * @hash: hash of the entries before, STACK_DEPOT_HASH_SEED before the first
 * @entry: the next entry, beginning with the newest
 *
 * A product spreads the difference of two entries over the upper bits only,
 * so these are folded into the lower ones.
 *
 * Context: Any.
 * Return: Hash of all entries so far; its lower 32 bits are the depot's.
 */
static __always_inline u64 stack_depot_hash_add(u64 hash, unsigned long entry)
{
	hash = (hash ^ entry) * GOLDEN_RATIO_64;
	return hash ^ (hash >> 32);
}

void *stack_depot_bucket(u32 hash);

#endif /* _LINUX_STACKDEPOT_HASH_H */
