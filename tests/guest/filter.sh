#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# filter.sh: the function tracers are for these functions only, which are on most
# stacks, and several at once. With all of them traced, half a second of work takes half
# a minute in QEMU, and with KASAN's checks as calls it may not end. Fails if the filter
# did not take.

filter=/sys/kernel/tracing/set_ftrace_filter
for functions in 'vfs_*' 'do_*' '__do_sys_*' 'sock_*' 'unix_*' 'udp_*' 'copy_*' '*_fault' \
	'kernel_*'; do
	# Not every kernel has some of each.
	echo "$functions" 2>/dev/null >>$filter
done
grep -q vfs_read $filter
