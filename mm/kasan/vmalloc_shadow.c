// SPDX-License-Identifier: GPL-2.0
/*
 * Shadow for a new mapping in vmalloc's address space: allocates what is missing.
 *
 * Most of it is there.  A page of shadow covers several pages of memory, so that
 * neighbours share it, and vmalloc gives ranges back, and their shadow with them,
 * long after they were freed and may be in use again.
 */
#include <linux/cacheflush.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/spinlock.h>

#include "kasan.h"
#include "vmalloc_shadow.h"

/* The page table entry of a page of shadow, NULL if there is no table. */
static pte_t *shadow_pte(unsigned long addr)
{
	pgd_t *pgd = pgd_offset_k(addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;

	if (pgd_none(READ_ONCE(*pgd)))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(READ_ONCE(*p4d)))
		return NULL;
	pud = pud_offset(p4d, addr);
	if (pud_none(READ_ONCE(*pud)))
		return NULL;
	pmd = pmd_offset(pud, addr);
	if (pmd_none(READ_ONCE(*pmd)))
		return NULL;
	return pte_offset_kernel(pmd, addr);
}

static noinline bool add_page(pte_t *ptep, unsigned long addr, gfp_t gfp)
{
	struct page *page = alloc_page(gfp);

	if (!page)
		return false;
	__memset(page_to_virt(page), KASAN_VMALLOC_INVALID, PAGE_SIZE);
	spin_lock(&init_mm.page_table_lock);
	/* A neighbour may have needed the same page meanwhile. */
	if (pte_none(ptep_get(ptep))) {
		set_pte_at(&init_mm, addr, ptep, pfn_pte(page_to_pfn(page), PAGE_KERNEL));
		page = NULL;
	}
	spin_unlock(&init_mm.page_table_lock);
	if (page)
		__free_page(page);
	return true;
}

/**
 * kasan_shadow_populate - make sure that there is shadow for a new mapping
 * @start: where the shadow begins, the address of a page
 * @end: where it ends
 * @gfp: for pages that have to be allocated
 *
 * Page tables are not allocated here: kasan_populate_vmalloc() can, and goes on with
 * what is still missing.
 *
 * A page that is there stays: it covers part of the new range, which belongs to the
 * caller, and kasan_release_vmalloc() frees only pages all of whose memory is in a
 * free range.
 *
 * Context: Task, as the caller of kasan_populate_vmalloc().  May sleep if @gfp allows.
 * Return: true if all of it is there; false if page tables or memory are missing.
 */
bool kasan_shadow_populate(unsigned long start, unsigned long end, gfp_t gfp)
{
	bool added = false;
	unsigned long addr;
	pte_t *ptep = NULL;

	for (addr = start; addr < end; addr += PAGE_SIZE, ptep++) {
		if (addr == start || IS_ALIGNED(addr, PMD_SIZE)) {
			ptep = shadow_pte(addr);
			if (!ptep)
				return false;
		}
		if (likely(!pte_none(ptep_get(ptep))))
			continue;
		if (!add_page(ptep, addr, gfp))
			return false;
		added = true;
	}
	if (added)
		flush_cache_vmap(start, end);
	return true;
}
