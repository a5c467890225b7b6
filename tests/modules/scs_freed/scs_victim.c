// SPDX-License-Identifier: GPL-2.0
/* A function with a call in it, to be unloaded: see scs_freed.c. */
#include <linux/module.h>

#include "scs_victim.h"

void scs_victim_call(void (*fn)(void))
{
	fn();
	/* Not a tail call. */
	barrier();
}
EXPORT_SYMBOL_GPL(scs_victim_call);

MODULE_DESCRIPTION("Has a return address that goes away");
MODULE_LICENSE("GPL");
