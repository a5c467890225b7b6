// SPDX-License-Identifier: GPL-2.0
/*
 * Look through all memory for addresses inside any shadow call stack (SCS), and print
 * how many there are in what kind of memory, as words or, as in the kernel's log, in
 * hexadecimal digits.  Works with and without the series.
 *
 * An SCS' first address and its end are not counted: whoever maps memory knows them.
 * Boot with init_on_alloc=1 and init_on_free=1: else there is what used to be a stack
 * in objects that are not written whole.  With plant=1 one is in a slab object and in
 * the log.
 */
#include <linux/bsearch.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/scs.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/memory.h>
#include <asm/pgtable.h>
#include <asm/sysreg.h>

static bool plant;
module_param(plant, bool, 0400);

#define NR_SCS		4096
#define NR_CLASSES	64

static unsigned long scs[NR_SCS];
static unsigned int nr_scs;

/* By page frame number, from the first one: where it is mapped besides. */
static unsigned long *mapped;
static unsigned long first_pfn, end_pfn;

static struct class {
	char name[KSYM_SYMBOL_LEN];
	unsigned long words;
} classes[NR_CLASSES];

static struct vm_struct *(*find_area)(const void *addr);
static struct task_struct *(*idle_of)(int cpu);

/* Of what modules are not given: kprobes know it. */
static unsigned long address_of(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	unsigned long addr;

	if (register_kprobe(&probe))
		return 0;
	addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return addr;
}

static void note_page(unsigned long pfn, unsigned long addr)
{
	if (pfn >= first_pfn && pfn < end_pfn)
		mapped[pfn - first_pfn] = addr;
}

static void walk_ptes(pmd_t *pmd, unsigned long addr)
{
	unsigned int i;
	pte_t *pte;

	if (pmd_leaf(*pmd)) {
		for (i = 0; i < PTRS_PER_PTE; i++)
			note_page(pmd_pfn(*pmd) + i, addr + i * PAGE_SIZE);
		return;
	}
	pte = pte_offset_kernel(pmd, addr);
	for (i = 0; i < PTRS_PER_PTE; i++, addr += PAGE_SIZE, pte++)
		if (pte_present(*pte))
			note_page(pte_pfn(*pte), addr);
}

/* Of modules, vmalloc and the kernel's image, which has no larger blocks. */
static void walk(unsigned long addr, unsigned long end)
{
	pgd_t *pgds = phys_to_virt(read_sysreg(ttbr1_el1) & GENMASK_ULL(47, PAGE_SHIFT));

	while (addr < end) {
		pgd_t *pgd = pgd_offset_pgd(pgds, addr);
		p4d_t *p4d = p4d_offset(pgd, addr);
		pud_t *pud;
		pmd_t *pmd;

		if (pgd_none(*pgd) || p4d_none(*p4d)) {
			addr = ALIGN_DOWN(addr, PGDIR_SIZE) + PGDIR_SIZE;
			continue;
		}
		pud = pud_offset(p4d, addr);
		if (pud_none(*pud) || pud_leaf(*pud)) {
			addr = ALIGN_DOWN(addr, PUD_SIZE) + PUD_SIZE;
			continue;
		}
		pmd = pmd_offset(pud, addr);
		if (!pmd_none(*pmd))
			walk_ptes(pmd, ALIGN_DOWN(addr, PMD_SIZE));
		addr = ALIGN_DOWN(addr, PMD_SIZE) + PMD_SIZE;
		cond_resched();
	}
}

/* What vmalloc was called by, for what lies at @addr. */
static bool caller_name(unsigned long addr, char *name, size_t size)
{
	struct vm_struct *area = find_area((void *)addr);

	if (!area || !area->caller)
		return false;
	snprintf(name, size, "%ps", area->caller);
	return true;
}

static void add_scs(unsigned long base)
{
	if (nr_scs < NR_SCS)
		scs[nr_scs++] = base;
}

static int compare(const void *a, const void *b)
{
	unsigned long x = *(unsigned long *)a, y = *(unsigned long *)b;

	return x < y ? -1 : x > y;
}

static void find_all_scs(void)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned long pfn;

	add_scs((unsigned long)task_scs(&init_task));
	for (pfn = 0; pfn < end_pfn - first_pfn; pfn++) {
		if (!mapped[pfn] || !caller_name(mapped[pfn], name, sizeof(name)))
			continue;
		/* Not by a module, such as this one. */
		if (strstr(name, "scs") && !strchr(name, '[') && IS_ALIGNED(mapped[pfn], SCS_SIZE))
			add_scs(mapped[pfn]);
	}
	sort(scs, nr_scs, sizeof(*scs), compare, NULL);
}

static int compare_inside(const void *key, const void *element)
{
	unsigned long word = *(unsigned long *)key, base = *(unsigned long *)element;

	if (word <= base)
		return -1;
	return word >= base + SCS_SIZE;
}

static bool in_scs(unsigned long word)
{
	return __inline_bsearch(&word, scs, nr_scs, sizeof(*scs), compare_inside);
}

/* Where a task that does not run has the top of its SCS. */
static bool is_saved_top(unsigned long addr)
{
	struct task_struct *process, *task;
	bool found = false;
	int cpu;

	rcu_read_lock();
	for_each_process_thread(process, task)
		found |= addr == (unsigned long)&task_thread_info(task)->scs_sp;
	rcu_read_unlock();
	for_each_online_cpu(cpu)
		found |= addr == (unsigned long)&task_thread_info(idle_of(cpu))->scs_sp;
	return found;
}

static void name_word(unsigned long pfn, unsigned long *word, char *name, size_t size)
{
	unsigned long base = mapped[pfn - first_pfn];
	unsigned long addr = base ? base + offset_in_page(word) : (unsigned long)word;
	struct page *page = pfn_to_page(pfn);

	if (is_saved_top(addr))
		strscpy(name, "task_struct", size);
	else if (addr - (unsigned long)init_task.stack < THREAD_SIZE)
		strscpy(name, "init_task.stack", size);
	else if (base && caller_name(addr, name, size))
		return;
	else if (PageSlab(compound_head(page)))
		strscpy(name, "slab", size);
	else if (PageReserved(page))
		strscpy(name, "reserved", size);
	else if (!page_count(compound_head(page)))
		strscpy(name, "free", size);
	else
		strscpy(name, "page", size);
}

static void count(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_CLASSES; i++) {
		if (!classes[i].words)
			strscpy(classes[i].name, name, sizeof(classes[i].name));
		if (!strcmp(classes[i].name, name)) {
			classes[i].words++;
			return;
		}
	}
}

/* All addresses of vmalloc's start with ffff, so all their digits are printed. */
#define NR_DIGITS	16

/* Of a page, a copy that instrumented code may read.  Not those in two pages. */
static unsigned long *copy;

static void scan_digits(void)
{
	char *c = (char *)copy, *end = c + PAGE_SIZE - NR_DIGITS + 1;

	while ((c = memchr(c, 'f', end - c))) {
		char digits[NR_DIGITS + 1];
		unsigned long value;

		memcpy(digits, c++, NR_DIGITS);
		digits[NR_DIGITS] = 0;
		if (!memcmp(digits, "ffff", 4) && !kstrtoul(digits, 16, &value) &&
		    in_scs(value))
			count("digits");
	}
}

static void scan_page(unsigned long pfn)
{
	unsigned long *word = page_address(pfn_to_page(pfn));
	char name[KSYM_SYMBOL_LEN];
	unsigned int i;

	pagefault_disable();
	for (i = 0; i < PAGE_SIZE / sizeof(long); i++, word++) {
		unsigned long value;

		/* Not all of it is mapped here: in 7.3 the kernel's text is not. */
		__get_kernel_nofault(&value, word, unsigned long, unmapped);
		copy[i] = value;
		/* Nearly all are not in vmalloc's part of the kernel's half. */
		if (value > scs[0] && in_scs(value)) {
			name_word(pfn, word, name, sizeof(name));
			count(name);
		}
	}
	scan_digits();
unmapped:
	pagefault_enable();
}

static bool all_tasks_known(void)
{
	struct task_struct *process, *task;
	bool known = true;

	rcu_read_lock();
	for_each_process_thread(process, task)
		known &= in_scs((unsigned long)task_scs(task) + 8);
	rcu_read_unlock();
	return known;
}

static int __init scs_secret_init(void)
{
	unsigned long (*lookup_name)(const char *name);
	unsigned long pfn, pages = 0, *planted;
	unsigned int i;

	lookup_name = (void *)address_of("kallsyms_lookup_name");
	if (!lookup_name)
		return -ENOENT;
	find_area = (void *)lookup_name("find_vm_area");
	idle_of = (void *)lookup_name("idle_task");
	if (!find_area || !idle_of)
		return -ENOENT;

	first_pfn = node_start_pfn(0);
	end_pfn = node_end_pfn(0);
	mapped = vzalloc((end_pfn - first_pfn) * sizeof(*mapped));
	copy = vmalloc(PAGE_SIZE);
	if (!mapped || !copy) {
		vfree(mapped);
		vfree(copy);
		return -ENOMEM;
	}
	walk(MODULES_VADDR, VMALLOC_END);
	find_all_scs();
	pr_info("scs_secret: %u stacks, those of all tasks: %d\n", nr_scs, all_tasks_known());
	planted = kzalloc(64, GFP_KERNEL);
	if (planted && plant) {
		*planted = scs[nr_scs / 2] + 16;
		pr_info("scs_secret: planted %lx\n", *planted);
	}
	for (pfn = first_pfn; pfn < end_pfn; pfn++) {
		if (!pfn_valid(pfn))
			continue;
		scan_page(pfn);
		pages++;
		cond_resched();
	}
	pr_info("scs_secret: %lu pages\n", pages);
	for (i = 0; i < NR_CLASSES && classes[i].words; i++)
		pr_info("scs_secret: %s: %lu\n", classes[i].name, classes[i].words);
	kfree(planted);
	vfree(mapped);
	vfree(copy);
	return 0;
}
module_init(scs_secret_init);

MODULE_DESCRIPTION("Looks for addresses of shadow call stacks in all memory");
MODULE_LICENSE("GPL");
