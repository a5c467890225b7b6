// SPDX-License-Identifier: GPL-2.0
/*
 * usercopy ROUNDS: system calls whose copies from and to user space fault, in
 * memory that makes the fault allocate: a new mapping gets its anon_vma, a
 * sparse file a node of its page tree. Half of the rounds are in new processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE		65536	/* at least one, whatever the kernel's page size */
#define NODE		64	/* pages in a node of a page tree */

static int zero, file, fds[2];

static void fail(const char *what)
{
	fprintf(stderr, "usercopy: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Between pages without access, so that it has no anon_vma to share. */
static void *new_memory(void)
{
	static char *area;
	char *p;

	if (!area)
		area = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		fail("mmap");
	p = mmap(area + PAGE, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static void to_user(void)
{
	if (pread(file, new_memory(), 100, 0) != 100)
		fail("copy_to_user");
	if (read(zero, new_memory(), 100) != 100)
		fail("clear_user");
	if (prctl(PR_GET_PDEATHSIG, new_memory()))
		fail("put_user");
}

static void from_user(void)
{
	const size_t step = NODE * PAGE, size = 5 * step;
	int sparse = memfd_create("sparse", 0);
	char *p, to[100];

	if (sparse < 0 || ftruncate(sparse, size))
		fail("memfd");
	p = mmap(NULL, size, PROT_READ, MAP_SHARED, sparse, 0);
	if (p == MAP_FAILED)
		fail("mmap");
	/* To a pipe it is copied, to a file it is first looked at. */
	if (write(fds[1], p + step, sizeof(to)) != sizeof(to) ||
	    read(fds[0], to, sizeof(to)) != sizeof(to))
		fail("copy_from_user");
	if (pwrite(file, p + 2 * step, 100, 0) != 100)
		fail("copy_from_user to a file");
	if (ioctl(fds[0], FIONBIO, p + 3 * step))
		fail("get_user");
	if (access(p + 4 * step, F_OK) != -1 || errno != ENOENT)
		fail("strncpy_from_user");
	munmap(p, size);
	close(sparse);
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0, i, status;
	pid_t pid;

	if (rounds <= 0) {
		fprintf(stderr, "Usage: usercopy ROUNDS\n");
		return 2;
	}
	zero = open("/dev/zero", O_RDONLY);
	file = memfd_create("file", 0);
	if (zero < 0 || file < 0 || ftruncate(file, PAGE) || pipe(fds))
		fail("open");
	for (i = 0; i < rounds; i++) {
		to_user();
		from_user();
		pid = fork();
		if (pid < 0)
			fail("fork");
		if (!pid) {
			to_user();
			from_user();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			fail("child");
	}
	return 0;
}
