/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack depot as KASAN uses it, across kernel versions.
 */
#ifndef __MM_KASAN_DEPOT_H
#define __MM_KASAN_DEPOT_H

#include <linux/container_of.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/rculist.h>
#include <linux/stackdepot.h>
#include <linux/stackdepot_hash.h>

#include "kasan.h"

/* Longer traces are cut, and are so before they are hashed. */
#if defined(CONFIG_STACKDEPOT_MAX_FRAMES) && \
	CONFIG_STACKDEPOT_MAX_FRAMES < KASAN_STACK_DEPTH
#define KASAN_TRACE_ENTRIES	CONFIG_STACKDEPOT_MAX_FRAMES
#else
#define KASAN_TRACE_ENTRIES	KASAN_STACK_DEPTH
#endif

#ifdef STACK_DEPOT_FLAG_CAN_ALLOC

#define kasan_depot_flags_t	depot_flags_t
#define KASAN_DEPOT_CAN_ALLOC	STACK_DEPOT_FLAG_CAN_ALLOC
/* As the tag-based modes save: the record is evicted with its last reference. */
#define KASAN_DEPOT_GET		(STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET)

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

/*
 * Take a reference to a record that may have been evicted, and filled again.
 * Pairs with the barrier between entries and count in depot_alloc_stack().
 */
static inline bool kasan_depot_get(struct stack_record *record)
{
	/* Records that were saved without a reference are saturated, negative. */
	if ((int)refcount_read(&record->count) <= 0 ||
	    !refcount_inc_not_zero(&record->count))
		return false;
	smp_acquire__after_ctrl_dep();
	return true;
}

static inline void kasan_depot_put(struct stack_record *record)
{
	stack_depot_put(record->handle.handle);
}

/* Walk the records of a bucket; see find_stack() for why this is safe. */
static inline void kasan_depot_lock(void)
{
	rcu_read_lock_sched_notrace();
}

static inline void kasan_depot_unlock(void)
{
	rcu_read_unlock_sched_notrace();
}

static inline struct stack_record *kasan_depot_first(struct list_head *bucket)
{
	return list_first_or_null_rcu(bucket, struct stack_record, hash_list);
}

static inline struct stack_record *kasan_depot_next(struct list_head *bucket,
						    struct stack_record *record)
{
	return list_next_or_null_rcu(bucket, &record->hash_list, struct stack_record,
				     hash_list);
}

#else /* before flags, references and a public struct stack_record */

#define kasan_depot_flags_t	bool
#define KASAN_DEPOT_CAN_ALLOC	true
#define KASAN_DEPOT_GET		true

/* As lib/stackdepot.c has it, of which kasan_depot_record() checks two members. */
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
	/* It waits for its lock, which what is interrupted may hold. */
	if (in_nmi())
		return 0;
	return __stack_depot_save(entries, nr, 0, gfp, can_alloc);
}

static inline bool kasan_depot_evicts(kasan_depot_flags_t can_alloc)
{
	return false;
}

static inline bool kasan_depot_get(struct stack_record *record)
{
	return true;
}

static inline void kasan_depot_put(struct stack_record *record)
{
}

/* Records stay, and are complete before the bucket has them. */
static inline void kasan_depot_lock(void)
{
}

static inline void kasan_depot_unlock(void)
{
}

static inline struct stack_record *kasan_depot_first(struct stack_record **bucket)
{
	/* Pairs with the release in __stack_depot_save(). */
	return smp_load_acquire(bucket);
}

static inline struct stack_record *kasan_depot_next(struct stack_record **bucket,
						    struct stack_record *record)
{
	return record->next;
}

#endif

/**
 * kasan_depot_record - the record of a handle
 * @handle: the handle; the record is not evicted meanwhile
 *
 * Context: Any.
 * Return: The record, NULL if the depot does not have it as expected.
 */
static inline struct stack_record *kasan_depot_record(depot_stack_handle_t handle)
{
	struct stack_record *record;
	unsigned long *entries;
	unsigned int nr = stack_depot_fetch(handle, &entries);

	if (!nr)
		return NULL;
	record = container_of((void *)entries, struct stack_record, entries);
	return record->size == nr && record->handle.handle == handle ? record : NULL;
}

#endif /* __MM_KASAN_DEPOT_H */
