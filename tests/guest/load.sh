#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# load.sh: work that real programs make the kernel do, a fixed amount each,
# without waiting for anything.
# Prints "NAME START END" in seconds of the guest's clock, whose resolution is
# ten milliseconds; with QEMU's -icount a second is a billion instructions.

now()
{
	read -r up _ </proc/uptime
	echo "$up"
}

work()
{
	start=$(now)
	eval "$2"
	echo "$1 $start $(now)"
}

mkdir /tmp/load
cd /tmp/load || exit 1

work fork+exec 'i=0; while [ $i -lt 400 ]; do /bin/busybox true; i=$((i+1)); done'
work fork 'i=0; while [ $i -lt 600 ]; do ( : ); i=$((i+1)); done'
work pipes 'i=0; while [ $i -lt 100 ]; do echo | cat | cat | cat >/dev/null; i=$((i+1)); done'
work files 'i=0; while [ $i -lt 300 ]; do
	mkdir d; : >d/f; mv d/f d/g; rm d/g; rmdir d; i=$((i+1)); done'
work find 'find /proc /sys >/dev/null 2>&1'
work copy 'i=0; while [ $i -lt 40 ]; do
	dd if=/dev/zero of=b bs=64k count=4 2>/dev/null; cp b c; cmp b c; rm b c; i=$((i+1)); done'
work symlinks 'i=0; while [ $i -lt 200 ]; do
	ln -s /proc/self/status l; cat l >/dev/null; rm l; i=$((i+1)); done'
