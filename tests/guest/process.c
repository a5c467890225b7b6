// SPDX-License-Identifier: GPL-2.0
/* Jobs that run programs: exec and shell. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define BUSYBOX	"/bin/busybox"
#define MAXARGS	64

int wait_child(pid_t pid)
{
	pid_t got;
	int status;

	for (;;) {
		got = waitpid(-1, &status, 0);
		if (got < 0 && errno != EINTR)
			return 1;
		if (got == pid)
			break;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Only when a program may need them: a boot that runs none is shorter. */
static void install_applets(void)
{
	static int done;
	pid_t pid;

	if (done++)
		return;
	pid = fork();
	if (!pid) {
		execl(BUSYBOX, "busybox", "--install", "-s", "/bin", NULL);
		_exit(127);
	}
	if (pid > 0)
		wait_child(pid);
}

/* arg: the program and its arguments, separated by commas. */
static void exec_child(char *arg, int out)
{
	char *argv[MAXARGS + 1];
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), n;

	for (n = 0; arg && n < MAXARGS; n++)
		argv[n] = strsep(&arg, ",");
	argv[n] = NULL;
	if (arg) {
		result("error exec %s: more than %d arguments", argv[0], MAXARGS);
		_exit(127);
	}
	dup2(null, 0);
	dup2(out, 1);
	dup2(out, 2);
	execv(argv[0], argv);
	result_errno("exec", argv[0]);
	_exit(127);
}

int job_exec(char *arg)
{
	int fds[2], rc;
	pid_t pid;

	install_applets();
	if (pipe2(fds, O_CLOEXEC))
		return result_errno("pipe", "exec");
	pid = fork();
	if (!pid)
		exec_child(arg, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return result_errno("fork", "exec");
	}
	result_lines(fds[0], "out ");
	close(fds[0]);
	rc = wait_child(pid);
	result("rc %d", rc);
	return rc;
}

/*
 * /dev/console cannot be a controlling terminal, and without one there is no
 * job control: open the terminal behind it, the last one that sysfs names.
 */
static int open_terminal(void)
{
	char names[128], path[160], *name;
	ssize_t n = -1;
	int fd = open("/sys/class/tty/console/active", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, names, sizeof(names) - 1);
		close(fd);
	}
	names[n > 0 ? n : 0] = '\0';
	names[strcspn(names, "\n")] = '\0';
	name = strrchr(names, ' ');
	snprintf(path, sizeof(path), "/dev/%s", name ? name + 1 : names);
	return open(path, O_RDWR);
}

/* The host passes its terminal's size on the kernel's command line. */
static void set_size(int tty)
{
	const char *lines = getenv("LINES"), *columns = getenv("COLUMNS");
	struct winsize ws = {};

	if (!lines || !columns)
		return;
	ws.ws_row = atoi(lines);
	ws.ws_col = atoi(columns);
	ioctl(tty, TIOCSWINSZ, &ws);
}

static void shell_child(void)
{
	int tty;

	setsid();
	tty = open_terminal();
	if (tty >= 0) {
		set_size(tty);
		ioctl(tty, TIOCSCTTY, 0);
		dup2(tty, 0);
		dup2(tty, 1);
		dup2(tty, 2);
	}
	execl(BUSYBOX, "sh", "-i", NULL);
	result_errno("exec", BUSYBOX);
	_exit(127);
}

int job_shell(char *arg)
{
	pid_t pid;
	int rc;

	(void)arg;
	install_applets();
	pid = fork();
	if (pid < 0)
		return result_errno("fork", "shell");
	if (!pid)
		shell_child();
	rc = wait_child(pid);
	/* A shell ends with the status of its last command: no failure. */
	return rc == 127 ? rc : 0;
}
