// SPDX-License-Identifier: GPL-2.0
/* Jobs that load modules and send what their KUnit suites reported. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define KUNIT	"/sys/kernel/debug/kunit"

/* The kernel's name of a module has no dashes; so have the files here. */
static char *canonical(char *name)
{
	char *p;

	for (p = name; *p; p++) {
		if (*p == '-')
			*p = '_';
	}
	return name;
}

static int load(char *name, const char *params);

/* Load what the module needs: its .modinfo has the string "depends=a,b". */
static int load_depends(int fd)
{
	static const char key[] = "\0depends=";
	char list[512], *next = list, *name;
	const char *p = NULL;
	struct stat st;
	char *map;
	int err = 0;

	if (fstat(fd, &st))
		return -1;
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	p = memmem(map, st.st_size, key, sizeof(key) - 1);
	snprintf(list, sizeof(list), "%s", p ? p + sizeof(key) - 1 : "");
	munmap(map, st.st_size);
	while (!err && (name = strsep(&next, ","))) {
		if (*name)
			err = load(name, "");
		if (err && errno == EEXIST)
			err = 0;
	}
	return err;
}

static int load(char *name, const char *params)
{
	char path[PATH_MAX];
	int fd, err, saved;

	snprintf(path, sizeof(path), "/modules/%s.ko", canonical(name));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	err = load_depends(fd);
	if (!err)
		err = syscall(SYS_finit_module, fd, params, 0);
	saved = errno;
	close(fd);
	errno = saved;
	return err;
}

int job_insmod(char *arg)
{
	char *params = strchr(arg, ',');

	if (params)
		*params++ = '\0';
	if (load(arg, params ? params : ""))
		return result_errno("insmod", arg);
	return 0;
}

int job_rmmod(char *arg)
{
	if (syscall(SYS_delete_module, canonical(arg), O_NONBLOCK))
		return result_errno("rmmod", arg);
	return 0;
}

struct suites {
	struct dirent **entry;
	int n;
};

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void list_suites(struct suites *s)
{
	s->n = scandir(KUNIT, &s->entry, visible, alphasort);
	if (s->n < 0)
		s->n = 0;
}

static int has_suite(const struct suites *s, const char *name)
{
	int i;

	for (i = 0; i < s->n; i++) {
		if (!strcmp(s->entry[i]->d_name, name))
			return 1;
	}
	return 0;
}

/* A suite passed when the last line of its results says so. */
static int suite_failed(const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	int failed = 1;

	if (!f)
		return 1;
	while (getline(&line, &size, f) > 0) {
		if (line[0] != ' ')
			failed = strncmp(line, "ok ", 3) != 0;
	}
	free(line);
	fclose(f);
	return failed;
}

static int send_suite(const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), KUNIT "/%s/results", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return result_errno("open", path);
	result_lines(fd, "ktap ");
	close(fd);
	return suite_failed(path);
}

/* Send the suites that a module brought; "all": those that are there already. */
int job_kunit(char *arg)
{
	struct suites before = {}, after;
	char kunit[] = "kunit";
	int i, sent = 0, rc = 0;

	if (strcmp(arg, "all")) {
		/* Where KUnit itself is a module, its default may be off. */
		if (load(kunit, "enable=1") && errno != EEXIST && errno != ENOENT)
			return result_errno("insmod", kunit);
		list_suites(&before);
		if (load(arg, ""))
			return result_errno("insmod", arg);
	}
	list_suites(&after);
	for (i = 0; i < after.n; i++) {
		if (has_suite(&before, after.entry[i]->d_name))
			continue;
		rc |= send_suite(after.entry[i]->d_name);
		sent++;
	}
	if (!sent) {
		result("error kunit %s: no suite ran (CONFIG_KUNIT_DEBUGFS and kunit.enable=1 are needed)", arg);
		rc = 1;
	}
	return rc;
}
