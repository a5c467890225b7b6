/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shadow of vmalloc's address space that is kept for the next mapping.
 */
#ifndef __MM_KASAN_VMALLOC_SHADOW_H
#define __MM_KASAN_VMALLOC_SHADOW_H

#include <linux/pgtable.h>

/**
 * struct kasan_shadow_stats - pages of kept shadow
 * @bound: how many may be held
 * @held: how many are held now
 * @kept: how many have been kept instead of freed, ever
 * @reused: how many of them a new mapping took
 * @evicted: how many of them were freed since the bound was reached
 * @shrunk: how many of them were freed since memory was short
 */
struct kasan_shadow_stats {
	unsigned long bound, held, kept, reused, evicted, shrunk;
};

#ifdef CONFIG_KASAN_KEEP_VMALLOC_SHADOW
bool kasan_shadow_reuse(unsigned long start, unsigned long end);
bool kasan_shadow_keep(pte_t *ptep, unsigned long addr);
void kasan_shadow_stats(struct kasan_shadow_stats *copy);
#else
static inline bool kasan_shadow_reuse(unsigned long start, unsigned long end)
{
	return false;
}

static inline bool kasan_shadow_keep(pte_t *ptep, unsigned long addr)
{
	return false;
}
#endif

#endif /* __MM_KASAN_VMALLOC_SHADOW_H */
