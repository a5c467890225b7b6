// SPDX-License-Identifier: GPL-2.0
/*
 * Stack traces from the shadow call stack: which SCS this is, what its words
 * are, and whether they make the trace that frame records would give.
 *
 * Runs inside KASAN, in any context including NMI.  Takes no lock, allocates
 * nothing and is not instrumented.  A word that is seen for the first time is
 * looked up with kallsyms, which is traceable: what a tracer allocates there
 * ends up here again, on other words.
 */

#include <linux/export.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/scs.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/insn.h>
#include <asm/scs_unwind.h>
#include <asm/sections.h>

/* str x30, [x18], #8: what compilers and the dynamic SCS patcher emit. */
#define SCS_PUSH_INSN		0xf800865eU

/*
 * What a word on the SCS is.  Return addresses are multiples of four, so the
 * first four kinds fit into the two low bits of a cached verdict.
 */
enum scs_word {
	/* In a function that pushes: the next older word is its caller. */
	SCS_WORD_PURE,
	/* As above, in irqentry or softirqentry text: the trace ends here. */
	SCS_WORD_IRQ,
	/* In the assembly that starts an SCS: belongs into the bottom slot. */
	SCS_WORD_BOTTOM,
	/* In text, but not behind a call in a function that pushes. */
	SCS_WORD_NO_PUSH,
	/* Not in text.  Never cached. */
	SCS_WORD_NOT_TEXT,
	/* Pure, in text that may be freed unannounced.  Never cached. */
	SCS_WORD_TRANSIENT,
};

#define SCS_VERDICT_MASK	3UL
#define SCS_VERDICT_BITS	13

/*
 * Verdicts by return address.  A slot is one word, the address with its kind
 * in the low bits, so readers and writers of all contexts need no lock.
 */
static unsigned long scs_verdicts[1 << SCS_VERDICT_BITS];

static bool __kprobes scs_insn(unsigned long addr, u32 *insn)
{
	__le32 val;

	if (copy_from_kernel_nofault(&val, (void *)addr, sizeof(val)))
		return false;
	*insn = le32_to_cpu(val);
	return true;
}

/* Does the code from start up to end push on the SCS? */
static bool __kprobes scs_pushes(unsigned long start, unsigned long end)
{
	u32 insn;

	for (; start < end && scs_insn(start, &insn); start += sizeof(insn)) {
		if (insn == SCS_PUSH_INSN)
			return true;
	}
	return false;
}

/*
 * Is the call at this address made by the assembly with which an SCS starts:
 * entry from user space, the first steps of a kernel thread, of the init task
 * and of the idle tasks?  None of it has a global symbol to compare with.
 */
static noinline_for_stack bool __kprobes scs_is_bottom(unsigned long call)
{
	static const char * const starts[] = {
		"ret_from_fork", "__primary_switched", "__secondary_switched",
	};
	char name[KSYM_NAME_LEN];

	if (lookup_symbol_name(call, name))
		return false;
	if (scs_in_range(call, __entry_text_start, __entry_text_end))
		return str_has_prefix(name, "el0t_");
	return match_string(starts, ARRAY_SIZE(starts), name) >= 0;
}

/*
 * core_kernel_text() denies init text as soon as the kernel begins to free what
 * init alone has used, while code in init text is still doing so.
 */
static bool __kprobes scs_in_kernel_text(unsigned long addr)
{
	return core_kernel_text(addr) ||
	       (system_state == SYSTEM_FREEING_INITMEM && is_kernel_inittext(addr));
}

/*
 * Judge a return address from the code around it.
 *
 * The caller must keep module text in place (preemption off is enough, since
 * it is freed after a grace period of sched RCU).
 */
static enum scs_word __kprobes scs_judge_word(unsigned long addr)
{
	unsigned long call = addr - AARCH64_INSN_SIZE;
	unsigned long size, offset;
	u32 insn;

	/* Denied by core_kernel_text() after boot, but still the idle task's. */
	if (is_kernel_inittext(call) && scs_is_bottom(call))
		return SCS_WORD_BOTTOM;
	if (!scs_in_kernel_text(call) && !__module_text_address(call))
		return SCS_WORD_NOT_TEXT;

	/* What no call has left there, a tracer has put there. */
	if (!scs_insn(call, &insn) ||
	    (!aarch64_insn_is_bl(insn) && !aarch64_insn_is_blr(insn)))
		return SCS_WORD_NO_PUSH;
	if (!kallsyms_lookup_size_offset(call, &size, &offset))
		return SCS_WORD_NO_PUSH;
	if (!scs_pushes(call - offset, call)) {
		if (scs_in_kernel_text(call) && scs_is_bottom(call))
			return SCS_WORD_BOTTOM;
		return SCS_WORD_NO_PUSH;
	}

	/*
	 * At the very start of a function the word is either the return
	 * address of a call that does not return, last in the function before,
	 * or a trampoline that a tracer put in place of a return address.
	 * Trampolines do not push.
	 */
	if (kallsyms_lookup_size_offset(addr, &size, &offset) && !offset &&
	    !scs_pushes(addr, addr + size))
		return SCS_WORD_NO_PUSH;

	return scs_in_irqentry(addr) ? SCS_WORD_IRQ : SCS_WORD_PURE;
}

/*
 * Is this text of a module that is freed without another notice?  Init text is,
 * and once a module goes, its asynchronous functions may still run after that
 * has been announced.
 */
static bool __kprobes scs_is_transient(unsigned long addr)
{
#ifdef CONFIG_MODULES
	struct module *mod = __module_text_address(addr);

	return mod && (mod->state == MODULE_STATE_GOING ||
		       within_module_init(addr, mod));
#else
	return false;
#endif
}

static noinline enum scs_word __kprobes
scs_word_slow(unsigned long addr, unsigned long *slot)
{
	enum scs_word word;

	if (addr & SCS_VERDICT_MASK)
		return SCS_WORD_NOT_TEXT;

	preempt_disable_notrace();
	word = scs_judge_word(addr);
	if (scs_is_transient(addr - AARCH64_INSN_SIZE))
		word = word == SCS_WORD_PURE ? SCS_WORD_TRANSIENT : SCS_WORD_NOT_TEXT;
	if (word <= SCS_VERDICT_MASK)
		WRITE_ONCE(*slot, addr | word);
	preempt_enable_notrace();

	return word;
}

static __always_inline enum scs_word scs_word(unsigned long addr)
{
	unsigned long *slot = &scs_verdicts[hash_long(addr, SCS_VERDICT_BITS)];
	unsigned long verdict = READ_ONCE(*slot);

	/* An empty slot must not answer for the word 0. */
	if (likely((verdict & ~SCS_VERDICT_MASK) == addr && verdict))
		return verdict & SCS_VERDICT_MASK;
	return scs_word_slow(addr, slot);
}

/**
 * scs_judge - make a stack trace of the words of an SCS, or say why not
 * @top: the slot above the newest word
 * @base: the slot of the oldest word; the caller vouches that the memory from
 *	  here to @top may be read if @top is not out of bounds
 * @ret: return address of the function that @top was read in, without
 *	 authentication code
 * @entries: where to store the trace, newest first, beginning with @ret
 * @size: number of entries that fit, at least one
 * @lasting: set to whether the same words will make the same trace until the
 *	     next module comes or goes; not set if there is no trace
 *
 * The words are judged from the newest outwards and no further than the trace
 * goes: to the first word in irqentry or softirqentry text, which is where the
 * stack depot cuts traces, to the bottom of the SCS, or until @entries is full.
 *
 * Context: Any.
 * Return: Number of entries, at least one, or a negated &enum scs_fallback.
 */
int __kprobes scs_judge(const unsigned long *top, const unsigned long *base,
			unsigned long ret, unsigned long *entries,
			unsigned int size, bool *lasting)
{
	unsigned long used = (unsigned long)top - (unsigned long)base;
	const unsigned long *slot = top;
	unsigned int nr = 0;

	/* The last slot holds the end marker and is never pushed to. */
	if (used > SCS_SIZE - sizeof(*top) ||
	    !IS_ALIGNED((unsigned long)top, sizeof(*top)) ||
	    !IS_ALIGNED((unsigned long)base, sizeof(*base)))
		return -SCS_FALLBACK_FOREIGN;
	if (!used || scs_strip(READ_ONCE_NOCHECK(*(top - 1))) != ret)
		return -SCS_FALLBACK_SPLICE;

	*lasting = true;
	while (nr < size) {
		unsigned long word;

		if (slot == base)
			return -SCS_FALLBACK_BOTTOM;
		word = scs_strip(READ_ONCE_NOCHECK(*--slot));

		switch (scs_word(word)) {
		case SCS_WORD_TRANSIENT:
			*lasting = false;
			fallthrough;
		case SCS_WORD_PURE:
			entries[nr++] = word;
			break;
		case SCS_WORD_IRQ:
			entries[nr++] = word;
			return nr;
		case SCS_WORD_BOTTOM:
			if (slot != base)
				return -SCS_FALLBACK_BOTTOM;
			entries[nr++] = word;
			return nr;
		case SCS_WORD_NO_PUSH:
			return scs_in_range(word, __entry_text_start,
					    __entry_text_end) ?
				-SCS_FALLBACK_EXCEPTION : -SCS_FALLBACK_NO_PUSH;
		case SCS_WORD_NOT_TEXT:
			return -SCS_FALLBACK_NOT_TEXT;
		}
	}
	return nr;
}

#ifdef CONFIG_KASAN_SCS_TESTS
EXPORT_SYMBOL_GPL(scs_judge);
#endif

/**
 * scs_unwind - take the current stack trace from the SCS
 * @top: what scs_stack_pointer() returned in the calling function
 * @ret: the calling function's __builtin_return_address(0)
 * @entries: where to store the trace, newest first, beginning with @ret
 * @size: number of entries that fit, at least one
 * @lasting: as for scs_judge()
 *
 * A trace equals, entry by entry, what stack_trace_save() in the calling
 * function stores behind the function's own entry, cut by filter_irq_stacks().
 *
 * Context: Any.
 * Return: Number of entries, at least one, or a negated &enum scs_fallback.
 */
int __kprobes scs_unwind(const unsigned long *top, unsigned long ret,
			 unsigned long *entries, unsigned int size, bool *lasting)
{
	const unsigned long *base;

#ifdef CONFIG_DYNAMIC_SCS
	if (!scs_is_enabled())
		return -SCS_FALLBACK_OFF;
#endif
	base = scs_base(top);
	if (!base)
		return -SCS_FALLBACK_FOREIGN;
	return scs_judge(top, base, ret, entries, size, lasting);
}

#ifdef CONFIG_KASAN_SCS_TESTS
EXPORT_SYMBOL_GPL(scs_unwind);
#endif

#ifdef CONFIG_MODULES
/*
 * Where a module's text was, other text may come: forget all verdicts before
 * new text runs, and when text is about to go.  From then on nothing is cached
 * of it, see scs_is_transient().
 */
static int scs_module_notify(struct notifier_block *nb, unsigned long state,
			     void *mod)
{
	unsigned int i;

	if (state == MODULE_STATE_COMING || state == MODULE_STATE_GOING) {
		for (i = 0; i < ARRAY_SIZE(scs_verdicts); i++)
			WRITE_ONCE(scs_verdicts[i], 0);
	}
	return NOTIFY_DONE;
}

static struct notifier_block scs_module_nb = {
	.notifier_call = scs_module_notify,
};

static int __init scs_unwind_init(void)
{
	return register_module_notifier(&scs_module_nb);
}
early_initcall(scs_unwind_init);
#endif
