// SPDX-License-Identifier: GPL-2.0
/*
 * bpf [KIND] ROUNDS: make BPF programs allocate kernel memory.
 *
 * Programs in networking, on a kprobe, on a tracepoint and in front of another
 * program put the images of JITed programs and trampolines, or the interpreter,
 * on the kernel's stacks. Without KIND all of them do so, one after another.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define ENTRIES		65536

/*
 * A program whose call allocates memory itself: a timer in an entry that was
 * chosen by chance. An element of a hash table would be taken from a reserve,
 * which is filled up from interrupts.
 */
static int load_timer(int type, const union bpf_attr *more, int *map)
{
	union bpf_attr map_attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = sizeof(struct bpf_timer),
		.max_entries = ENTRIES,
		.btf_fd = btf_fd(),
		.btf_key_type_id = BTF_U32,
		.btf_value_type_id = BTF_VALUE,
	};

	*map = create_map(&map_attr);
	close(map_attr.btf_fd);

	const struct bpf_insn insns[] = {
		CALL(BPF_FUNC_get_prandom_u32),
		AND_IMM(0, ENTRIES - 1),
		STORE_W(10, 0, -4),
		LD_MAP(1, *map),
		MOV_REG(2, 10),
		ADD_IMM(2, -4),
		CALL(BPF_FUNC_map_lookup_elem),
		JUMP_EQ(0, 0, 5),
		MOV_REG(1, 0),
		LD_MAP(2, *map),
		MOV_IMM(3, CLOCK_MONOTONIC),
		CALL(BPF_FUNC_timer_init),
		MOV_IMM(0, 0),
		EXIT(),
	};

	return try_load(type, insns, COUNT(insns), more);
}

/* The same with a node of a trie, whose key is the length 32 and a number. */
static int load_trie(int type, const union bpf_attr *more, int *map)
{
	union bpf_attr map_attr = {
		.map_type = BPF_MAP_TYPE_LPM_TRIE,
		.key_size = 8,
		.value_size = 8,
		.max_entries = ENTRIES,
		.map_flags = BPF_F_NO_PREALLOC,
	};

	*map = create_map(&map_attr);

	const struct bpf_insn insns[] = {
		CALL(BPF_FUNC_get_prandom_u32),
		AND_IMM(0, ENTRIES - 1),
		STORE_W(10, 0, -4),
		MOV_IMM(0, 32),
		STORE_W(10, 0, -8),
		STORE_DW(10, 0, -16),
		LD_MAP(1, *map),
		MOV_REG(2, 10),
		ADD_IMM(2, -8),
		MOV_REG(3, 10),
		ADD_IMM(3, -16),
		MOV_IMM(4, BPF_ANY),
		CALL(BPF_FUNC_map_update_elem),
		MOV_IMM(0, 0),
		EXIT(),
	};

	return load(type, insns, COUNT(insns), more);
}

/*
 * The timer where this kernel allows it. Those that deny it to tracing
 * programs allocate a trie's nodes in the call, the others from a reserve.
 */
static int load_allocating(int type, const union bpf_attr *more, int *map)
{
	int prog = load_timer(type, more, map);

	if (prog >= 0)
		return prog;
	close(*map);
	return load_trie(type, more, map);
}

/* Clone the packet to the loopback device; the clone is what allocates. */
static void run_classifier(int rounds)
{
	const struct bpf_insn insns[] = {
		MOV_IMM(2, 1),
		MOV_IMM(3, 0),
		CALL(BPF_FUNC_clone_redirect),
		MOV_IMM(0, 0),
		EXIT(),
	};
	int prog = load(BPF_PROG_TYPE_SCHED_CLS, insns, COUNT(insns), NULL);

	test_run(prog, rounds);
	close(prog);
}

/* What the kprobe and the tracepoint are in. */
static void open_files(int rounds)
{
	while (rounds--)
		close(open("/proc/self/maps", O_RDONLY));
}

static void run_kprobe(int rounds)
{
	int map, prog = load_allocating(BPF_PROG_TYPE_KPROBE, NULL, &map);
	int event = attach_kprobe(prog, "do_sys_openat2");

	open_files(rounds);
	close(event);
	close(prog);
	close(map);
}

static void run_tracepoint(int rounds)
{
	int map, prog = load_allocating(BPF_PROG_TYPE_TRACEPOINT, NULL, &map);
	int event = attach_tracepoint(prog, "/sys/kernel/tracing/events/kmem/kmalloc/id");

	open_files(rounds);
	close(event);
	close(prog);
	close(map);
}

/* A program in front of another one, to which a trampoline leads. */
static void run_trampoline(int rounds)
{
	const struct bpf_insn insns[] = {
		MOV_IMM(0, 0),
		EXIT(),
	};
	const struct bpf_func_info target_info = { .type_id = BTF_TARGET };
	union bpf_attr target_attr = {
		.prog_btf_fd = btf_fd(),
		.func_info = (uintptr_t)&target_info,
		.func_info_rec_size = sizeof(target_info),
		.func_info_cnt = 1,
	};
	int target = load(BPF_PROG_TYPE_SCHED_CLS, insns, COUNT(insns), &target_attr);
	union bpf_attr attr = {
		.expected_attach_type = BPF_TRACE_FENTRY,
		.attach_prog_fd = target,
		.attach_btf_id = BTF_TARGET,
	};
	int map, prog = load_allocating(BPF_PROG_TYPE_TRACING, &attr, &map);
	int link = attach_tracing(prog);

	test_run(target, rounds);
	close(link);
	close(prog);
	close(map);
	close(target);
	close(target_attr.prog_btf_fd);
}

static const struct {
	const char *name;
	int jit;
	void (*run)(int rounds);
} kinds[] = {
	{ "classifier_jit", 1, run_classifier },
	{ "kprobe_jit", 1, run_kprobe },
	{ "tracepoint_jit", 1, run_tracepoint },
	/* The interpreter's programs have no place for a trampoline's call. */
	{ "trampoline", 1, run_trampoline },
	{ "classifier_nojit", 0, run_classifier },
	{ "kprobe_nojit", 0, run_kprobe },
	{ "tracepoint_nojit", 0, run_tracepoint },
};

static int usage(void)
{
	size_t i;

	fprintf(stderr, "Usage: bpf [KIND] ROUNDS\nKINDs:");
	for (i = 0; i < COUNT(kinds); i++)
		fprintf(stderr, " %s", kinds[i].name);
	fprintf(stderr, "\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : NULL;
	int rounds = argc == 2 || argc == 3 ? atoi(argv[argc - 1]) : 0, ran = 0;
	size_t i;

	if (rounds <= 0)
		return usage();
	for (i = 0; i < COUNT(kinds); i++) {
		if (kind && strcmp(kind, kinds[i].name))
			continue;
		set_jit(kinds[i].jit);
		kinds[i].run(rounds);
		ran++;
	}
	set_jit(1);
	return ran ? 0 : usage();
}
