// SPDX-License-Identifier: GPL-2.0
/*
 * churn KIND ROUNDS: system calls that allocate and free kernel memory, of one
 * kind; for what a shell cannot do, or not quickly.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "churn: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Page faults of user mode, in new mappings of memory and of a file. */
static void faults(void)
{
	const size_t size = 1 << 20;
	int fd = memfd_create("churn", 0);
	volatile char *anon, *shared;
	size_t i;

	if (fd < 0 || ftruncate(fd, size))
		fail("memfd");
	anon = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (anon == MAP_FAILED || shared == MAP_FAILED)
		fail("mmap");
	for (i = 0; i < size; i += 4096) {
		anon[i] = 1;
		shared[i] = 1;
	}
	munmap((void *)anon, size);
	munmap((void *)shared, size);
	close(fd);
}

static void pass(int to, int from)
{
	char buf[1000] = "";

	if (write(to, buf, sizeof(buf)) != sizeof(buf) || read(from, buf, sizeof(buf)) <= 0)
		fail("pass");
}

static void pipes(void)
{
	int fds[2];

	if (pipe(fds))
		fail("pipe");
	pass(fds[1], fds[0]);
	close(fds[0]);
	close(fds[1]);
}

static void sockets(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int pair[2], server, client, accepted;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		fail("socketpair");
	pass(pair[0], pair[1]);
	close(pair[0]);
	close(pair[1]);

	server = socket(AF_INET, SOCK_STREAM, 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (server < 0 || client < 0 || bind(server, (void *)&addr, len) ||
	    listen(server, 1) || getsockname(server, (void *)&addr, &len) ||
	    connect(client, (void *)&addr, len))
		fail("connect");
	accepted = accept(server, NULL, NULL);
	if (accepted < 0)
		fail("accept");
	pass(client, accepted);
	pass(accepted, client);
	close(client);
	close(accepted);
	close(server);
}

static void alarmed(int sig)
{
	(void)sig;
}

static void timers(void)
{
	const struct itimerspec timer = { .it_value.tv_nsec = 1000000 };
	const struct itimerval alarm = { .it_value.tv_usec = 1000 };
	const struct timespec pause = { .tv_nsec = 1000000 };
	sigset_t blocked, old;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t n;

	if (fd < 0 || timerfd_settime(fd, 0, &timer, NULL) ||
	    read(fd, &n, sizeof(n)) != sizeof(n))
		fail("timerfd");
	close(fd);

	/* Blocked until we wait for it: it may come at once. */
	signal(SIGALRM, alarmed);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGALRM);
	sigprocmask(SIG_BLOCK, &blocked, &old);
	if (setitimer(ITIMER_REAL, &alarm, NULL))
		fail("setitimer");
	sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, NULL);

	nanosleep(&pause, NULL);
}

/* What is freed later: by call_rcu(), by work, by work after a grace period. */
static void deferred(void)
{
	aio_context_t aio = 0;
	int fd = memfd_create("churn", 0), sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	pid_t pid;

	if (fd < 0 || sock < 0 || timer < 0)
		fail("open");
	close(fd);
	close(sock);
	close(timer);
	if (syscall(SYS_io_setup, 1, &aio) || syscall(SYS_io_destroy, aio))
		fail("aio");
	pid = fork();
	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		fail("fork");
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "faults", faults },
	{ "pipes", pipes },
	{ "sockets", sockets },
	{ "timers", timers },
	{ "deferred", deferred },
};

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0;
	size_t i;

	for (i = 0; rounds > 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		while (rounds--)
			kinds[i].run();
		return 0;
	}
	fprintf(stderr, "Usage: churn faults|pipes|sockets|timers|deferred ROUNDS\n");
	return 2;
}
