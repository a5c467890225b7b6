/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack depot as KASAN uses it, across kernel versions.
 */
#ifndef __MM_KASAN_DEPOT_H
#define __MM_KASAN_DEPOT_H

#include <linux/stackdepot.h>

#ifdef STACK_DEPOT_FLAG_CAN_ALLOC

#define kasan_depot_flags_t	depot_flags_t
#define KASAN_DEPOT_CAN_ALLOC	STACK_DEPOT_FLAG_CAN_ALLOC

static inline depot_stack_handle_t
kasan_depot_store(unsigned long *entries, unsigned int nr, gfp_t gfp,
		  kasan_depot_flags_t flags)
{
	return stack_depot_save_flags(entries, nr, gfp, flags);
}

/* Is this record evicted when the last reference to it is dropped? */
static inline bool kasan_depot_evicts(kasan_depot_flags_t flags)
{
	return flags & STACK_DEPOT_FLAG_GET;
}

#else /* before flags, references and a public struct stack_record */

#define kasan_depot_flags_t	bool
#define KASAN_DEPOT_CAN_ALLOC	true

/* As lib/stackdepot.c has it; kasan_memo_keep() checks each record. */
struct stack_record {
	struct stack_record *next;
	u32 hash;
	u32 size;
	union {
		depot_stack_handle_t handle;
	} handle;
	unsigned long entries[];
};

static inline depot_stack_handle_t
kasan_depot_store(unsigned long *entries, unsigned int nr, gfp_t gfp,
		  kasan_depot_flags_t can_alloc)
{
	return __stack_depot_save(entries, nr, 0, gfp, can_alloc);
}

static inline bool kasan_depot_evicts(kasan_depot_flags_t can_alloc)
{
	return false;
}

#endif

#endif /* __MM_KASAN_DEPOT_H */
