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
#include <linux/stackdepot_hash.h>
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

/* The kernel's text, but for that of its init functions. */
static bool scs_stays(unsigned long addr)
{
	return scs_in_range(addr, _stext, _etext);
}

/*
 * What @stays is there.  Init text may be gone, and a module's symbols may lead to
 * what is not there, if they are odd.  Neither leads to user memory.
 */
static bool __kprobes scs_insn(unsigned long addr, bool stays, u32 *insn)
{
	__le32 val;

	if (stays)
		val = READ_ONCE(*(__le32 *)addr);
	else
		__get_kernel_nofault(&val, (__le32 *)addr, __le32, fault);
	*insn = le32_to_cpu(val);
	return true;
fault:
	return false;
}

/* Does the code from start up to end push on the SCS? */
static bool __kprobes scs_pushes(unsigned long start, unsigned long end)
{
	bool stays = scs_stays(start);
	u32 insn;

	for (; start < end && scs_insn(start, stays, &insn); start += sizeof(insn)) {
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
	bool kernel = scs_in_kernel_text(call);
	unsigned long size, offset;
	u32 insn;

	if (!kernel && !__module_text_address(call)) {
		/* Init text is gone after boot, but the idle tasks stay in it. */
		return is_kernel_inittext(call) && scs_is_bottom(call) ?
			SCS_WORD_BOTTOM : SCS_WORD_NOT_TEXT;
	}

	/* Init text that is being freed. */
	if (!scs_insn(call, scs_stays(call), &insn))
		return SCS_WORD_NOT_TEXT;
	/* What no call has left there, a tracer has put there. */
	if (!aarch64_insn_is_bl(insn) && !aarch64_insn_is_blr(insn))
		return SCS_WORD_NO_PUSH;
	if (!kallsyms_lookup_size_offset(call, &size, &offset))
		return SCS_WORD_NO_PUSH;
	if (!scs_pushes(call - offset, call))
		return kernel && scs_is_bottom(call) ? SCS_WORD_BOTTOM : SCS_WORD_NO_PUSH;

	/*
	 * At the very start of a function the word is either the return
	 * address of a call that does not return, last in the function before,
	 * or a trampoline that a tracer put in place of a return address.
	 * Trampolines do not push.
	 */
	if (offset + AARCH64_INSN_SIZE >= size &&
	    kallsyms_lookup_size_offset(addr, &size, &offset) && !offset &&
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
	struct module *mod;

	if (scs_stays(addr))
		return false;
	mod = __module_text_address(addr);
	return mod && (mod->state == MODULE_STATE_GOING ||
		       within_module_init(addr, mod));
#else
	return false;
#endif
}

#ifdef CONFIG_ARM64_SCS_INTERRUPTED_PC
/* ldr x30, [x18, #-8]! */
#define SCS_POP_INSN		0xf85f8e5eU

/* stp x29, x30, [sp, #imm], with and without writeback. */
static bool scs_stores_frame(u32 insn)
{
	return (insn & 0xff407fff) == 0xa9007bfd;
}

/* mov x29, sp and add x29, sp, #imm: from here on frame records have the function. */
static bool scs_sets_frame(u32 insn)
{
	return (insn & 0xff8003ff) == 0x910003fd;
}

/*
 * Is this the PC at which a function was interrupted, so that the next older
 * word is where frame records go on, as well?
 *
 * @entry is the word above it, in the code that enters the kernel: only that for
 * exceptions from EL1 pushes the PC.  At a load or a store a function has both
 * pushed and made its frame record, or neither, unless it is one between the push
 * and where x29 is set, as registers are saved there, or the pop, behind where x29
 * is restored.  Kprobes and other breakpoints may be anywhere.  Assembly may make a
 * frame record and not push.
 */
static noinline bool __kprobes scs_is_interrupted_pc(unsigned long entry, unsigned long pc)
{
	unsigned long size, offset, addr;
	bool stays = scs_stays(pc), stored = false, set = false, push = false;
	char name[KSYM_NAME_LEN];
	u32 insn;

	if (pc & SCS_VERDICT_MASK || lookup_symbol_name(entry - AARCH64_INSN_SIZE, name) ||
	    !str_has_prefix(name, "el1"))
		return false;
	if (!scs_in_kernel_text(pc) && !__module_text_address(pc))
		return false;
	/* Loads and stores. */
	if (!scs_insn(pc, stays, &insn) || (insn & 0x0a000000) != 0x08000000 ||
	    insn == SCS_PUSH_INSN || insn == SCS_POP_INSN || scs_stores_frame(insn))
		return false;
	if (!kallsyms_lookup_size_offset(pc, &size, &offset))
		return false;
	for (addr = pc - offset; addr < pc; addr += sizeof(insn)) {
		if (!scs_insn(addr, stays, &insn))
			return false;
		push |= insn == SCS_PUSH_INSN;
		stored |= scs_stores_frame(insn);
		set |= scs_sets_frame(insn);
	}
	return push ? set : !stored && !set;
}
#endif

static noinline enum scs_word __kprobes
scs_word_slow(unsigned long addr, unsigned long *slot)
{
	enum scs_word word;

	if (addr & SCS_VERDICT_MASK)
		return SCS_WORD_NOT_TEXT;

	preempt_disable_notrace();
	word = scs_judge_word(addr);
	if (!scs_is_transient(addr - AARCH64_INSN_SIZE) && word <= SCS_VERDICT_MASK)
		WRITE_ONCE(*slot, addr | word);
	else if (word == SCS_WORD_PURE)
		word = SCS_WORD_TRANSIENT;
	preempt_enable_notrace();

	return word;
}

/* A word in a function that pushes, which does not end the trace? */
static __always_inline bool scs_known_pure(unsigned long addr, unsigned long *slot)
{
	BUILD_BUG_ON(SCS_WORD_PURE);

	/* An empty slot must not answer for the word 0. */
	return READ_ONCE(*slot) == addr && addr;
}

static __always_inline enum scs_word scs_word(unsigned long addr, unsigned long *slot)
{
	unsigned long verdict = READ_ONCE(*slot);

	if (likely((verdict & ~SCS_VERDICT_MASK) == addr && verdict))
		return verdict & SCS_VERDICT_MASK;
	return scs_word_slow(addr, slot);
}

/**
 * scs_judge - judge the words of an SCS as a stack trace, and hash them
 * @top: the slot above the newest word
 * @base: the slot of the oldest word; the caller vouches that the memory from
 *	  here to @top may be read if @top is not out of bounds
 * @ret: return address of the function that @top was read in, without
 *	 authentication code
 * @size: number of entries that the trace may have, at least one
 * @trace: what was found out, unless there is no trace; @trace->hash is to be
 *	   set before
 *
 * The words are judged from the newest outwards and no further than the trace
 * goes: to the first word in irqentry or softirqentry text, which is where the
 * stack depot cuts traces, to the bottom of the SCS, or to @size words.
 *
 * Context: Any.
 * Return: Number of words that are the trace, newest first, at least one, or a
 * negated &enum scs_fallback.
 */
int __kprobes scs_judge(const unsigned long *top, const unsigned long *base,
			unsigned long ret, unsigned int size,
			struct scs_trace *trace)
{
	unsigned long used = (unsigned long)top - (unsigned long)base;
	const unsigned long *slot = top, *end;
	u64 hash = trace->hash;
	bool lasting = true;

	/* The last slot holds the end marker and is never pushed to. */
	if (used > SCS_SIZE - sizeof(*top) ||
	    !IS_ALIGNED((unsigned long)top, sizeof(*top)) ||
	    !IS_ALIGNED((unsigned long)base, sizeof(*base)))
		return -SCS_FALLBACK_FOREIGN;
	if (!used || scs_strip(READ_ONCE_NOCHECK(*(top - 1))) != ret)
		return -SCS_FALLBACK_SPLICE;

	used /= sizeof(*top);
	end = used > size ? top - size : base;
	do {
		unsigned long *verdict, word = scs_strip(READ_ONCE_NOCHECK(*--slot));

		/* Else the compiler counts beside it, two instructions a word. */
		OPTIMIZER_HIDE_VAR(slot);
		verdict = scs_verdicts + hash_long(word, SCS_VERDICT_BITS);

		hash = stack_depot_hash_add(hash, word);
		if (likely(scs_known_pure(word, verdict)))
			continue;

		switch (scs_word(word, verdict)) {
		case SCS_WORD_TRANSIENT:
			lasting = false;
			break;
		case SCS_WORD_PURE:
			break;
		case SCS_WORD_BOTTOM:
			if (slot != base)
				return -SCS_FALLBACK_BOTTOM;
			fallthrough;
		case SCS_WORD_IRQ:
			goto found;
		case SCS_WORD_NO_PUSH:
			if (!scs_in_range(word, __entry_text_start, __entry_text_end))
				return -SCS_FALLBACK_NO_PUSH;
#ifdef CONFIG_ARM64_SCS_INTERRUPTED_PC
			if (slot != base) {
				unsigned long pc = scs_strip(READ_ONCE_NOCHECK(*(slot - 1)));
				bool interrupted;

				preempt_disable_notrace();
				interrupted = scs_is_interrupted_pc(word, pc);
				lasting &= !scs_is_transient(pc);
				preempt_enable_notrace();
				if (!interrupted)
					return -SCS_FALLBACK_EXCEPTION;
				/* The trace may end between the two. */
				if (slot == end)
					break;
				slot--;
				hash = stack_depot_hash_add(hash, pc);
				if (scs_in_irqentry(pc))
					goto found;
				break;
			}
#endif
			return -SCS_FALLBACK_EXCEPTION;
		case SCS_WORD_NOT_TEXT:
			return -SCS_FALLBACK_NOT_TEXT;
		}
	} while (slot != end);

	/* All words, but none of them starts an SCS. */
	if (used < size)
		return -SCS_FALLBACK_BOTTOM;
found:
	trace->hash = hash;
	trace->lasting = lasting;
	return top - slot;
}

#ifdef CONFIG_KASAN_SCS_TESTS
EXPORT_SYMBOL_GPL(scs_judge);
#endif

/**
 * scs_unwind - find the current stack trace on the SCS
 * @top: what scs_stack_pointer() returned in the calling function
 * @ret: the calling function's __builtin_return_address(0)
 * @size: number of entries that the trace may have, at least one
 * @trace: as for scs_judge()
 *
 * The words below @top equal, one by one, what stack_trace_save() in the
 * calling function stores behind the function's own entry, cut by
 * filter_irq_stacks().  scs_copy() copies them.
 *
 * Context: Any.
 * Return: Number of words, at least one, or a negated &enum scs_fallback.
 */
int __kprobes scs_unwind(const unsigned long *top, unsigned long ret,
			 unsigned int size, struct scs_trace *trace)
{
	const unsigned long *base;

#ifdef CONFIG_DYNAMIC_SCS
	if (!scs_is_enabled())
		return -SCS_FALLBACK_OFF;
#endif
	base = scs_base(top);
	if (!base)
		return -SCS_FALLBACK_FOREIGN;
	return scs_judge(top, base, ret, size, trace);
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
