// SPDX-License-Identifier: GPL-2.0
/*
 * How the records of the stack depot spread over its buckets, with its hash and
 * with jhash2(), which it had before: a file in debugfs.
 *
 * Spread is what it takes to find a record: how many are compared on the way to
 * it, on average over all, and the longest bucket.
 */
#include <linux/debugfs.h>
#include <linux/jhash.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "depot.h"
#include "unwinder_trace.h"

#define JHASH_SEED	0x9747b28c

static unsigned long nr_buckets(void)
{
	unsigned long nr = 1;

	/* A power of two: the lower bits of the hash choose. */
	while (kasan_test_bucket(nr) != kasan_test_bucket(0))
		nr <<= 1;
	return nr;
}

static void show_spread(struct seq_file *seq, const char *name, const u16 *lengths,
			unsigned long buckets, unsigned long records)
{
	unsigned long i, longest = 0;
	u64 compared = 0;

	for (i = 0; i < buckets; i++) {
		compared += lengths[i] * (lengths[i] + 1) / 2;
		longest = max_t(unsigned long, longest, lengths[i]);
	}
	seq_printf(seq, "%s: compared_per_1000 %llu longest %lu\n", name,
		   div64_u64(1000 * compared, max(records, 1UL)), longest);
}

static int depot_show(struct seq_file *seq, void *v)
{
	unsigned long i, buckets, records = 0, entries = 0, bytes = 0;
	u16 *depot, *jhash = NULL;
	struct stack_record *record;

	if (!kasan_test_bucket(0))
		return -ENODEV;
	buckets = nr_buckets();
	depot = kvcalloc(buckets, sizeof(*depot), GFP_KERNEL);
	jhash = kvcalloc(buckets, sizeof(*jhash), GFP_KERNEL);
	if (!depot || !jhash) {
		kvfree(depot);
		kvfree(jhash);
		return -ENOMEM;
	}

	for (i = 0; i < buckets; i++) {
		void *bucket = kasan_test_bucket(i);

		kasan_depot_lock();
		for (record = kasan_depot_first(bucket); record;
		     record = kasan_depot_next(bucket, record)) {
			u32 hash = jhash2((u32 *)record->entries,
					  record->size * sizeof(long) / sizeof(u32), JHASH_SEED);

			depot[i]++;
			jhash[hash & (buckets - 1)]++;
			records++;
			entries += record->size;
			bytes += struct_size(record, entries, record->size);
		}
		kasan_depot_unlock();
	}

	seq_printf(seq, "records: %lu\nentries: %lu\nbytes: %lu\nbuckets: %lu\n", records,
		   entries, bytes, buckets);
	show_spread(seq, "depot", depot, buckets, records);
	show_spread(seq, "jhash2", jhash, buckets, records);
	kvfree(depot);
	kvfree(jhash);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(depot);

static struct dentry *file;

static int __init depot_bench_init(void)
{
	file = debugfs_create_file("kasan_unwinder_depot", 0400, NULL, NULL, &depot_fops);
	return PTR_ERR_OR_ZERO(file);
}
module_init(depot_bench_init);

static void __exit depot_bench_exit(void)
{
	debugfs_remove(file);
}
module_exit(depot_bench_exit);

MODULE_DESCRIPTION("How the records of the stack depot spread");
MODULE_LICENSE("GPL");
