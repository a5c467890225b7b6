// SPDX-License-Identifier: GPL-2.0
/*
 * load.c: work that programs make the kernel do, a fixed amount each: common kinds
 * of work, then a system call or a few in a loop, then stressors of stress-ng.
 *
 *	load [-s MILLISECONDS] [ROW...]
 *
 * Waits as long before each row, so that what earlier ones left to be done later is
 * done. Prints for each row a line
 *
 *	NAME NANOSECONDS IDLE [least=NANOSECONDS] [COUNTER=CHANGE...]
 *
 * with the time by the guest's clock, how much of it the CPUs were idle, the shortest
 * time for one call in rows where that is of interest, and what changed of the counters
 * of the unwinder and the depot if the kernel has them. With QEMU's -icount a nanosecond
 * in which the CPU is not idle is an instruction. Or a line
 *
 *	skip NAME WHY
 *
 * where the guest does not have what the row needs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DIR_	"/tmp/load"
#define PAGE	4096
#define SKIPPED	2		/* exit statuses of a row */
#define FAILED	1

static const char * const counters[] = {
	"/sys/kernel/debug/kasan_unwinder/stats",
	"/sys/kernel/debug/stackdepot/stats",
};
#define NR_COUNTERS	(sizeof(counters) / sizeof(counters[0]))

static const char *row_name;
static long long least;

static _Noreturn void failed(const char *what)
{
	int skip = errno == ENOSYS || errno == EOPNOTSUPP || errno == EAFNOSUPPORT ||
		   errno == EPROTONOSUPPORT;

	dprintf(1, "%s %s %s: %s\n", skip ? "skip" : "error", row_name, what,
		strerror(errno));
	_exit(skip ? SKIPPED : FAILED);
}

/* The value of a call that must not fail; a macro, to name it. */
#define must(call) ({					\
	__auto_type value_ = (call);			\
	if ((long)value_ == -1)				\
		failed(#call);				\
	value_;						\
})

/* A transfer of exactly as many bytes. */
#define all_of(call, size) ({				\
	errno = EPIPE;					\
	if ((call) != (ssize_t)(size))			\
		failed(#call);				\
})

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* A child that begins at once, and what its status has to be. */
static pid_t start(void)
{
	return must(fork());
}

static void reap(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0));
	if (status)
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : FAILED);
}

static void make_file(const char *name)
{
	must(close(must(open(name, O_CREAT | O_WRONLY, 0600))));
}

/*
 * Common kinds of work.
 */
static void run_fork(int n)
{
	pid_t pid;

	while (n--) {
		pid = start();
		if (!pid)
			_exit(0);
		reap(pid);
	}
}

static void run_exec(int n)
{
	pid_t pid;

	while (n--) {
		pid = start();
		if (!pid) {
			execl("/proc/self/exe", "load", "--exit", NULL);
			failed("exec");
		}
		reap(pid);
	}
}

/* Children that echo what comes, byte by byte. */
static pid_t start_echo(int in, int out, int other_in, int other_out)
{
	pid_t pid = start();
	char c;

	if (pid)
		return pid;
	close(other_in);
	close(other_out);
	while (read(in, &c, 1) == 1)
		all_of(write(out, &c, 1), 1);
	_exit(0);
}

static void run_pipe(int n)
{
	int to[2], from[2];
	pid_t pid;
	char c = 0;

	must(pipe(to));
	must(pipe(from));
	pid = start_echo(to[0], from[1], to[1], from[0]);
	while (n--) {
		all_of(write(to[1], &c, 1), 1);
		all_of(read(from[0], &c, 1), 1);
	}
	close(to[1]);
	reap(pid);
}

static void run_socketpair(int n)
{
	pid_t pid;
	int s[2];
	char c = 0;

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	pid = start_echo(s[1], s[1], s[0], -1);
	close(s[1]);
	while (n--) {
		all_of(send(s[0], &c, 1, 0), 1);
		all_of(recv(s[0], &c, 1, 0), 1);
	}
	close(s[0]);
	reap(pid);
}

/* One connection after the other to our own socket, and 1000 bytes both ways. */
static void connections(int family, const struct sockaddr *addr, socklen_t len, int n)
{
	struct sockaddr_storage bound;
	int listener, client, server;
	char buf[1000];

	memset(buf, 'x', sizeof(buf));
	listener = must(socket(family, SOCK_STREAM, 0));
	must(bind(listener, addr, len));
	must(listen(listener, 4));
	len = sizeof(bound);
	must(getsockname(listener, (struct sockaddr *)&bound, &len));
	while (n--) {
		client = must(socket(family, SOCK_STREAM, 0));
		must(connect(client, (struct sockaddr *)&bound, len));
		server = must(accept(listener, NULL, NULL));
		all_of(send(client, buf, sizeof(buf), 0), sizeof(buf));
		all_of(recv(server, buf, sizeof(buf), MSG_WAITALL), sizeof(buf));
		all_of(send(server, buf, sizeof(buf), 0), sizeof(buf));
		all_of(recv(client, buf, sizeof(buf), MSG_WAITALL), sizeof(buf));
		close(client);
		all_of(recv(server, buf, 1, 0), 0);
		close(server);
	}
	close(listener);
}

static void run_unix(int n)
{
	/* Only the family: an abstract name is chosen for us. */
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	connections(AF_UNIX, (struct sockaddr *)&addr, sizeof(addr.sun_family), n);
}

static const struct sockaddr_in loopback = {
	.sin_family = AF_INET,
	.sin_addr.s_addr = 0x0100007f,	/* 127.0.0.1, in a little-endian word */
};

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int s = must(socket(AF_INET, SOCK_DGRAM, 0));

	must(ioctl(s, SIOCSIFFLAGS, &ifr));
	close(s);
}

static void run_tcp(int n)
{
	connections(AF_INET, (struct sockaddr *)&loopback, sizeof(loopback), n);
}

static void run_udp(int n)
{
	struct sockaddr_in bound;
	socklen_t len = sizeof(bound);
	int server, client;
	char buf[200] = "";

	server = must(socket(AF_INET, SOCK_DGRAM, 0));
	client = must(socket(AF_INET, SOCK_DGRAM, 0));
	must(bind(server, (struct sockaddr *)&loopback, sizeof(loopback)));
	must(getsockname(server, (struct sockaddr *)&bound, &len));
	while (n--) {
		all_of(sendto(client, buf, sizeof(buf), 0, (struct sockaddr *)&bound, len),
		       sizeof(buf));
		all_of(recv(server, buf, sizeof(buf), 0), sizeof(buf));
	}
	close(server);
	close(client);
}

static void run_files(int n)
{
	char buf[100] = "";
	int fd;

	while (n--) {
		must(mkdir("d", 0700));
		fd = must(open("d/a", O_CREAT | O_RDWR, 0600));
		all_of(write(fd, buf, sizeof(buf)), sizeof(buf));
		must(close(fd));
		must(rename("d/a", "d/b"));
		must(unlink("d/b"));
		must(rmdir("d"));
	}
}

/* What ps and the like read, of all processes. */
static void run_proc(int n)
{
	static const char * const files[] = {
		"stat", "status", "statm", "cmdline", "comm", "maps", "limits",
		"cgroup", "mounts", "io", "oom_score", "wchan",
	};
	char path[300], buf[PAGE];
	struct dirent *d;
	size_t i;
	DIR *dir;
	int fd;

	while (n--) {
		dir = opendir("/proc");
		if (!dir)
			failed("/proc");
		while ((d = readdir(dir))) {
			if (d->d_name[0] < '1' || d->d_name[0] > '9')
				continue;
			for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
				snprintf(path, sizeof(path), "/proc/%s/%s", d->d_name,
					 files[i]);
				fd = open(path, O_RDONLY);
				if (fd < 0)
					continue;
				if (read(fd, buf, sizeof(buf)) < 0 && errno != EINVAL)
					failed(path);
				close(fd);
			}
		}
		closedir(dir);
	}
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path, (void)st, (void)type, (void)ftw;
	return 0;
}

/* Not into other file systems: debugfs and tracefs differ with the kernel. */
static void run_find(int n)
{
	while (n--) {
		must(nftw("/proc/self", visit, 16, FTW_PHYS | FTW_MOUNT));
		must(nftw("/sys/kernel", visit, 16, FTW_PHYS | FTW_MOUNT));
		must(nftw("/sys/devices/system", visit, 16, FTW_PHYS | FTW_MOUNT));
	}
}

static void touch_all(char *p, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += PAGE)
		((volatile char *)p)[i] = 1;
}

static void run_faults(int n)
{
	const size_t size = 128 * PAGE;
	char *p;

	while (n--) {
		p = must(mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		touch_all(p, size);
		must(munmap(p, size));
	}
}

/* As hackbench: each of 5 processes sends to each of 5 others, 100 bytes a time. */
static void run_hackbench(int n)
{
	enum { PEERS = 5, SIZE = 100 };
	int s[PEERS][2], i, k, left;
	pid_t pids[2 * PEERS];
	char buf[SIZE] = "";

	for (i = 0; i < PEERS; i++)
		must(socketpair(AF_UNIX, SOCK_STREAM, 0, s[i]));
	for (i = 0; i < PEERS; i++) {
		pids[i] = start();
		if (pids[i])
			continue;
		for (left = n * PEERS; left; left--)
			all_of(recv(s[i][0], buf, SIZE, MSG_WAITALL), SIZE);
		_exit(0);
	}
	for (i = 0; i < PEERS; i++) {
		pids[PEERS + i] = start();
		if (pids[PEERS + i])
			continue;
		for (left = n; left; left--) {
			for (k = 0; k < PEERS; k++)
				all_of(send(s[k][1], buf, SIZE, 0), SIZE);
		}
		_exit(0);
	}
	for (i = 0; i < 2 * PEERS; i++)
		reap(pids[i]);
}

/*
 * Stressors: processes, threads, signals.
 */
static void *thread(void *arg)
{
	return arg;
}

static void run_threads(int n)
{
	pthread_t id;

	while (n--) {
		errno = pthread_create(&id, NULL, thread, NULL);
		if (errno)
			failed("pthread_create");
		pthread_join(id, NULL);
	}
}

static void run_vfork(int n)
{
	pid_t pid;

	while (n--) {
		pid = vfork();
		if (!pid)
			_exit(0);
		reap(must(pid));
	}
}

static void block(int sig, sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, sig);
	must(sigprocmask(SIG_BLOCK, set, NULL));
}

static void run_sigqueue(int n)
{
	union sigval value = {};
	sigset_t set;

	block(SIGRTMIN, &set);
	while (n--) {
		must(sigqueue(getpid(), SIGRTMIN, value));
		must(sigwaitinfo(&set, NULL));
	}
}

static void handler(int sig)
{
	(void)sig;
}

static void run_signal(int n)
{
	struct sigaction sa = { .sa_handler = handler };

	must(sigaction(SIGUSR1, &sa, NULL));
	while (n--)
		must(kill(getpid(), SIGUSR1));
}

static void run_signalfd(int n)
{
	struct signalfd_siginfo info;
	sigset_t set;
	int fd;

	block(SIGUSR1, &set);
	while (n--) {
		fd = must(signalfd(-1, &set, 0));
		must(kill(getpid(), SIGUSR1));
		all_of(read(fd, &info, sizeof(info)), sizeof(info));
		close(fd);
	}
}

static void run_timer(int n)
{
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	struct itimerspec when = { .it_value.tv_sec = 1000 };
	timer_t id;

	while (n--) {
		must(timer_create(CLOCK_MONOTONIC, &event, &id));
		must(timer_settime(id, 0, &when, NULL));
		must(timer_delete(id));
	}
}

static void run_pidfd(int n)
{
	while (n--)
		must(close(must(syscall(SYS_pidfd_open, getpid(), 0))));
}

static void futex(int *word, int op, int value)
{
	if (syscall(SYS_futex, word, op, value, NULL, NULL, 0) < 0 && errno != EAGAIN)
		failed("futex");
}

/* Two processes that wait for each other. */
static void run_futex(int n)
{
	int *word = must(mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	pid_t pid = start();
	int me = !pid;

	while (n--) {
		while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != me)
			futex(word, FUTEX_WAIT, !me);
		__atomic_store_n(word, !me, __ATOMIC_RELEASE);
		futex(word, FUTEX_WAKE, 1);
	}
	if (!pid)
		_exit(0);
	reap(pid);
	must(munmap(word, PAGE));
}

/*
 * Memory.
 */
static char *map(size_t pages)
{
	return must(mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void run_mmap(int n)
{
	while (n--)
		must(munmap(map(16), 16 * PAGE));
}

static void run_mprotect(int n)
{
	char *p = map(16);

	while (n--) {
		must(mprotect(p + 4 * PAGE, 4 * PAGE, PROT_NONE));
		must(mprotect(p + 4 * PAGE, 4 * PAGE, PROT_READ | PROT_WRITE));
	}
	must(munmap(p, 16 * PAGE));
}

static void run_mremap(int n)
{
	char *p;

	while (n--) {
		p = map(4);
		p[0] = 1;
		p = must(mremap(p, 4 * PAGE, 64 * PAGE, MREMAP_MAYMOVE));
		must(munmap(p, 64 * PAGE));
	}
}

static void run_madvise(int n)
{
	char *p = map(16);

	while (n--) {
		touch_all(p, 16 * PAGE);
		must(madvise(p, 16 * PAGE, MADV_DONTNEED));
	}
	must(munmap(p, 16 * PAGE));
}

static void run_memfd(int n)
{
	char *p;
	int fd;

	while (n--) {
		fd = must(memfd_create("load", 0));
		must(ftruncate(fd, 4 * PAGE));
		p = must(mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
		touch_all(p, 4 * PAGE);
		must(munmap(p, 4 * PAGE));
		must(close(fd));
	}
}

static void run_shm(int n)
{
	char *p;
	int id;

	while (n--) {
		id = must(shmget(IPC_PRIVATE, 4 * PAGE, IPC_CREAT | 0600));
		p = must(shmat(id, NULL, 0));
		touch_all(p, 4 * PAGE);
		must(shmdt(p));
		must(shmctl(id, IPC_RMID, NULL));
	}
}

/*
 * Messages and events.
 */
static void run_msgq(int n)
{
	struct { long type; char text[64]; } msg = { .type = 1 };
	int id = must(msgget(IPC_PRIVATE, IPC_CREAT | 0600));

	while (n--) {
		must(msgsnd(id, &msg, sizeof(msg.text), 0));
		all_of(msgrcv(id, &msg, sizeof(msg.text), 0, 0), sizeof(msg.text));
	}
	must(msgctl(id, IPC_RMID, NULL));
}

static void run_mqueue(int n)
{
	struct mq_attr attr = { .mq_maxmsg = 8, .mq_msgsize = 64 };
	char msg[64] = "";
	mqd_t q;

	while (n--) {
		q = must(mq_open("/load", O_CREAT | O_RDWR, 0600, &attr));
		must(mq_send(q, msg, sizeof(msg), 0));
		all_of(mq_receive(q, msg, sizeof(msg), NULL), sizeof(msg));
		must(mq_close(q));
		must(mq_unlink("/load"));
	}
}

static void run_sem(int n)
{
	struct sembuf op = { .sem_flg = SEM_UNDO };
	int id;

	while (n--) {
		id = must(semget(IPC_PRIVATE, 4, IPC_CREAT | 0600));
		op.sem_op = 1;
		must(semop(id, &op, 1));
		op.sem_op = -1;
		must(semop(id, &op, 1));
		must(semctl(id, 0, IPC_RMID));
	}
}

static void run_eventfd(int n)
{
	unsigned long one = 1;
	int fd;

	while (n--) {
		fd = must(eventfd(0, 0));
		all_of(write(fd, &one, sizeof(one)), sizeof(one));
		all_of(read(fd, &one, sizeof(one)), sizeof(one));
		must(close(fd));
	}
}

static void run_timerfd(int n)
{
	struct itimerspec when = { .it_value.tv_sec = 1000 };
	int fd;

	while (n--) {
		fd = must(timerfd_create(CLOCK_MONOTONIC, 0));
		must(timerfd_settime(fd, 0, &when, NULL));
		must(close(fd));
	}
}

static void run_epoll(int n)
{
	struct epoll_event event = { .events = EPOLLIN };
	int e, fd;

	while (n--) {
		e = must(epoll_create1(0));
		fd = must(eventfd(1, 0));
		must(epoll_ctl(e, EPOLL_CTL_ADD, fd, &event));
		all_of(epoll_wait(e, &event, 1, 0), 1);
		must(epoll_ctl(e, EPOLL_CTL_DEL, fd, NULL));
		must(close(fd));
		must(close(e));
	}
}

/* So many descriptors that they do not fit on the stack. */
static void run_poll(int n)
{
	struct pollfd fds[100];
	int fd = must(eventfd(1, 0));
	size_t i;

	for (i = 0; i < 100; i++)
		fds[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
	while (n--)
		all_of(poll(fds, 100, 0), 100);
	must(close(fd));
}

static void run_netlink(int n)
{
	struct {
		struct nlmsghdr header;
		struct rtgenmsg message;
	} request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETADDR,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
	};
	char buf[4 * PAGE];
	int s;

	while (n--) {
		s = must(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
		all_of(send(s, &request, sizeof(request), 0), sizeof(request));
		do
			must(recv(s, buf, sizeof(buf), 0));
		while (((struct nlmsghdr *)buf)->nlmsg_type != NLMSG_DONE);
		must(close(s));
	}
}

/* Descriptors that are passed on. */
static void run_scm(int n)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char c = 0;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
	int s[2], fd, got;

	must(socketpair(AF_UNIX, SOCK_DGRAM, 0, s));
	fd = must(open("/dev/null", O_RDONLY));
	while (n--) {
		msg.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&msg) = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &fd, sizeof(fd));
		all_of(sendmsg(s[0], &msg, 0), 1);
		all_of(recvmsg(s[1], &msg, 0), 1);
		memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(got));
		must(close(got));
	}
}

/*
 * Files.
 */
static void run_open(int n)
{
	while (n--)
		must(close(must(open("/dev/null", O_RDONLY))));
}

static void run_dup(int n)
{
	while (n--)
		must(close(must(dup(0))));
}

static void run_pipes(int n)
{
	char c = 0;
	int fds[2];

	while (n--) {
		must(pipe(fds));
		all_of(write(fds[1], &c, 1), 1);
		all_of(read(fds[0], &c, 1), 1);
		must(close(fds[0]));
		must(close(fds[1]));
	}
}

static void run_create(int n)
{
	while (n--) {
		make_file("f");
		must(unlink("f"));
	}
}

static void run_symlink(int n)
{
	char buf[100];

	while (n--) {
		must(symlink("/proc/self/status", "l"));
		must(readlink("l", buf, sizeof(buf)));
		must(unlink("l"));
	}
}

static void run_link(int n)
{
	make_file("from");
	while (n--) {
		must(link("from", "to"));
		must(unlink("to"));
	}
	must(unlink("from"));
}

static void run_rename(int n)
{
	make_file("a");
	while (n--) {
		must(rename("a", "b"));
		must(rename("b", "a"));
	}
	must(unlink("a"));
}

static void run_stat(int n)
{
	struct stat st;

	make_file("s");
	while (n--) {
		must(stat("s", &st));
		must(access(DIR_ "/s", R_OK));
		access("no such file", R_OK);
	}
	must(unlink("s"));
}

static void run_getdents(int n)
{
	char name[20];
	DIR *dir;
	int i;

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "e%d", i);
		make_file(name);
	}
	while (n--) {
		dir = opendir(".");
		if (!dir)
			failed("opendir");
		while (readdir(dir))
			;
		closedir(dir);
	}
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "e%d", i);
		must(unlink(name));
	}
}

/* A tree of directories, eight deep. */
static void run_mkdir(int n)
{
	enum { DEPTH = 8 };
	char path[2 * DEPTH + 1];
	int i;

	for (i = 0; i < DEPTH; i++)
		memcpy(path + 2 * i, "d/", 2);
	while (n--) {
		for (i = 1; i <= DEPTH; i++) {
			path[2 * i - 1] = '\0';
			must(mkdir(path, 0700));
			path[2 * i - 1] = '/';
		}
		for (i = DEPTH; i; i--) {
			path[2 * i - 1] = '\0';
			must(rmdir(path));
		}
		for (i = 1; i <= DEPTH; i++)
			path[2 * i - 1] = '/';
	}
}

static void run_truncate(int n)
{
	int fd = must(open("t", O_CREAT | O_RDWR, 0600));

	while (n--) {
		all_of(pwrite(fd, "x", 1, 16 * PAGE), 1);
		must(ftruncate(fd, 0));
	}
	must(close(fd));
	must(unlink("t"));
}

static void run_lock(int n)
{
	struct flock lock = { .l_whence = SEEK_SET };
	int fd = must(open("k", O_CREAT | O_RDWR, 0600));

	while (n--) {
		lock.l_type = F_WRLCK;
		must(fcntl(fd, F_SETLK, &lock));
		lock.l_type = F_UNLCK;
		must(fcntl(fd, F_SETLK, &lock));
		must(flock(fd, LOCK_EX));
		must(flock(fd, LOCK_UN));
	}
	must(close(fd));
	must(unlink("k"));
}

static void run_sendfile(int n)
{
	char buf[PAGE] = "";
	int in, out;
	off_t at;

	in = must(open("in", O_CREAT | O_RDWR, 0600));
	out = must(open("out", O_CREAT | O_RDWR, 0600));
	all_of(write(in, buf, sizeof(buf)), sizeof(buf));
	while (n--) {
		at = 0;
		must(lseek(out, 0, SEEK_SET));
		all_of(sendfile(out, in, &at, sizeof(buf)), sizeof(buf));
	}
	must(close(in));
	must(close(out));
	must(unlink("in"));
	must(unlink("out"));
}

/*
 * What an exception from EL1 costs: the same call, which writes one number to user
 * space, without and with a fault there. No trace is saved.
 */
static void getcpu_to(unsigned int *cpu, int n, int error)
{
	long long took;

	errno = 0;
	while (n--) {
		took = now();
		syscall(SYS_getcpu, cpu, NULL, NULL);
		took = now() - took;
		if (errno != error)
			failed("getcpu");
		/* No tick of the timer is in the shortest. */
		if (!least || took < least)
			least = took;
	}
}

static void run_getcpu(int n)
{
	unsigned int cpu;

	getcpu_to(&cpu, n, 0);
}

static void run_getcpu_fault(int n)
{
	char *p = map(1);

	must(munmap(p, PAGE));
	getcpu_to((unsigned int *)p, n, EFAULT);
}

static void run_program(const char *path, char *const argv[])
{
	pid_t pid;

	if (access(path, X_OK)) {
		errno = ENOSYS;
		failed(path);
	}
	pid = start();
	if (!pid) {
		execv(path, argv);
		failed("exec");
	}
	reap(pid);
}

/* Faults in copies from and to user space, which allocate. */
static void run_usercopy(int n)
{
	char rounds[20];

	snprintf(rounds, sizeof(rounds), "%d", n);
	run_program("/bin/usercopy", (char *[]){ "usercopy", rounds, NULL });
}

/*
 * n operations of the stressor that the row is named after, with the same random
 * numbers each time. The program's start counts, too.
 */
static void run_stress(int n)
{
	const char *stressor = strchr(row_name, '/') + 1;
	char stress[40], stress_ops[40], ops[20];

	snprintf(stress, sizeof(stress), "--%s", stressor);
	snprintf(stress_ops, sizeof(stress_ops), "--%s-ops", stressor);
	snprintf(ops, sizeof(ops), "%d", n);
	run_program("/bin/stress-ng", (char *[]){
		"stress-ng", "-q", "--no-rand-seed", "--timeout", "0",
		"--temp-path", DIR_, stress, "1", stress_ops, ops, NULL });
}

/* How often: about 75 million instructions each, with KASAN; twice that of stress-ng. */
static const struct row {
	const char *name;
	void (*run)(int n);
	int n;
} rows[] = {
	{ "fork+exit", run_fork, 180 },
	{ "fork+exec", run_exec, 60 },
	{ "pipe", run_pipe, 3000 },
	{ "socketpair", run_socketpair, 1700 },
	{ "unix", run_unix, 950 },
	{ "tcp", run_tcp, 240 },
	{ "udp", run_udp, 3600 },
	{ "files", run_files, 500 },
	{ "proc", run_proc, 4 },
	{ "find", run_find, 2 },
	{ "faults", run_faults, 80 },
	{ "hackbench", run_hackbench, 300 },

	{ "threads", run_threads, 750 },
	{ "vfork", run_vfork, 650 },
	{ "sigqueue", run_sigqueue, 11000 },
	{ "signal", run_signal, 5500 },
	{ "signalfd", run_signalfd, 4200 },
	{ "timer", run_timer, 7500 },
	{ "pidfd", run_pidfd, 4000 },
	{ "futex", run_futex, 3400 },

	{ "mmap", run_mmap, 2600 },
	{ "mprotect", run_mprotect, 1200 },
	{ "mremap", run_mremap, 1000 },
	{ "madvise", run_madvise, 600 },
	{ "memfd", run_memfd, 600 },
	{ "shm", run_shm, 500 },

	{ "msgq", run_msgq, 16000 },
	{ "mqueue", run_mqueue, 1700 },
	{ "sem", run_sem, 3400 },
	{ "eventfd", run_eventfd, 5000 },
	{ "timerfd", run_timerfd, 4600 },
	{ "epoll", run_epoll, 1900 },
	{ "poll", run_poll, 2000 },
	{ "netlink", run_netlink, 1100 },
	{ "scm", run_scm, 3600 },

	{ "open", run_open, 5000 },
	{ "dup", run_dup, 34000 },
	{ "pipes", run_pipes, 2200 },
	{ "create", run_create, 1400 },
	{ "symlink", run_symlink, 1300 },
	{ "link", run_link, 1500 },
	{ "rename", run_rename, 900 },
	{ "stat", run_stat, 2200 },
	{ "getdents", run_getdents, 380 },
	{ "mkdir", run_mkdir, 180 },
	{ "truncate", run_truncate, 2800 },
	{ "lock", run_lock, 4400 },
	{ "sendfile", run_sendfile, 6500 },

	{ "usercopy", run_usercopy, 100 },
	{ "getcpu", run_getcpu, 5000 },
	{ "getcpu-fault", run_getcpu_fault, 5000 },

	{ "stress-ng/fork", run_stress, 40 },
	{ "stress-ng/clone", run_stress, 30 },
	{ "stress-ng/pthread", run_stress, 120 },
	{ "stress-ng/fault", run_stress, 400 },
	{ "stress-ng/sockpair", run_stress, 80 },
	{ "stress-ng/udp", run_stress, 3000 },
	{ "stress-ng/pipe", run_stress, 6000 },
	{ "stress-ng/msg", run_stress, 10000 },
	{ "stress-ng/sem-sysv", run_stress, 10000 },
	{ "stress-ng/sigq", run_stress, 8000 },
	{ "stress-ng/dentry", run_stress, 100 },
	{ "stress-ng/dir", run_stress, 500 },
	{ "stress-ng/rename", run_stress, 500 },
	{ "stress-ng/getdent", run_stress, 1000 },
	{ "stress-ng/open", run_stress, 500 },
};

#define NR_ROWS	(sizeof(rows) / sizeof(rows[0]))

/* How long the CPUs have been idle, in nanoseconds; 0 if that is not known. */
static long long idle(void)
{
	FILE *f = fopen("/proc/timer_list", "r");
	long long sum = 0, ns;
	char line[200];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " .idle_sleeptime : %lld", &ns) == 1 ||
		    sscanf(line, " .iowait_sleeptime: %lld", &ns) == 1)
			sum += ns;
	}
	if (f)
		fclose(f);
	return sum;
}

static void read_counters(const int *fds, char *buf, size_t size)
{
	ssize_t got;
	size_t i;

	*buf = '\0';
	for (i = 0; i < NR_COUNTERS; i++) {
		got = pread(fds[i], buf, size - 1, 0);
		if (got <= 0)
			continue;
		buf += got;
		size -= got;
		*buf = '\0';
	}
}

/* Both list the same counters in the same order. */
static void print_changes(char *before, char *after)
{
	char *name, *a, *b, *x = before, *y = after;

	while ((a = strsep(&x, "\n")) && (b = strsep(&y, "\n"))) {
		name = strsep(&b, ":");
		strsep(&a, ":");
		if (a && b && strcmp(a, b))
			printf(" %s=%ld", name, atol(b) - atol(a));
	}
}

static _Noreturn void run(const struct row *row)
{
	long long begin, end, idle_before, idle_time;
	static char before[PAGE], after[PAGE];
	int fds[NR_COUNTERS];
	size_t i;

	for (i = 0; i < NR_COUNTERS; i++)
		fds[i] = open(counters[i], O_RDONLY);
	row->run(1);
	usleep(20000);
	/* Twice, for the memory that a seq_file allocates. */
	read_counters(fds, before, sizeof(before));
	idle_before = idle();
	read_counters(fds, before, sizeof(before));
	begin = now();
	row->run(row->n);
	end = now();
	read_counters(fds, after, sizeof(after));
	idle_time = idle() - idle_before;
	printf("%s %lld %lld", row->name, end - begin, idle_time);
	if (least)
		printf(" least=%lld", least);
	print_changes(before, after);
	putchar('\n');
	fflush(stdout);
	_exit(0);
}

static int wanted(const char *name, char **names)
{
	if (!*names)
		return 1;
	for (; *names; names++) {
		if (!strcmp(name, *names))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int opt, status, settle = 20, bad = 0;
	const struct row *row;
	pid_t pid;

	if (argc == 2 && !strcmp(argv[1], "--exit"))
		return 0;
	while ((opt = getopt(argc, argv, "s:")) != -1) {
		if (opt != 's')
			return FAILED;
		settle = atoi(optarg);
	}
	row_name = "load";
	must(mkdir(DIR_, 0700));
	must(chdir(DIR_));
	loopback_up();
	for (row = rows; row < rows + NR_ROWS; row++) {
		row_name = row->name;
		if (!wanted(row->name, argv + optind))
			continue;
		usleep(settle * 1000);
		pid = fork();
		if (!pid)
			run(row);
		must(waitpid(must(pid), &status, 0));
		if (status && !(WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)) {
			printf("error %s: status %#x\n", row->name, status);
			fflush(stdout);
			bad = 1;
		}
	}
	return bad;
}
