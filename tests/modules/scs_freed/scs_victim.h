/* SPDX-License-Identifier: GPL-2.0 */
/* What scs_victim has for scs_freed. */
#ifndef SCS_VICTIM_H
#define SCS_VICTIM_H

/* Calls @fn, which finds its return address. */
void scs_victim_call(void (*fn)(void));

#endif /* SCS_VICTIM_H */
