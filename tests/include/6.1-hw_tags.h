/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In the form of HW_TAGS mm/kasan/report.c of 6.1.192 calls two functions that only
 * later kernels define, so that the stock kernel does not build. Without tag checks
 * is what the processor's flag TCO means; 6.1 sets and clears it by other names.
 */
#define hw_suppress_tag_checks_start()	__uaccess_enable_tco()
#define hw_suppress_tag_checks_stop()	__uaccess_disable_tco()
