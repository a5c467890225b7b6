#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# soak.sh SECONDS [listed | each]: stress-ng, a few stressors at a time in ever new
# combinations, while tracers, probes, BPF programs, modules and CPUs come and go.
# With "listed" they are combined in the order in which they are listed here, so that
# what two kernels did can be compared. With "each" every kind of work is done alone,
# for SECONDS, and the line of measure.sh says from where its traces are.

# In 0.15.06 with this guest these cannot run or hardly save traces: inotify,
# fanotify, dnotify, key, userfaultfd, netlink-task, netlink-proc (not configured),
# ping-sock, hrtimers, nanosleep, tee, vm-splice, sendfile, fallocate, poll. Left
# out, too, is what fills memory, needs devices or runs as long as it likes.
processes='fork vfork vforkmany clone daemon zombie wait session pthread'
mappings='mmap mmapfork mmapaddr mmapmany mremap munmap'
faults='madvise mprotect fault pagemove brk stackmmap memfd shm shm-sysv'
sockets='sock sockabuse sockdiag sockfd sockmany sockpair udp udp-flood rawsock rawudp
rawpkt icmp-flood'
timers='timer timerfd itimer alarm'
signals='sigq sigpending sigfd sigsegv sigchld sigrt signest kill'
ipc='pipe pipeherd fifo splice msg mq sem-sysv epoll eventfd futex aio io-uring pty'
files='dentry dir dirdeep dirmany filename rename link symlink open chdir chmod chown
getdent fstat touch flock lockf lockofd locka lease procfs sysfs'
others='ptrace seccomp set get sysinfo'
at_once=4

# shellcheck source=tests/guest/measure.sh
. measure.sh
tracing=/sys/kernel/tracing
seconds=${1:-60}
order=${2:-random}
end=$(($(date +%s) + seconds))

running()
{
	[ "$(date +%s)" -lt $end ]
}

failed()
{
	echo "$1 failed"
	touch /tmp/failed
}

# now: the uptime in 1/100 s
now()
{
	sed 's/ .*//; s/\.//' /proc/uptime
}

# run STRESSOR...: some seconds of these together. Half of them clean up for longer
# than the work takes, hence the limit; some find a call that the kernel does not
# have, hence no look at the exit status.
run()
{
	options=
	for s; do
		options="$options --$s 1"
	done
	# shellcheck disable=SC2086
	timeout -s KILL 20 stress-ng -q --oom-avoid --temp-path /tmp/soak $options -t 6 \
		>/dev/null 2>&1
	killall -q -9 stress-ng
	rm -rf /tmp/soak/*
}

# exec and spawn do nothing as root, so they have a loop of their own, and a program
# of their own that run does not kill. Without the user they would end at once.
execs()
{
	while running; do
		timeout -s KILL 20 start-stop-daemon -S -n exec -c nobody \
			-a /bin/stress-exec -- -q --temp-path /tmp/exec \
			--exec 1 --spawn 1 -t 5 >/dev/null 2>&1
		# Another status: killed, or a call that the kernel does not have.
		[ $? -ne 1 ] || failed exec
		killall -q -9 stress-exec
		sleep 5
	done
}

in_order()
{
	if [ "$order" = listed ]; then cat; else shuf; fi
}

# stress STRESSOR...: all of these, a few at a time, until the end.
stress()
{
	while running; do
		printf '%s\n' "$@" | in_order | xargs -n $at_once | while running && read -r some; do
			# shellcheck disable=SC2086
			run $some </dev/null
		done
	done
}

tracer()
{
	echo "$1" >$tracing/current_tracer || failed "$1"
}

probes_on()
{
	echo 'p:soak_p kfree' >$tracing/kprobe_events || failed kprobe
	echo 'r:soak_r vfs_read' >>$tracing/kprobe_events || failed kretprobe
	# The name before 6.10 and the one since.
	echo 'r:soak_q kmem_cache_alloc_noprof' >>$tracing/kprobe_events 2>/dev/null ||
		echo 'r:soak_q kmem_cache_alloc' >>$tracing/kprobe_events || failed kretprobe
	echo 1 >$tracing/events/kprobes/enable
}

probes_off()
{
	echo 0 >$tracing/events/kprobes/enable
	echo >$tracing/kprobe_events
}

trace_once()
{
	tracer function_graph
	sleep 0.5
	tracer nop
	probes_on
	sleep 0.5
	probes_off
	bpf 5 || failed bpf
}

# All of that makes the guest several times slower: a tenth of the time is for it.
tracers()
{
	while running; do
		start=$(now)
		trace_once
		rest=$((9 * ($(now) - start) / 100))
		while running && [ $rest -gt 0 ]; do
			sleep 1
			rest=$((rest - 1))
		done
	done
}

modules()
{
	while running; do
		insmod /modules/dummy.ko || failed insmod
		sleep 0.5
		rmmod dummy || failed rmmod
		sleep 2
	done
}

hotplug()
{
	n=0
	while running; do
		sleep 7
		n=$((n % (cpus - 1) + 1))
		echo 0 >/sys/devices/system/cpu/cpu$n/online || failed "CPU $n offline"
		sleep 1
		echo 1 >/sys/devices/system/cpu/cpu$n/online || failed "CPU $n online"
	done
}

# All at once.
together()
{
	execs &
	# shellcheck disable=SC2086
	stress $processes $mappings $faults $sockets $timers $signals $ipc $files $others &
	tracers &
	modules &
	[ "$cpus" -eq 1 ] || hotplug &
	wait
}

# alone NAME COMMAND...: measure COMMAND, which runs until the end.
alone()
{
	end=$(($(date +%s) + seconds))
	measure "$@"
}

bpf_alone()
{
	while running; do
		bpf 5 || failed bpf
	done
}

# One after another; tracers and probes with the work on files.
# shellcheck disable=SC2086
each()
{
	alone processes stress $processes
	alone exec execs
	alone mappings stress $mappings
	alone faults stress $faults
	alone sockets stress $sockets
	alone timers stress $timers
	alone signals stress $signals
	alone IPC stress $ipc
	alone files stress $files
	alone others stress $others
	alone modules modules
	[ "$cpus" -eq 1 ] || alone hotplug hotplug
	tracer function_graph
	alone function_graph stress $files
	tracer nop
	probes_on
	alone probes stress $files
	probes_off
	alone BPF bpf_alone
}

mkdir -p /dev/shm /dev/pts /etc /tmp/soak /tmp/exec
echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
ln -sf pts/ptmx /dev/ptmx
chmod 666 /dev/pts/ptmx
chmod 1777 /tmp/exec
cp /bin/stress-ng /bin/stress-exec
ip link set lo up
filter.sh || failed "ftrace's filter"
stress-ng --version || failed stress-ng

cpus=$(nproc)
if [ "$order" = each ]; then
	each
else
	together
fi
killall -q -9 stress-ng stress-exec
# The stock kernel has none.
[ ! -e $stats ] || grep ^verify_ $stats || failed "verify mode"
[ ! -e /tmp/failed ]
