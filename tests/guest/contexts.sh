#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# contexts.sh [NAME...]: work in one context after the other, and from where the
# unwinder took the traces meanwhile. Prints for each context the line of measure.sh,
# or "context NAME skipped: REASON", and "context NAME failed" where the work did not
# end well. tests/contexts.py knows what is expected.

# shellcheck source=tests/guest/measure.sh
. measure.sh
tracing=/sys/kernel/tracing

skip()
{
	echo "context $1 skipped: $2"
}

# loop N COMMAND...
loop()
{
	rounds=$1
	shift
	while [ "$rounds" -gt 0 ]; do
		"$@" || return 1
		rounds=$((rounds - 1))
	done
}

# Without a program: only what the shell itself does.
one_file()
{
	: >/tmp/f && read -r _ </proc/self/maps
}

one_process()
{
	/bin/busybox true && mkdir /tmp/d && : >/tmp/d/f && mv /tmp/d/f /tmp/d/g &&
		rm -r /tmp/d && wc /proc/self/maps | cat >/dev/null
}

processes()
{
	loop 10 one_process && find /proc /sys >/dev/null 2>&1
	churn faults 2 && churn pipes 200 && churn sockets 100 && churn timers 100
}

# traced N: what the tracers and probes are on for.
traced()
{
	loop "$1" one_process && loop $((40 * $1)) one_file && churn sockets $((4 * $1))
}

# The same without exec, which takes seconds where each function costs so much.
graphed()
{
	loop 20 one_fork && loop 20 one_file && churn sockets 4
}

one_fork()
{
	( : )
}

# then_off OFF COMMAND...: run both in this order. What is printed comes after:
# who waits for the next line does it in functions that are not traced any more,
# and has no return address of a tracer on its stack later on.
then_off()
{
	off=$1
	shift
	"$@"
	status=$?
	$off
	return $status
}

tracer_off()
{
	echo nop >$tracing/current_tracer
}

# tracer NAME COMMAND...
tracer()
{
	if ! echo "$1" 2>/dev/null >$tracing/current_tracer; then
		skip "$1" "no such tracer"
		return 1
	fi
	context=$1
	shift
	measure "$context" then_off tracer_off "$@"
}

# probes EVENT...: those that there is a function for.
probes()
{
	echo >$tracing/kprobe_events
	for event; do
		echo "$event" 2>/dev/null >>$tracing/kprobe_events
	done
	grep -q . $tracing/kprobe_events && echo 1 >$tracing/events/kprobes/enable
}

probes_off()
{
	[ ! -e $tracing/events/kprobes/enable ] || echo 0 >$tracing/events/kprobes/enable
	echo >$tracing/kprobe_events
}

module()
{
	loop 10 one_module
}

one_module()
{
	insmod /modules/dummy.ko numdummies=8 && rmmod dummy
}

cpu1=/sys/devices/system/cpu/cpu1/online

one_hotplug()
{
	echo 0 >$cpu1 && echo 1 >$cpu1
}

efi_vars=/sys/firmware/efi/efivars
# Of this vendor the kernel lets anything be removed.
efi_var=$efi_vars/kasan_scs-cfc8fc79-be2e-4ddc-97f0-9f98bfe298a0

one_efi()
{
	# Attributes: it is kept, and can be read at boot and at run time.
	# Not cat: that copies each file to a new mapping, see usercopy.
	printf '\007\000\000\000%s' "$rounds" >$efi_var &&
		wc $efi_vars/* >/dev/null && rm $efi_var
}

# The firmware is called in a work item; interrupts and timers come meanwhile.
efi()
{
	churn timers 300 &
	timers=$!
	churn sockets 200 &
	sockets=$!
	loop 20 one_efi
	rc=$?
	wait $timers && wait $sockets && return $rc
}

# context NAME: run it.
context()
{
	case $1 in
	process)
		measure process processes ;;
	usercopy)
		measure usercopy usercopy 200 ;;
	function_graph)
		# Deep calls are not traced, for speed; those below them are.
		echo 10 >$tracing/max_graph_depth
		if tracer function_graph graphed; then
			measure after_function_graph traced 5
		else
			skip after_function_graph "no such tracer"
		fi
		echo 0 >$tracing/max_graph_depth ;;
	function)
		tracer function traced 5 ;;
	kprobe)
		if probes 'p:scs_free kmem_cache_free' 'p:scs_kfree kfree' \
			'p:scs_open do_sys_openat2'; then
			measure kprobe then_off probes_off traced 5
		else
			skip kprobe "no kprobe can be set"
		fi ;;
	kretprobe)
		# vfs_read() is called by ksys_read(): one trampoline above another.
		if probes 'r:scs_read vfs_read' 'r:scs_sys_read ksys_read' \
			'r:scs_open do_sys_openat2'; then
			measure kretprobe then_off probes_off traced 5
		else
			skip kretprobe "no kretprobe can be set"
		fi ;;
	bpf_*)
		if [ -e /proc/sys/net/core/bpf_jit_enable ]; then
			measure "$1" bpf "${1#bpf_}" 500
		else
			skip "$1" "no BPF with JIT"
		fi ;;
	module)
		if [ -e /modules/dummy.ko ]; then
			measure module module
			# It makes its devices in init text and frees them in exit text.
			measure module_init insmod /modules/dummy.ko numdummies=64
			measure module_exit rmmod dummy
		else
			skip module "no /modules/dummy.ko"
		fi ;;
	hotplug)
		if [ -e $cpu1 ]; then
			measure hotplug loop 5 one_hotplug
		else
			skip hotplug "no CPU 1 that can be off"
		fi ;;
	workqueue_rcu)
		measure workqueue_rcu churn deferred 200 ;;
	efi)
		if ! [ -e /sys/firmware/efi ]; then
			skip efi "not booted through EFI"
		elif ! mount -t efivarfs efivarfs $efi_vars 2>/dev/null; then
			skip efi "cannot mount efivarfs"
		else
			measure efi efi
			umount $efi_vars
		fi ;;
	*)
		echo "context $1 failed: no such context" ;;
	esac
}

if ! [ -e $stats ]; then
	echo "contexts.sh: $stats: no such file"
	exit 1
fi
# The graph tracer is last: kernel threads that start meanwhile keep its return
# address at the bottom of their stack for good.
[ $# -gt 0 ] || set -- process usercopy module hotplug workqueue_rcu efi \
	function kprobe kretprobe \
	bpf_classifier_jit bpf_kprobe_jit bpf_tracepoint_jit bpf_trampoline \
	bpf_classifier_nojit bpf_kprobe_nojit bpf_tracepoint_nojit \
	function_graph
ip link set lo up
for name; do
	context "$name"
done
