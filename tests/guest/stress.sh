#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# stress.sh SECONDS [few] [sampled]: work in the guest whose allocations have all kinds of
# stacks: processes, files, faults in copies from and to user space, softirqs,
# BPF programs, kprobes, kretprobes and the function tracers going on and off,
# modules and CPUs coming and going. With "few" the function graph tracer is for
# those of filter.sh only. With "sampled" all CPUs' cycles are sampled meanwhile.

tracing=/sys/kernel/tracing
seconds=${1:-60}
few=
sampled=
end=$(($(date +%s) + seconds))

[ $# -eq 0 ] || shift
for option; do
	case $option in
	few) few=1 ;;
	sampled) sampled=1 ;;
	*) echo "$option failed: no such option" ;;
	esac
done

running()
{
	[ "$(date +%s)" -lt $end ]
}

files()
{
	d=/tmp/$1
	while running; do
		mkdir -p $d
		for i in 1 2 3 4 5 6 7 8; do
			cat /proc/stat | sort | wc -l >$d/$i
			mv $d/$i $d/x$i
		done
		find $d /proc/self /sys/kernel/mm >/dev/null 2>&1
		# Reads into pages that are not there yet.
		dd if=/dev/zero of=$d/big bs=1M count=4 2>/dev/null
		dd if=$d/big of=/dev/null bs=4M 2>/dev/null
		rm -rf $d
	done
}

network()
{
	while running; do
		nc -l -p 7777 -e cat </dev/null >/dev/null 2>&1 &
		sleep 0.1
		head -c 100000 /dev/zero | nc -w 1 127.0.0.1 7777 >/dev/null 2>&1
		ping -c 3 -i 0.1 127.0.0.1 >/dev/null 2>&1
		# If the other one came too early it would wait for good.
		kill $! 2>/dev/null
		wait $!
	done
}

tracers()
{
	while running; do
		[ -z "$few" ] || filter.sh || echo "ftrace's filter failed"
		echo function_graph >$tracing/current_tracer
		sleep 0.5
		echo nop >$tracing/current_tracer
		[ -z "$few" ] || echo >$tracing/set_ftrace_filter
		echo 'p:scs_p kfree' >$tracing/kprobe_events
		echo 'r:scs_r vfs_read' >>$tracing/kprobe_events
		echo 'r:scs_q kmem_cache_alloc_noprof' >>$tracing/kprobe_events 2>/dev/null ||
			echo 'r:scs_q kmem_cache_alloc' >>$tracing/kprobe_events
		echo 1 >$tracing/events/kprobes/enable
		sleep 0.5
		echo function >$tracing/current_tracer
		sleep 0.5
		echo nop >$tracing/current_tracer
		echo 0 >$tracing/events/kprobes/enable
		echo >$tracing/kprobe_events
		bpf 20 || echo "bpf failed"
	done
}

modules()
{
	while running; do
		insmod /modules/dummy.ko || echo "insmod failed"
		sleep 0.2
		rmmod dummy || echo "rmmod failed"
	done
}

hotplug()
{
	cpu=/sys/devices/system/cpu/cpu1/online
	[ -e $cpu ] || return
	while running; do
		echo 0 >$cpu
		sleep 0.3
		echo 1 >$cpu
		sleep 1
	done
}

sampler()
{
	[ -z "$sampled" ] || sample "$seconds" || echo "sample failed"
}

ip link set lo up
sampler &
files a &
files b &
network &
tracers &
modules &
hotplug &
wait
