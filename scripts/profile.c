// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for QEMU's TCG: how often each block of guest code was executed, as
 * lines "ADDRESS INSTRUCTIONS TIMES" in a file.
 *
 * Arguments: out=FILE; from=ADDRESS and to=ADDRESS: only from when the block at
 * the one was executed until that at the other was; several times if need be. A
 * block at the first that is left early counts as a whole. For one CPU.
 *
 * QEMU's header is not packaged; these are the functions of its plugin API,
 * version 4, that are used: docs/devel/tcg-plugins.rst of QEMU 10.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_info_t;

typedef uint64_t qemu_plugin_id_t;
typedef void (*tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*vcpu_cb)(unsigned int vcpu, void *data);
typedef void (*exit_cb)(qemu_plugin_id_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, vcpu_cb cb, int flags,
					  void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_cb cb, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

__attribute__((visibility("default"))) int qemu_plugin_version = 4;

/* QEMU translates the same code again and again. */
struct block {
	struct block *next;
	uint64_t addr, insns, times;
};

#define NR_LISTS	(1 << 20)

static struct block *lists[NR_LISTS];
static uint64_t from, to;
static bool on;
static const char *out;

static void executed(unsigned int vcpu, void *data)
{
	struct block *block = data;

	if (from && block->addr == from)
		on = true;
	else if (to && block->addr == to)
		on = false;
	block->times += on;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t addr = qemu_plugin_tb_vaddr(tb), insns = qemu_plugin_tb_n_insns(tb);
	struct block **list = &lists[addr / 4 % NR_LISTS], *block = *list;

	while (block && (block->addr != addr || block->insns != insns))
		block = block->next;
	if (!block) {
		block = calloc(1, sizeof(*block));
		if (!block)
			abort();
		*block = (struct block){ .next = *list, .addr = addr, .insns = insns };
		*list = block;
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, block);
}

static void ended(qemu_plugin_id_t id, void *data)
{
	FILE *f = fopen(out, "w");
	struct block *block;
	size_t i;

	if (!f) {
		perror(out);
		return;
	}
	for (i = 0; i < NR_LISTS; i++) {
		for (block = lists[i]; block; block = block->next) {
			if (block->times)
				fprintf(f, "%lx %lu %lu\n", block->addr, block->insns,
					block->times);
		}
	}
	if (fclose(f))
		perror(out);
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc,
			char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
		else if (!strncmp(argv[i], "from=", 5))
			from = strtoull(argv[i] + 5, NULL, 16);
		else if (!strncmp(argv[i], "to=", 3))
			to = strtoull(argv[i] + 3, NULL, 16);
		else
			return -1;
	}
	if (!out)
		return -1;
	on = !from;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
