/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stack traces from the shadow call stack (SCS).
 *
 * The SCS holds return addresses and nothing else, so it yields the trace that
 * the frame-record unwinder would give only while every function on it pushes
 * its return address.  This interface hands out a trace when that holds, and a
 * reason when it does not; the caller then walks frame records instead.
 *
 * The address of an SCS is a secret.  Nothing that is derived from x18 may be
 * stored outside the stacks, hashed, traced or printed.
 */
#ifndef __ASM_SCS_UNWIND_H
#define __ASM_SCS_UNWIND_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/scs.h>
#include <linux/types.h>

#include <asm/pointer_auth.h>
#include <asm/sections.h>

/* Defined in irq.c, which has no header for it. */
DECLARE_PER_CPU(unsigned long *, irq_shadow_call_stack_ptr);

/**
 * enum scs_fallback - why no trace can be taken from the SCS
 * @SCS_FALLBACK_OFF: the SCS is switched off at run time (dynamic SCS on a CPU
 *		      with pointer authentication)
 * @SCS_FALLBACK_FOREIGN: x18 points into neither the current task's SCS nor
 *			  this CPU's IRQ SCS, or out of its bounds
 * @SCS_FALLBACK_SPLICE: the newest word is not the caller's return address
 * @SCS_FALLBACK_NOT_TEXT: a word outside kernel and module text, such as a JIT
 *			   image or a trampoline
 * @SCS_FALLBACK_NO_PUSH: a word in text that is not behind a call in a function
 *			  which pushes on the SCS, such as the tracers' return
 *			  trampolines
 * @SCS_FALLBACK_EXCEPTION: an exception from EL1; the interrupted function is
 *			    not on the SCS
 * @SCS_FALLBACK_BOTTOM: the oldest word is not where such an SCS starts
 * @SCS_NR_FALLBACKS: number of reasons, plus one
 */
enum scs_fallback {
	SCS_FALLBACK_OFF = 1,
	SCS_FALLBACK_FOREIGN,
	SCS_FALLBACK_SPLICE,
	SCS_FALLBACK_NOT_TEXT,
	SCS_FALLBACK_NO_PUSH,
	SCS_FALLBACK_EXCEPTION,
	SCS_FALLBACK_BOTTOM,
	SCS_NR_FALLBACKS,
};

/**
 * scs_stack_pointer - the SCS pointer, after this function has pushed
 *
 * The compiler knows nothing of reads of x18 and may move them across the
 * prologue.  Depending on the frame address keeps the read behind the prologue,
 * which pushes on the SCS before it sets up the frame record.  Should a
 * compiler break this, scs_unwind() sees it and falls back.
 *
 * Context: Any, in a function that makes calls.
 * Return: The slot above the newest word of the current SCS.
 */
static __always_inline const unsigned long *scs_stack_pointer(void)
{
	const unsigned long *sp;

	asm volatile("mov %0, x18" : "=r" (sp) : "r" (__builtin_frame_address(0)));
	return sp;
}

/**
 * scs_base - the base of the SCS that an address lies on
 * @top: what scs_stack_pointer() returned
 *
 * The address decides: a softirq runs on this CPU's IRQ SCS or on a task's,
 * depending on who runs it.  If @top lies on the IRQ SCS then the caller cannot
 * migrate, else it does not matter which CPU's is looked at.
 *
 * Context: Any.
 * Return: The oldest word's slot, or NULL if @top lies neither on the current
 * task's SCS nor on this CPU's IRQ SCS.
 */
static __always_inline const unsigned long *scs_base(const unsigned long *top)
{
	const void *base = task_scs(current);

	/* Where a task has no SCS, x18 is NULL as its base is: no words. */
	if (likely((unsigned long)top - (unsigned long)base < SCS_SIZE))
		return base;
	base = raw_cpu_read(irq_shadow_call_stack_ptr);
	if ((unsigned long)top - (unsigned long)base < SCS_SIZE)
		return base;
	return NULL;
}

/* Words are signed where the compiler signs before it pushes. */
static __always_inline unsigned long scs_strip(unsigned long word)
{
	if (IS_ENABLED(CONFIG_ARM64_PTR_AUTH_KERNEL) &&
	    !IS_ENABLED(CONFIG_CC_SCS_PUSHES_UNSIGNED))
		word |= ptrauth_kernel_pac_mask();
	return word;
}

/* Words that scs_equal() compares at a time. */
#define SCS_EQUAL_WORDS		8

/* All loads and no branch: pairs of loads, and a chain of ccmp. */
static __always_inline bool scs_equal_block(const unsigned long *top,
					    const unsigned long *entries)
{
	unsigned long a = scs_strip(top[-1]), b = scs_strip(top[-2]);
	unsigned long c = scs_strip(top[-3]), d = scs_strip(top[-4]);
	unsigned long e = scs_strip(top[-5]), f = scs_strip(top[-6]);
	unsigned long g = scs_strip(top[-7]), h = scs_strip(top[-8]);
	unsigned long s = entries[0], t = entries[1], u = entries[2], v = entries[3];
	unsigned long w = entries[4], x = entries[5], y = entries[6], z = entries[7];

	return (a == s) & (b == t) & (c == u) & (d == v) &
	       (e == w) & (f == x) & (g == y) & (h == z);
}

static __always_inline bool scs_equal_blocks(const unsigned long *top,
					     const unsigned long *entries)
{
	bool equal = scs_equal_block(top, entries);

	equal &= scs_equal_block(top - SCS_EQUAL_WORDS, entries + SCS_EQUAL_WORDS);
	return equal;
}

/**
 * scs_equal - compare the newest words of an SCS with a stack trace
 * @top: the slot above the newest word
 * @entries: the trace, newest entry first
 * @nr: number of words to compare, at least SCS_EQUAL_WORDS; the caller vouches
 *	that both have as many
 *
 * The words below @top change only when this context returns, so they are read
 * without further ado.
 *
 * Context: Any, in code that KASAN does not instrument.
 * Return: true if all are equal.
 */
static __always_inline bool scs_equal(const unsigned long *top,
				      const unsigned long *entries,
				      unsigned long nr)
{
	const unsigned long *end = entries + nr;
	bool equal;

	/*
	 * The last words are compared with some again, rather than one by one.
	 * Unless the result is hidden, the compiler makes a branch and single
	 * loads of each word.
	 */
	if (nr < 2 * SCS_EQUAL_WORDS) {
		equal = scs_equal_block(top, entries);
		equal &= scs_equal_block(top - nr + SCS_EQUAL_WORDS,
					 end - SCS_EQUAL_WORDS);
		OPTIMIZER_HIDE_VAR(equal);
		return equal;
	}
	for (; nr > 2 * SCS_EQUAL_WORDS; nr -= 2 * SCS_EQUAL_WORDS) {
		equal = scs_equal_blocks(top, entries);
		OPTIMIZER_HIDE_VAR(equal);
		if (!equal)
			return false;
		top -= 2 * SCS_EQUAL_WORDS;
		entries += 2 * SCS_EQUAL_WORDS;
	}
	top -= nr;
	if (nr <= SCS_EQUAL_WORDS)
		equal = scs_equal_block(top + SCS_EQUAL_WORDS, end - SCS_EQUAL_WORDS);
	else
		equal = scs_equal_blocks(top + 2 * SCS_EQUAL_WORDS,
					 end - 2 * SCS_EQUAL_WORDS);
	OPTIMIZER_HIDE_VAR(equal);
	return equal;
}

static __always_inline bool scs_in_range(unsigned long addr, const char *start,
					 const char *end)
{
	return addr >= (unsigned long)start && addr < (unsigned long)end;
}

/* The same test as filter_irq_stacks(), on the return address itself. */
static __always_inline bool scs_in_irqentry(unsigned long addr)
{
	return scs_in_range(addr, __irqentry_text_start, __irqentry_text_end) ||
	       scs_in_range(addr, __softirqentry_text_start,
			    __softirqentry_text_end);
}

/**
 * scs_copy - copy the newest words of an SCS
 * @top: the slot above the newest word
 * @entries: where to store them, newest first
 * @nr: number of words; the caller vouches that the SCS has as many
 *
 * Context: Any, in code that KASAN does not instrument.
 */
static __always_inline void scs_copy(const unsigned long *top,
				     unsigned long *entries, unsigned long nr)
{
	while (nr--)
		*entries++ = scs_strip(*--top);
}

/**
 * struct scs_trace - what is found out about a stack trace where it lies
 * @hash: the stack depot's hash; before: of the entries in front of this trace
 * @lasting: whether the same words will make the same trace until the next
 *	     module comes or goes
 */
struct scs_trace {
	u64 hash;
	bool lasting;
};

int scs_unwind(const unsigned long *top, unsigned long ret, unsigned int size,
	       struct scs_trace *trace);
int scs_judge(const unsigned long *top, const unsigned long *base,
	      unsigned long ret, unsigned int size, struct scs_trace *trace);

#endif /* __ASM_SCS_UNWIND_H */
