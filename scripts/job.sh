# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts that run long commands: how to be interrupted, and
# how to keep two runs apart.
# shellcheck shell=bash

job_pid=

# job COMMAND...: run it in a process group of its own and return its status.
# The shell runs traps only between commands, so it must sit in wait while a
# long command runs; the group lets job_stop reach all of its children.
job()
{
	local rc=0

	set -m
	"$@" </dev/null &
	job_pid=$!
	set +m
	wait "$job_pid" || rc=$?
	job_pid=
	return $rc
}

# job_stop: end the running job, if any, and wait until it is gone.
job_stop()
{
	if [ -n "$job_pid" ]; then
		kill -TERM -- "-$job_pid" 2>/dev/null || true
		wait "$job_pid" 2>/dev/null || true
		job_pid=
	fi
}

# no_space FILE: did a command, whose messages are in FILE, run out of disk space
# below $CACHE? The messages can be lost for the same reason.
no_space()
{
	grep -q 'No space left on device' "$1" ||
		[ "$(df -k --output=avail "$CACHE" | tail -n 1)" -lt 1024 ]
}

die_no_space()
{
	die "$1: no space left on device; remedy: free 4 GB below $CACHE, or set KASAN_SCS_CACHE to another disk"
}

# lock NAME: wait for, then hold, $CACHE/locks/NAME until this script ends.
lock()
{
	local file=$CACHE/locks/$1 fd

	make_dir "$CACHE/locks"
	{ exec {fd}>"$file"; } 2>/dev/null || die "$file: cannot be written"
	if ! flock -n "$fd"; then
		say "waiting for another run that holds $file"
		job flock "$fd"
	fi
}

# make_dir DIR
make_dir()
{
	mkdir -p "$1" 2>/dev/null ||
		die "$1: cannot be created; remedy: free space there, or set KASAN_SCS_CACHE to another folder"
}
