// SPDX-License-Identifier: GPL-2.0
/*
 * init of the test guest: mount what the jobs need, open the result channel,
 * run the jobs named on the kernel's command line after "--", power off.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

static const struct {
	const char *type, *dir;
} mounts[] = {
	{ "devtmpfs", "/dev" },
	{ "proc", "/proc" },
	{ "sysfs", "/sys" },
	{ "debugfs", "/sys/kernel/debug" },
	{ "tracefs", "/sys/kernel/tracing" },
	{ "tmpfs", "/tmp" },
};

static int job_sleep(char *arg)
{
	char *end;
	long seconds = strtol(arg, &end, 10);

	if (end == arg || *end || seconds < 0) {
		result("error sleep %s: not a number of seconds", arg);
		return 1;
	}
	sleep(seconds);
	return 0;
}

static _Noreturn void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

/* Without "done": the host must notice that the guest ended early. */
static int job_poweroff(char *arg)
{
	(void)arg;
	power_off();
}

static const struct {
	const char *name;
	int (*run)(char *arg);
	int wants_arg;
} jobs[] = {
	{ "exec", job_exec, 1 },
	{ "insmod", job_insmod, 1 },
	{ "kunit", job_kunit, 1 },
	{ "lkdtm", job_lkdtm, 1 },
	{ "poweroff", job_poweroff, 0 },
	{ "rmmod", job_rmmod, 1 },
	{ "shell", job_shell, 0 },
	{ "sleep", job_sleep, 1 },
	{ "stats", job_stats, 0 },
};

static int dispatch(const char *job)
{
	char copy[2048], *arg;
	size_t i;

	snprintf(copy, sizeof(copy), "%s", job);
	arg = strchr(copy, '=');
	if (arg)
		*arg++ = '\0';
	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		if (strcmp(copy, jobs[i].name))
			continue;
		if (jobs[i].wants_arg != (arg && *arg)) {
			result("error %s %s argument", copy,
			       arg && *arg ? "takes no" : "needs an");
			return 1;
		}
		return jobs[i].run(arg);
	}
	result("error unknown job %s", copy);
	return 1;
}

static void report_taint(void)
{
	FILE *f = fopen("/proc/sys/kernel/tainted", "r");
	unsigned long tainted;

	if (f && fscanf(f, "%lu", &tainted) == 1)
		result("tainted %lu", tainted);
	else
		result_errno("open", "/proc/sys/kernel/tainted");
	if (f)
		fclose(f);
}

/* How long the kernel took until here, which a silent console does not tell. */
static void report_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	result("clock %lld", ts.tv_sec * 1000000000LL + ts.tv_nsec);
}

int main(int argc, char **argv)
{
	size_t i;
	int n;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		if (mount(mounts[i].type, mounts[i].dir, mounts[i].type, 0, NULL) &&
		    errno != EBUSY)
			fprintf(stderr, "init: cannot mount %s on %s: %s\n",
				mounts[i].type, mounts[i].dir, strerror(errno));
	}
	setenv("PATH", "/bin", 1);

	if (result_open()) {
		fprintf(stderr, "init: no virtio port for results (does the kernel have VIRTIO_MMIO and VIRTIO_CONSOLE built in?)\n");
		power_off();
	}
	report_clock();
	for (n = 1; n < argc; n++) {
		/* UEFI firmware adds this behind our jobs, 6.1 passes that on. */
		if (!strncmp(argv[n], "initrd=", 7) || !strcmp(argv[n], "nokaslr"))
			continue;
		result("begin %s", argv[n]);
		result("end %s %d", argv[n], dispatch(argv[n]));
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	report_taint();
	result("done");
	power_off();
}
