// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the shadow of vmalloc's address space for the next mapping of the same
 * range, instead of freeing it with the last mapping that it belongs to.
 *
 * A kept page stays where it is in the page tables. vfree() and its like have
 * poisoned it, and no mapping uses any of it: it is what a shadow page has to be
 * before its range is mapped. So all there is to do is to know which pages these
 * are: they are on a list, the oldest first, and their page_private() is their
 * address.
 *
 * vmalloc makes sure that a range is not released while it is in use, and that
 * only one mapping gets it. What is left is to see that no page is taken away
 * by the bound or by the shrinker which a new mapping counts on: all three hold
 * the lock while they look at a page and its page table entry.
 */
#define pr_fmt(fmt) "kasan: " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/shrinker.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>

#include <asm/tlbflush.h>

#include "vmalloc_shadow.h"

static DEFINE_SPINLOCK(kept_lock);
/* These are the lock's.  The bound is 0 until there is a shrinker. */
static LIST_HEAD(kept_pages);
static struct kasan_shadow_stats stats;

/* kasan.vmalloc_kept, in bytes. */
static unsigned long long bound __initdata = ULLONG_MAX;

static void forget_page(struct page *page)
{
	lockdep_assert_held(&kept_lock);
	list_del(&page->lru);
	set_page_private(page, 0);
	WRITE_ONCE(stats.held, stats.held - 1);
}

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

/* As kasan_shadow_reuse(), for what one page table covers at most. */
static bool reuse_pages(unsigned long start, unsigned long end)
{
	pte_t *ptep = shadow_pte(start);
	bool all = true;

	lockdep_assert_held(&kept_lock);
	if (!ptep)
		return false;
	for (; start < end; start += PAGE_SIZE, ptep++) {
		pte_t pte = ptep_get(ptep);
		struct page *page;

		if (pte_none(pte)) {
			all = false;
			continue;
		}
		page = pte_page(pte);
		if (page_private(page) == start) {
			forget_page(page);
			stats.reused++;
		}
	}
	return all;
}

/**
 * kasan_shadow_reuse - take kept shadow for a new mapping
 * @start: where the shadow begins, the address of a page
 * @end: where it ends
 *
 * Pages of the range that have been kept are not freed from here on.  Others
 * may be there as well, those shared with neighbouring mappings.
 *
 * Context: Task, as the caller of kasan_populate_vmalloc(): the range that the
 * shadow is for is not mapped yet and belongs to nobody else.
 * Return: true if all pages are there; else those that are not have to be
 * allocated.
 */
bool kasan_shadow_reuse(unsigned long start, unsigned long end)
{
	unsigned long next;
	bool all = true;

	if (!READ_ONCE(stats.bound))
		return false;
	for (; start < end; start = next) {
		next = pmd_addr_end(start, end);
		spin_lock(&kept_lock);
		all &= reuse_pages(start, next);
		spin_unlock(&kept_lock);
	}
	return all;
}

/* The oldest page, which is not in the page tables any more; NULL for none. */
static struct page *take_oldest(unsigned long *addr)
{
	struct page *page = list_first_entry_or_null(&kept_pages, struct page, lru);

	lockdep_assert_held(&kept_lock);
	if (!page)
		return NULL;
	*addr = page_private(page);
	forget_page(page);
	pte_clear(&init_mm, *addr, shadow_pte(*addr));
	return page;
}

static void free_shadow_page(struct page *page, unsigned long addr)
{
	flush_tlb_kernel_range(addr, addr + PAGE_SIZE);
	__free_page(page);
}

/**
 * kasan_shadow_keep - keep a page of shadow that would be freed
 * @ptep: its page table entry
 * @addr: its address
 *
 * Beyond the bound, the page that has been kept for the longest time is freed
 * for it.
 *
 * Context: Any in which kasan_release_vmalloc() may be called; all that the page
 * is the shadow of is free, poisoned and stays so until the caller returns.
 * Return: true if it is kept, false if it is to be freed.
 */
bool kasan_shadow_keep(pte_t *ptep, unsigned long addr)
{
	struct page *page, *oldest = NULL;
	unsigned long oldest_addr;
	pte_t pte;

	if (!READ_ONCE(stats.bound))
		return false;

	spin_lock(&kept_lock);
	pte = ptep_get(ptep);
	if (!pte_none(pte) && !page_private(pte_page(pte))) {
		page = pte_page(pte);
		if (stats.held >= stats.bound) {
			oldest = take_oldest(&oldest_addr);
			stats.evicted++;
		}
		set_page_private(page, addr);
		list_add_tail(&page->lru, &kept_pages);
		WRITE_ONCE(stats.held, stats.held + 1);
		stats.kept++;
	}
	spin_unlock(&kept_lock);

	if (oldest)
		free_shadow_page(oldest, oldest_addr);
	return true;
}

static unsigned long shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return READ_ONCE(stats.held) ?: SHRINK_EMPTY;
}

static unsigned long shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long freed, addr;
	struct page *page;

	for (freed = 0; freed < sc->nr_to_scan; freed++) {
		spin_lock(&kept_lock);
		page = take_oldest(&addr);
		if (page)
			stats.shrunk++;
		spin_unlock(&kept_lock);
		if (!page)
			break;
		free_shadow_page(page, addr);
	}
	return freed ?: SHRINK_STOP;
}

static int __init add_shrinker(void)
{
#ifdef SHRINKER_ALLOCATED
	struct shrinker *shrinker = shrinker_alloc(0, "kasan-vmalloc-shadow");

	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = shrink_count;
	shrinker->scan_objects = shrink_scan;
	shrinker->seeks = DEFAULT_SEEKS;
	shrinker_register(shrinker);
	return 0;
#else
	static struct shrinker shrinker = {
		.count_objects = shrink_count,
		.scan_objects = shrink_scan,
		.seeks = DEFAULT_SEEKS,
	};

	return register_shrinker(&shrinker, "kasan-vmalloc-shadow");
#endif
}

/**
 * kasan_shadow_stats - what has been kept
 * @copy: filled with the numbers of pages
 *
 * Context: Task.
 */
void kasan_shadow_stats(struct kasan_shadow_stats *copy)
{
	spin_lock(&kept_lock);
	*copy = stats;
	spin_unlock(&kept_lock);
}

#if IS_ENABLED(CONFIG_KASAN_VMALLOC_SHADOW_KUNIT_TEST)
EXPORT_SYMBOL_GPL(kasan_shadow_stats);
#endif

static int stats_show(struct seq_file *seq, void *v)
{
	struct kasan_shadow_stats now;

	kasan_shadow_stats(&now);
	seq_printf(seq, "page_size: %lu\n", PAGE_SIZE);
	seq_printf(seq, "bound: %lu\n", now.bound);
	seq_printf(seq, "held: %lu\n", now.held);
	seq_printf(seq, "kept: %lu\n", now.kept);
	seq_printf(seq, "reused: %lu\n", now.reused);
	seq_printf(seq, "evicted: %lu\n", now.evicted);
	seq_printf(seq, "shrunk: %lu\n", now.shrunk);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

/* kasan.vmalloc_kept=BYTES */
static int __init early_kasan_vmalloc_kept(char *arg)
{
	char *end;

	if (!arg)
		return -EINVAL;
	bound = memparse(arg, &end);
	if (end == arg || *end) {
		bound = ULLONG_MAX;
		pr_err("kasan.vmalloc_kept=%s: not a number of bytes\n", arg);
		return -EINVAL;
	}
	return 0;
}
early_param("kasan.vmalloc_kept", early_kasan_vmalloc_kept);

static int __init kasan_vmalloc_shadow_init(void)
{
	unsigned long most;

	/*
	 * vmalloc lets 32 MiB of unused address space gather for each bit in the
	 * number of CPUs before it looks for ranges again from the lowest one.
	 * The shadow of twice as much is there when they come round.
	 */
	most = min(totalram_pages() / 64, fls(num_possible_cpus()) * (SZ_8M >> PAGE_SHIFT));
	if (bound != ULLONG_MAX)
		most = bound >> PAGE_SHIFT;
	if (most && !add_shrinker())
		WRITE_ONCE(stats.bound, most);
	return 0;
}
core_initcall(kasan_vmalloc_shadow_init);

static int __init kasan_vmalloc_shadow_debugfs_init(void)
{
	debugfs_create_file("kasan_vmalloc_shadow", 0444, NULL, NULL, &stats_fops);
	return 0;
}
late_initcall(kasan_vmalloc_shadow_debugfs_init);
