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
#include <linux/log2.h>
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

typedef void (*record_fn)(const struct stack_record *record, void *data);

static void walk_records(record_fn fn, void *data)
{
	unsigned long i, buckets = nr_buckets();
	struct stack_record *record;

	for (i = 0; i < buckets; i++) {
		void *bucket = kasan_test_bucket(i);

		kasan_depot_lock();
		for (record = kasan_depot_first(bucket); record;
		     record = kasan_depot_next(bucket, record))
			fn(record, data);
		kasan_depot_unlock();
	}
}

struct total {
	unsigned long records, entries, bytes;
};

static void add_up(const struct stack_record *record, void *data)
{
	struct total *total = data;

	total->records++;
	total->entries += record->size;
	total->bytes += struct_size(record, entries, record->size);
}

struct spread {
	unsigned long buckets;
	bool jhash;
	u16 *lengths;
};

static void add_to_bucket(const struct stack_record *record, void *data)
{
	struct spread *spread = data;
	u32 hash = record->hash;

	if (spread->jhash)
		hash = jhash2((u32 *)record->entries,
			      record->size * sizeof(long) / sizeof(u32), JHASH_SEED);
	spread->lengths[hash & (spread->buckets - 1)]++;
}

/* As if the depot had so many buckets. */
static int show_spread(struct seq_file *seq, unsigned long buckets, unsigned long records,
		       bool jhash)
{
	struct spread spread = { .buckets = buckets, .jhash = jhash };
	unsigned long i, longest = 0;
	u64 compared = 0;

	spread.lengths = kvcalloc(buckets, sizeof(*spread.lengths), GFP_KERNEL);
	if (!spread.lengths)
		return -ENOMEM;
	walk_records(add_to_bucket, &spread);
	for (i = 0; i < buckets; i++) {
		unsigned long length = spread.lengths[i];

		compared += length * (length + 1) / 2;
		longest = max(longest, length);
	}
	seq_printf(seq, "%s: buckets %lu compared_per_1000 %llu longest %lu\n",
		   jhash ? "jhash2" : "depot", buckets,
		   div64_u64(1000 * compared, records), longest);
	kvfree(spread.lengths);
	return 0;
}

static int depot_show(struct seq_file *seq, void *v)
{
	struct total total = {};
	int i, err = 0;

	if (!kasan_test_bucket(0))
		return -ENODEV;
	walk_records(add_up, &total);
	if (!total.records)
		return -ENODATA;
	seq_printf(seq, "records: %lu\nentries: %lu\nbytes: %lu\n", total.records,
		   total.entries, total.bytes);
	/* As it is, and with many to a bucket. */
	for (i = 0; i < 2 && !err; i++) {
		err = show_spread(seq, nr_buckets(), total.records, i) ?:
		      show_spread(seq, roundup_pow_of_two(total.records) / 8, total.records, i);
	}
	return err;
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
