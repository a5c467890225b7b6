// SPDX-License-Identifier: GPL-2.0
/*
 * sample SECONDS: sample what all CPUs do, user space and kernel, with call chains, as
 * "perf record -a -g" does. Begins anew ten times a second, as CPUs come and go, and
 * prints how much there was in samples.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPUS	8
#define PAGES	8	/* of the ring buffer, a power of two */

struct sampler {
	int fd;
	struct perf_event_mmap_page *ring;
};

static void fail(const char *what)
{
	fprintf(stderr, "sample: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Returns 0 when there is no such CPU now. */
static int sampler_start(struct sampler *s, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN,
		.sample_period = 1000000,
	};

	s->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0 && (errno == ENODEV || errno == EINVAL))
		return 0;
	if (s->fd < 0)
		fail("perf_event_open");
	/* Not writable: the oldest are overwritten, as nobody reads them. */
	s->ring = mmap(NULL, (1 + PAGES) * getpagesize(), PROT_READ, MAP_SHARED, s->fd, 0);
	if (s->ring == MAP_FAILED)
		fail("mmap");
	return 1;
}

/* Returns how many bytes of samples there were. */
static unsigned long sampler_stop(struct sampler *s)
{
	unsigned long bytes = s->ring->data_head;

	munmap(s->ring, (1 + PAGES) * getpagesize());
	close(s->fd);
	return bytes;
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	int seconds = argc == 2 ? atoi(argv[1]) : 0;
	time_t end = time(NULL) + seconds;
	struct sampler samplers[CPUS];
	unsigned long bytes = 0;
	int rounds = 0, cpu, n;

	if (seconds <= 0) {
		fprintf(stderr, "Usage: sample SECONDS\n");
		return 2;
	}
	while (time(NULL) < end) {
		for (cpu = 0, n = 0; cpu < CPUS; cpu++)
			n += sampler_start(&samplers[n], cpu);
		nanosleep(&pause, NULL);
		while (n)
			bytes += sampler_stop(&samplers[--n]);
		rounds++;
	}
	printf("sampled %lu KiB in %d rounds\n", bytes / 1024, rounds);
	return 0;
}
