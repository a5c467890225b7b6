// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the parameter ns allocates and frees socket buffers of size bytes, one
 * after the other, pairs times, and gives the time that this took. Works with and
 * without the series and KASAN. Not done in a module's init text, which is no
 * usual place to work in.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/skbuff.h>

static unsigned int pairs = 1000000;
module_param(pairs, uint, 0400);

static unsigned int size = 1024;
module_param(size, uint, 0400);

/* These fill KASAN's quarantine, which takes from there on what it gives. */
#define PAIRS_NOT_COUNTED	50000

static int allocate_and_free(unsigned int nr)
{
	while (nr--) {
		struct sk_buff *skb = alloc_skb(size, GFP_KERNEL);

		if (!skb)
			return -ENOMEM;
		kfree_skb(skb);
		cond_resched();
	}
	return 0;
}

static int get_ns(char *buffer, const struct kernel_param *kp)
{
	int err = allocate_and_free(PAIRS_NOT_COUNTED);
	u64 start = ktime_get_ns();

	if (!err)
		err = allocate_and_free(pairs);
	return err ?: sysfs_emit(buffer, "%llu\n", ktime_get_ns() - start);
}

static const struct kernel_param_ops ns_ops = {
	.get = get_ns,
};

module_param_cb(ns, &ns_ops, NULL, 0400);

MODULE_DESCRIPTION("Allocates and frees socket buffers");
MODULE_LICENSE("GPL");
