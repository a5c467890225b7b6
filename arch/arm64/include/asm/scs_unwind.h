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
#include <linux/types.h>

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

int scs_unwind(const unsigned long *top, unsigned long ret,
	       unsigned long *entries, unsigned int size);
int scs_judge(const unsigned long *top, const unsigned long *base,
	      unsigned long ret, unsigned long *entries, unsigned int size);

#endif /* __ASM_SCS_UNWIND_H */
