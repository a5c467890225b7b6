/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shadow of vmalloc's address space, looked for before it is allocated.
 */
#ifndef __MM_KASAN_VMALLOC_SHADOW_H
#define __MM_KASAN_VMALLOC_SHADOW_H

#include <linux/types.h>

#ifdef CONFIG_KASAN_VMALLOC_LOOKUP
bool kasan_shadow_populate(unsigned long start, unsigned long end, gfp_t gfp);
#else
static inline bool kasan_shadow_populate(unsigned long start, unsigned long end, gfp_t gfp)
{
	return false;
}
#endif

#endif /* __MM_KASAN_VMALLOC_SHADOW_H */
