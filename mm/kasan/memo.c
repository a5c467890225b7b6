// SPDX-License-Identifier: GPL-2.0
/*
 * The memo from words on the SCS to depot records: filling and clearing it.
 */
#include <linux/container_of.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>

#include "kasan.h"
#include "memo.h"

/* What empty slots hold, so that nobody need check for one. */
static union {
	struct stack_record record;
	/* Room for an entry, where the depot declares none. */
	unsigned long words[8];
} none;

DEFINE_PER_CPU(struct kasan_memo, kasan_memo) = {
	.slots = { [0 ... (1 << KASAN_MEMO_BITS) - 1] = &none.record },
};

/*
 * Puts a record into the first of its slots.  What was there moves to another
 * one.  Slots may change meanwhile; each record in them is as good as any.
 *
 * A record that moves may be of a module that goes, and miss that all slots are
 * cleared.  With preemption off it is back before a grace period ends, which
 * is before the module's memory is freed, and other text that comes there clears
 * all slots again before it runs.
 */
static __always_inline void put_first(struct kasan_memo *memo, unsigned long index,
				      unsigned long way, struct stack_record *record)
{
	preempt_disable_notrace();
	/* The records were filled before: by this CPU, or before it saw them. */
	smp_store_release(&memo->slots[index ^ way], READ_ONCE(memo->slots[index]));
	/* As above. */
	smp_store_release(&memo->slots[index], record);
	preempt_enable_notrace();
}

static __always_inline unsigned long key_index(unsigned long key)
{
	return key & ((1 << KASAN_MEMO_BITS) - 1);
}

static __always_inline unsigned long key_words(unsigned long key)
{
	return key >> KASAN_MEMO_BITS;
}

/**
 * kasan_memo_key - the key of a window of any number of words
 * @top: the scs_stack_pointer() of the function that is to be the first entry
 *
 * Context: Any.
 * Return: The key that kasan_memo_find() would store, or one for fewer words, or 0 if
 * there is no use in one.
 */
unsigned long __kprobes kasan_memo_key(const unsigned long *top)
{
	const unsigned long *base;
	unsigned long words, i;
	u64 hash = 0;

	if (!kasan_memo_base(top, &base, &words, KASAN_MEMO_MIN_WORDS))
		return 0;
	if (words >= SCS_EQUAL_WORDS)
		return kasan_memo_make_key(kasan_memo_index(top, base, words), words);
	for (i = words; i--;)
		hash = ror64(hash, 9) ^ scs_strip(base[i]);
	return kasan_memo_make_key(kasan_memo_fold(hash), words);
}

/* Has its trace fewer words than scs_equal() compares at once? */
static __always_inline bool is_short(const struct stack_record *record)
{
	return record->size <= SCS_EQUAL_WORDS;
}

/* As kasan_memo_matches(), for traces and windows of any number of words. */
static bool __kprobes any_matches(const struct stack_record *record,
				  const unsigned long *top, unsigned long words)
{
	unsigned long i, nr = record->size - 1;

	if (!is_short(record))
		return words >= SCS_EQUAL_WORDS && kasan_memo_matches(record, top, words);
	if (nr < KASAN_MEMO_MIN_WORDS || nr > words ||
	    (nr != words && !scs_in_irqentry(record->entries[nr])))
		return false;
	for (i = 1; i <= nr; i++) {
		if (scs_strip(*(top - i)) != record->entries[i])
			return false;
	}
	return true;
}

/**
 * kasan_memo_find_moved - look the words on the SCS up that moved
 * @top: the scs_stack_pointer() of the function that is to be the first entry
 * @self: the trace's first entry
 * @key: the window's key, or 0
 *
 * To be called after kasan_memo_find().
 *
 * Context: Any.
 * Return: The record that these words are known to become, or NULL.
 */
struct stack_record * __kprobes
kasan_memo_find_moved(const unsigned long *top, unsigned long self, unsigned long key)
{
	struct kasan_memo *memo = raw_cpu_ptr(&kasan_memo);
	unsigned long words = key_words(key), index = key_index(key), way;

	if (!key)
		return NULL;
	for (way = 1; way < KASAN_MEMO_WAYS; way++) {
		/* Pairs with put_first(), as in kasan_memo_find(). */
		struct stack_record *record = READ_ONCE(memo->slots[index ^ way]);

		if (record->entries[0] != self || !any_matches(record, top, words))
			continue;
		if (!is_short(record))
			put_first(memo, index, way, record);
		atomic64_inc(&memo->hits);
		return record;
	}
	return NULL;
}

/**
 * kasan_memo_get - look the words on the SCS up, and take a reference
 * @top: the scs_stack_pointer() of the function that is to be the first entry
 * @self: the trace's first entry
 * @key: the window's key, or 0
 *
 * Context: Any.
 * Return: The record that these words are known to become, or NULL.
 */
struct stack_record * __kprobes
kasan_memo_get(const unsigned long *top, unsigned long self, unsigned long key)
{
	struct kasan_memo *memo = raw_cpu_ptr(&kasan_memo);
	unsigned long words = key_words(key), index = key_index(key), way;

	if (in_nmi() || !key)
		return NULL;
	for (way = 0; way < KASAN_MEMO_WAYS; way++) {
		/* Pairs with put_first(), as in kasan_memo_find(). */
		struct stack_record *record = READ_ONCE(memo->slots[index ^ way]);

		/* A record that was evicted may say anything here. */
		if (READ_ONCE(record->entries[0]) != self ||
		    READ_ONCE(record->entries[4]) != scs_strip(top[-4]) ||
		    !kasan_depot_get(record))
			continue;
		/* Only now do size and entries belong together. */
		if (record->entries[0] == self && any_matches(record, top, words)) {
			if (way && !is_short(record))
				put_first(memo, index, way, record);
			atomic64_inc(&memo->hits);
			return record;
		}
		kasan_depot_put(record);
	}
	return NULL;
}

/**
 * kasan_memo_keep - remember which record the words on the SCS became
 * @key: the key of the window that scs_unwind() found a lasting trace in, or 0
 * @record: the trace's record, which is not evicted meanwhile
 *
 * Context: Any.
 */
void __kprobes kasan_memo_keep(unsigned long key, struct stack_record *record)
{
	unsigned long index = key_index(key), way = 1 + record->size % (KASAN_MEMO_WAYS - 1);
	struct kasan_memo *memo = raw_cpu_ptr(&kasan_memo);

	/* The window has at least the trace's words, without its first entry. */
	if (!key || record->size <= KASAN_MEMO_MIN_WORDS)
		return;
	if (is_short(record))
		/* As in put_first(). */
		smp_store_release(&memo->slots[index ^ way], record);
	else
		put_first(memo, index, way, record);
}

static void fill(struct stack_record *record)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < 1 << KASAN_MEMO_BITS; i++)
			/* As in put_first(). */
			smp_store_release(&per_cpu(kasan_memo, cpu).slots[i], record);
	}
}

#ifdef CONFIG_KASAN_SCS_TESTS
/**
 * kasan_test_fill_memo - let the whole memo of all CPUs hold one record
 * @record: the record
 *
 * As if the keys of all windows collided with that of this record.
 *
 * Context: Any.
 */
void kasan_test_fill_memo(struct stack_record *record)
{
	fill(record);
}
EXPORT_SYMBOL_GPL(kasan_test_fill_memo);
#endif

#ifdef CONFIG_MODULES
/* With module text the verdicts change on which the memo rests. */
static int kasan_memo_module_notify(struct notifier_block *nb, unsigned long state,
				    void *mod)
{
	if (state == MODULE_STATE_COMING || state == MODULE_STATE_GOING)
		fill(&none.record);
	return NOTIFY_DONE;
}

static struct notifier_block kasan_memo_module_nb = {
	.notifier_call = kasan_memo_module_notify,
};

static int __init kasan_memo_init(void)
{
	return register_module_notifier(&kasan_memo_module_nb);
}
early_initcall(kasan_memo_init);
#endif
