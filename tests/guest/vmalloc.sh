#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# vmalloc.sh LOOPS: the kernel's vmalloc tests by two workers at once, processes that
# come and go with their stacks and shadow call stacks, modules, and memory that is
# claimed back meanwhile.

forks()
{
	while [ ! -e /tmp/stop ]; do
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			busybox true &
		done
		wait
	done
}

claim()
{
	while [ ! -e /tmp/stop ]; do
		echo 2 >/proc/sys/vm/drop_caches
		sleep 0.3
	done
}

modules()
{
	while [ ! -e /tmp/stop ]; do
		insmod /modules/dummy.ko && rmmod dummy
	done
}

forks & forks & claim & modules &
# All its tests. It ends with an error by design.
insmod /modules/test_vmalloc.ko nr_threads=2 test_loop_count="$1" run_test_mask=2147483647 2>/dev/null
touch /tmp/stop
wait
