// SPDX-License-Identifier: GPL-2.0
/* bpf: the system calls that load, attach and run programs. */
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"

static char verifier_log[4096];

void fail(const char *what)
{
	fprintf(stderr, "bpf: %s: %s\n%s", what, strerror(errno), verifier_log);
	exit(1);
}

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

void set_jit(int on)
{
	int fd = open("/proc/sys/net/core/bpf_jit_enable", O_WRONLY);

	if (fd < 0 || write(fd, on ? "1" : "0", 1) != 1)
		fail("bpf_jit_enable");
	close(fd);
}

int try_load(int type, const struct bpf_insn *insns, size_t n, const union bpf_attr *more)
{
	union bpf_attr attr = {};

	if (more)
		attr = *more;
	attr.prog_type = type;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = n;
	attr.license = (uintptr_t)"GPL";
	attr.log_buf = (uintptr_t)verifier_log;
	attr.log_size = sizeof(verifier_log);
	attr.log_level = 1;
	return sys_bpf(BPF_PROG_LOAD, &attr);
}

int load(int type, const struct bpf_insn *insns, size_t n, const union bpf_attr *more)
{
	int fd = try_load(type, insns, n, more);

	if (fd < 0)
		fail("load");
	return fd;
}

int create_map(union bpf_attr *attr)
{
	int fd = sys_bpf(BPF_MAP_CREATE, attr);

	if (fd < 0)
		fail("map");
	return fd;
}

#define KIND(kind, vlen)	((kind) << 24 | (vlen))

/*
 * The names, and where each is in them. The kernel knows a timer by its type's
 * name.
 */
#define NAMES	"\0u32\0bpf_timer\0value\0context\0target"

enum { NAME_U32 = 1, NAME_TIMER = 5, NAME_VALUE = 15, NAME_CONTEXT = 21, NAME_TARGET = 29 };

/*
 * Kernels without a BTF of their own take the types of programs and maps from
 * user space all the same.
 */
int btf_fd(void)
{
	static const struct {
		struct btf_header header;
		struct btf_type u32;
		uint32_t u32_bits;
		struct btf_type timer, value;
		struct btf_member value_timer;
		struct btf_type pointer, proto;
		struct btf_param context;
		struct btf_type target;
		char names[sizeof(NAMES)];
	} btf = {
		.header = {
			.magic = BTF_MAGIC,
			.version = BTF_VERSION,
			.hdr_len = sizeof(btf.header),
			.type_len = offsetof(typeof(btf), names) - sizeof(btf.header),
			.str_off = offsetof(typeof(btf), names) - sizeof(btf.header),
			.str_len = sizeof(NAMES),
		},
		.u32 = { .name_off = NAME_U32, .info = KIND(BTF_KIND_INT, 0), .size = 4 },
		.u32_bits = 32,
		.timer = {
			.name_off = NAME_TIMER,
			.info = KIND(BTF_KIND_STRUCT, 0),
			.size = sizeof(struct bpf_timer),
		},
		.value = {
			.name_off = NAME_VALUE,
			.info = KIND(BTF_KIND_STRUCT, 1),
			.size = sizeof(struct bpf_timer),
		},
		.value_timer = { .name_off = NAME_TIMER, .type = BTF_TIMER },
		.pointer = { .info = KIND(BTF_KIND_PTR, 0), .type = BTF_VOID },
		.proto = { .info = KIND(BTF_KIND_FUNC_PROTO, 1), .type = BTF_U32 },
		.context = { .name_off = NAME_CONTEXT, .type = BTF_POINTER },
		.target = {
			.name_off = NAME_TARGET,
			.info = KIND(BTF_KIND_FUNC, 0),
			.type = BTF_PROTO,
		},
		.names = NAMES,
	};
	union bpf_attr attr = {
		.btf = (uintptr_t)&btf,
		.btf_size = offsetof(typeof(btf), names) + sizeof(NAMES),
		.btf_log_buf = (uintptr_t)verifier_log,
		.btf_log_size = sizeof(verifier_log),
		.btf_log_level = 1,
	};
	int fd = sys_bpf(BPF_BTF_LOAD, &attr);

	if (fd < 0)
		fail("btf");
	return fd;
}

void test_run(int prog, int rounds)
{
	static char packet[128];
	union bpf_attr attr = {
		.test = {
			.prog_fd = prog,
			.data_in = (uintptr_t)packet,
			.data_size_in = sizeof(packet),
			.repeat = rounds,
		},
	};

	if (sys_bpf(BPF_PROG_TEST_RUN, &attr))
		fail("test run");
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

int attach_kprobe(int prog, const char *function)
{
	struct perf_event_attr attr = {
		.type = number_in("/sys/bus/event_source/devices/kprobe/type"),
		.size = sizeof(attr),
		.config1 = (uintptr_t)function,
	};

	return attach(&attr, prog);
}

int attach_tracepoint(int prog, const char *id_file)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = number_in(id_file),
	};

	return attach(&attr, prog);
}

/* To the program that it was loaded for. */
int attach_tracing(int prog)
{
	union bpf_attr attr = { .raw_tracepoint.prog_fd = prog };
	int fd = sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);

	if (fd < 0)
		fail("attach to a program");
	return fd;
}
