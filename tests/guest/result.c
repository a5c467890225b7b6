// SPDX-License-Identifier: GPL-2.0
/*
 * The result channel: a virtio port of its own, so that what the kernel prints
 * on the console cannot be taken for a result. Each line goes out with its own
 * write(2): what was sent before a crash is on the host.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

#define PORTS	"/sys/class/virtio-ports"
#define NAME	"kasan-scs.result"
#define TRIES	50		/* a tenth of a second each */

static int channel = -1;

/* Open the port of our name if it is there; its node in /dev is named alike. */
static int open_port(void)
{
	char path[sizeof(PORTS) + NAME_MAX + sizeof("//name")], name[64];
	struct dirent *d;
	DIR *dir = opendir(PORTS);
	ssize_t n;
	int fd, port = -1;

	if (!dir)
		return -1;
	while (port < 0 && (d = readdir(dir))) {
		snprintf(path, sizeof(path), PORTS "/%s/name", d->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		n = read(fd, name, sizeof(name) - 1);
		close(fd);
		name[n > 0 ? n : 0] = '\0';
		name[strcspn(name, "\n")] = '\0';
		if (strcmp(name, NAME))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", d->d_name);
		port = open(path, O_WRONLY | O_CLOEXEC);
	}
	closedir(dir);
	return port;
}

/* The port's name comes in a message from the host, after the device. */
int result_open(void)
{
	int i;

	for (i = 0; i < TRIES && channel < 0; i++) {
		if (i)
			usleep(100000);
		channel = open_port();
	}
	return channel < 0 ? -1 : 0;
}

static void send(const char *line, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(channel, line, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		line += n;
		len -= n;
	}
}

void result(const char *fmt, ...)
{
	char line[4096];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	send(line, n);
}

int result_errno(const char *what, const char *name)
{
	result("error %s %s: %s", what, name, strerror(errno));
	return 1;
}

void result_lines(int fd, const char *prefix)
{
	char buf[2048];
	size_t len = 0, used;
	ssize_t n;
	char *nl;

	for (;;) {
		n = read(fd, buf + len, sizeof(buf) - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += n;
		used = 0;
		while ((nl = memchr(buf + used, '\n', len - used))) {
			result("%s%.*s", prefix, (int)(nl - buf - used), buf + used);
			used = nl - buf + 1;
		}
		/* A line longer than the buffer is sent in pieces. */
		if (!used && len == sizeof(buf)) {
			result("%s%.*s", prefix, (int)len, buf);
			used = len;
		}
		len -= used;
		memmove(buf, buf + used, len);
	}
	if (len)
		result("%s%.*s", prefix, (int)len, buf);
}
