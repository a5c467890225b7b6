/* SPDX-License-Identifier: GPL-2.0 */
/* bpf: instructions to write programs with, and what bpf_sys.c does for them. */
#ifndef BPF_H
#define BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOV_IMM(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV_REG(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD_IMM(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define AND_IMM(d, i)	INSN(BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, i)
#define STORE_W(d, s, o)	INSN(BPF_STX | BPF_MEM | BPF_W, d, s, o, 0)
#define STORE_DW(d, s, o)	INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define JUMP_EQ(d, i, o)	INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, i)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT()		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define LD_MAP(d, fd) \
	INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)

/* Types in the BTF of btf_fd(). */
enum {
	BTF_VOID,
	BTF_U32,
	BTF_TIMER,
	BTF_VALUE,		/* holds a bpf_timer and nothing else */
	BTF_POINTER,
	BTF_PROTO,
	BTF_TARGET,		/* the function that a program is made of */
};

_Noreturn void fail(const char *what);
void set_jit(int on);
int btf_fd(void);
int create_map(union bpf_attr *attr);

/*
 * Load a program. more may be NULL, or have what the kind of program needs
 * besides its type and instructions. try_load() returns -1 when it is refused.
 */
int load(int type, const struct bpf_insn *insns, size_t n, const union bpf_attr *more);
int try_load(int type, const struct bpf_insn *insns, size_t n, const union bpf_attr *more);

/* Call a program for network packets so many times. */
void test_run(int prog, int rounds);

/* Both return what to close to detach the program. */
int attach_kprobe(int prog, const char *function);
int attach_tracepoint(int prog, const char *id_file);
int attach_tracing(int prog);

#endif
