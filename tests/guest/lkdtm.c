// SPDX-License-Identifier: GPL-2.0
/* Provoke a bug through LKDTM, and watch the unwinder's counters around it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

#define DIRECT	"/sys/kernel/debug/provoke-crash/DIRECT"
#define STATS	"/sys/kernel/debug/kasan_unwinder/stats"
#define MAX	64

struct stats {
	int n;
	struct {
		char name[48];
		long long value;
	} counter[MAX];
};

/* Read the lines "name: number"; lines with another value are not counters. */
static void read_stats(struct stats *s)
{
	FILE *f = fopen(STATS, "r");
	char line[128];

	s->n = 0;
	if (!f)
		return;
	while (s->n < MAX && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%47[^:]: %lld", s->counter[s->n].name,
			   &s->counter[s->n].value) == 2)
			s->n++;
	}
	fclose(f);
}

static void send_change(const struct stats *before, const struct stats *after)
{
	long long old;
	int i, j;

	for (i = 0; i < after->n; i++) {
		old = 0;
		for (j = 0; j < before->n; j++) {
			if (!strcmp(before->counter[j].name, after->counter[i].name))
				old = before->counter[j].value;
		}
		result("change %s: %lld", after->counter[i].name,
		       after->counter[i].value - old);
	}
	if (!after->n)
		result("change none");
}

int job_stats(char *arg)
{
	int fd = open(STATS, O_RDONLY | O_CLOEXEC);

	(void)arg;
	if (fd < 0) {
		result("stats none");
		return 0;
	}
	result_lines(fd, "stats ");
	close(fd);
	return 0;
}

/* In a child: an oops kills the process that it happens in. */
static int provoke(const char *name)
{
	int fd = open(DIRECT, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return result_errno("open", DIRECT);
	if (write(fd, name, strlen(name)) < 0)
		return result_errno("lkdtm", name);
	return 0;
}

int job_lkdtm(char *arg)
{
	static struct stats before, after;
	pid_t pid;
	int rc;

	read_stats(&before);
	pid = fork();
	if (pid < 0)
		return result_errno("fork", "lkdtm");
	if (!pid)
		_exit(provoke(arg));
	rc = wait_child(pid);
	read_stats(&after);
	send_change(&before, &after);
	return rc;
}
