# SPDX-License-Identifier: GPL-2.0
# The tests of one kernel in one KASAN mode: sourced after KERNEL and MODE are set.
# shellcheck shell=bash disable=SC1091,SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export KERNEL MODE
read -ra mode_options < <(boot_options "$MODE")

# boot NAME ARGUMENT...: boot in this mode; logs below build/boot/NAME.
boot()
{
	local name=check-$KERNEL-$MODE-$1

	shift
	"$TOP/scripts/boot" "${mode_options[@]}" --name "$name" "$@"
}

# results NAME: file with what the guest reported in that boot.
results()
{
	echo "$BUILD/boot/check-$KERNEL-$MODE-$1/result"
}

# stat_of FILE NAME: a counter of the unwinder.
stat_of()
{
	awk -v name="$2:" '$1 == "stats" && $2 == name { print $3 }' "$1"
}

# nothing_differed FILE LEAST: of at least LEAST traces that were compared.
nothing_differed()
{
	local equal different

	equal=$(stat_of "$1" verify_equal)
	different=$(stat_of "$1" verify_different)
	echo "compared: $((equal + different)), different: $different"
	[ "$different" = 0 ] && [ "$equal" -ge "$2" ]
}

# met_all FILE: the workload did what it is there for.
met_all()
{
	grep -E '^(out|stats) ' "$1"
	! grep '^out .*failed' "$1" &&
	[ "$(stat_of "$1" fallback_no_push)" -gt 0 ] &&
	[ "$(stat_of "$1" fallback_exception)" -gt 0 ] &&
	[ "$(stat_of "$1" fallback_not_text)" -gt 0 ]
}

# mostly_scs FILE: over 99 % of the traces came from the SCS.
mostly_scs()
{
	local saved scs

	saved=$(stat_of "$1" saved)
	scs=$(stat_of "$1" scs)
	grep '^stats ' "$1"
	[ "$saved" -ge 10000 ] && [ $((100 * scs)) -gt $((99 * saved)) ] &&
	[ "$(stat_of "$1" fallback_splice)" = 0 ] &&
	[ "$(stat_of "$1" fallback_foreign)" = 0 ] &&
	[ "$(stat_of "$1" fallback_bottom)" = 0 ] &&
	[ "$(stat_of "$1" fallback_not_text)" -lt 100 ]
}

# quiet NAME: the console shows no warning, lockdep or KASAN report.
quiet()
{
	! grep -E 'WARNING:|BUG:|stack traces differ|possible (circular|recursive)|Oops' \
		"$BUILD/boot/check-$KERNEL-$MODE-$1/console.log"
}

# same_as_stock FILE: KASAN's suite says what it says on the stock kernel.
same_as_stock()
{
	local expected=$TOP/tests/expected/kasan-$KERNEL-$MODE.txt

	"$TOP/tests/ktap.py" "$1" >"$T/outcomes" || return 1
	diff -u <(grep -v '^#' "$expected") "$T/outcomes"
}

all_pass()
{
	"$TOP/tests/ktap.py" "$1" >"$T/outcomes" && cat "$T/outcomes" &&
		! grep -v ': pass$' "$T/outcomes"
}

# new_warnings LOG: those that the stock kernel does not have.
new_warnings()
{
	local known=$TOP/tests/expected/warnings-$KERNEL.txt

	[ -f "$known" ] || known=/dev/null
	grep -E 'warning:|WARNING:' "$1" | grep -vEf <(grep -v '^#' "$known")
}

no_warnings()
{
	local log=$BUILD/log/build-$KERNEL-$MODE.log

	grep -q 'scs_unwind\.o$' "$log" && ! new_warnings "$log"
}

build_and_boot()
{
	forget_objects "$MODE"
	obj=$("$TOP/scripts/build" "$MODE" 2>"$T/out")
	result $? "$KERNEL $MODE: builds" "$T/out"
	if [ -z "$obj" ]; then
		done_testing
		exit 1
	fi
	ok "$KERNEL $MODE: no compiler or linker warning" no_warnings
	ok "$KERNEL $MODE: boots to init and powers off" boot boot "$obj" stats
	ok "$KERNEL $MODE: over 99 % of the traces of a boot are from the SCS" \
		mostly_scs "$(results boot)"
	ok "$KERNEL $MODE: our KUnit suite runs" boot kunit "$obj" kunit=unwinder_test stats
	ok "$KERNEL $MODE: our KUnit suite passes" all_pass "$(results kunit)"
	ok "$KERNEL $MODE: and nothing else is on the console" quiet kunit
}

# Tracers, probes, BPF programs, modules and CPUs come and go meanwhile.
verify()
{
	ok "$KERNEL $MODE: a workload in verify mode" boot verify --timeout 400 \
		--append kasan.unwinder=verify "$obj" exec=/bin/stress.sh,10 stats
	ok "$KERNEL $MODE: no trace differs from frame records" \
		nothing_differed "$(results verify)" 100000
	ok "$KERNEL $MODE: the workload met tracers, exceptions and BPF programs" \
		met_all "$(results verify)"
	ok "$KERNEL $MODE: the console is quiet in verify mode" quiet verify
}

kasan_suite()
{
	local rc

	boot kasan --timeout 300 "$obj" kunit=kasan_test stats >"$T/out" 2>&1
	rc=$?
	# Cases that fail on stock too fail the job: 14.
	[ $rc -eq 0 ] || [ $rc -eq 14 ]
	result $? "$KERNEL $MODE: KASAN's KUnit suite runs" "$T/out"
	ok "$KERNEL $MODE: KASAN's KUnit suite ends as on the stock kernel" \
		same_as_stock "$(results kasan)"
}
