/* SPDX-License-Identifier: GPL-2.0 */
/* The guest's init: parts shared by its files. */
#ifndef GUEST_H
#define GUEST_H

#include <stddef.h>
#include <sys/types.h>

/* result.c: the result channel, a virtio port that the host reads. */
int result_open(void);
__attribute__((format(printf, 1, 2))) void result(const char *fmt, ...);
/* Report what failed with errno's text; returns the job's exit status, 1. */
int result_errno(const char *what, const char *name);
/* Send all that can be read from fd, each line with a prefix. */
void result_lines(int fd, const char *prefix);

/* module.c */
int job_insmod(char *arg);
int job_rmmod(char *arg);
int job_kunit(char *arg);

/* process.c */
int job_exec(char *arg);
int job_shell(char *arg);
/* Wait for one child, reaping all others; returns its status as a shell does. */
int wait_child(pid_t pid);

/* lkdtm.c */
int job_lkdtm(char *arg);
int job_stats(char *arg);

#endif
