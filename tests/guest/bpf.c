// SPDX-License-Identifier: GPL-2.0
/*
 * bpf ROUNDS: make BPF programs allocate kernel memory, with the JIT and without.
 *
 * A classifier clones packets in test runs; a program on a kprobe and one on a
 * tracepoint fill a hash table that is not preallocated. Both put the images of
 * JITed programs, or the interpreter, on the kernel's stacks.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOV_IMM(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV_REG(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD_IMM(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define STORE(d, s, o)	INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT()		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define LD_MAP(d, fd) \
	INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)

static char verifier_log[4096];

static void fail(const char *what)
{
	fprintf(stderr, "bpf: %s: %s\n%s", what, strerror(errno), verifier_log);
	exit(1);
}

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int load(int type, const struct bpf_insn *insns, size_t n)
{
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (uintptr_t)insns,
		.insn_cnt = n,
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)verifier_log,
		.log_size = sizeof(verifier_log),
		.log_level = 1,
	};
	int fd = sys_bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		fail("load");
	return fd;
}

static void set_jit(int on)
{
	int fd = open("/proc/sys/net/core/bpf_jit_enable", O_WRONLY);

	if (fd < 0 || write(fd, on ? "1" : "0", 1) != 1)
		fail("bpf_jit_enable");
	close(fd);
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
	static char packet[128];
	int fd = load(BPF_PROG_TYPE_SCHED_CLS, insns, sizeof(insns) / sizeof(insns[0]));
	union bpf_attr attr = {
		.test = {
			.prog_fd = fd,
			.data_in = (uintptr_t)packet,
			.data_size_in = sizeof(packet),
			.repeat = rounds,
		},
	};

	if (sys_bpf(BPF_PROG_TEST_RUN, &attr))
		fail("test run");
	close(fd);
}

/* Key: the time, so that each call adds an element. */
static int load_counter(int type, int map)
{
	const struct bpf_insn insns[] = {
		CALL(BPF_FUNC_ktime_get_ns),
		STORE(10, 0, -8),
		STORE(10, 0, -16),
		LD_MAP(1, map),
		MOV_REG(2, 10),
		ADD_IMM(2, -8),
		MOV_REG(3, 10),
		ADD_IMM(3, -16),
		MOV_IMM(4, BPF_ANY),
		CALL(BPF_FUNC_map_update_elem),
		MOV_IMM(0, 0),
		EXIT(),
	};

	return load(type, insns, sizeof(insns) / sizeof(insns[0]));
}

static long long number_in(const char *path)
{
	long long n = -1;
	FILE *f = fopen(path, "r");

	if (!f || fscanf(f, "%lld", &n) != 1)
		fail(path);
	fclose(f);
	return n;
}

static int attach(struct perf_event_attr *attr, int prog)
{
	int fd = syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		fail("perf_event_open");
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		fail("attach");
	return fd;
}

static void run_attached(int rounds)
{
	union bpf_attr map_attr = {
		.map_type = BPF_MAP_TYPE_HASH,
		.key_size = 8,
		.value_size = 8,
		.max_entries = 65536,
		.map_flags = BPF_F_NO_PREALLOC,
	};
	int map = sys_bpf(BPF_MAP_CREATE, &map_attr);
	struct perf_event_attr kprobe = {
		.type = number_in("/sys/bus/event_source/devices/kprobe/type"),
		.size = sizeof(kprobe),
		.config1 = (uintptr_t)"do_sys_openat2",
	};
	struct perf_event_attr tracepoint = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(tracepoint),
		.config = number_in("/sys/kernel/tracing/events/kmem/kmalloc/id"),
	};
	int prog[2], event[2], i, fd;

	if (map < 0)
		fail("map");
	prog[0] = load_counter(BPF_PROG_TYPE_KPROBE, map);
	prog[1] = load_counter(BPF_PROG_TYPE_TRACEPOINT, map);
	event[0] = attach(&kprobe, prog[0]);
	event[1] = attach(&tracepoint, prog[1]);
	for (i = 0; i < rounds; i++) {
		fd = open("/proc/self/maps", O_RDONLY);
		close(fd);
	}
	for (i = 0; i < 2; i++) {
		close(event[i]);
		close(prog[i]);
	}
	close(map);
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0, jit;

	if (rounds <= 0) {
		fprintf(stderr, "Usage: bpf ROUNDS\n");
		return 2;
	}
	for (jit = 1; jit >= 0; jit--) {
		set_jit(jit);
		run_classifier(rounds);
		run_attached(rounds);
	}
	set_jit(1);
	return 0;
}
