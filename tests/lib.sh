# SPDX-License-Identifier: GPL-2.0
# Sourced by every tests/*.test: prints TAP, one line a case.
# shellcheck shell=bash disable=SC2034,SC1091

# The scripts are tested for how they react to signals, which whoever runs this
# may have set to be ignored (nohup, a job in the background).
if [ -z "${TAP_SIGNALS:-}" ]; then
	TAP_SIGNALS=default exec env --default-signal=HUP,INT,TERM "$0" "$@"
fi

. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
set +e

tap_n=0
tap_bad=0
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT

# result STATUS DESCRIPTION [FILE]: one case; FILE is shown when it failed.
result()
{
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tap_n" "$2"
		return
	fi
	tap_bad=$((tap_bad + 1))
	printf 'not ok %d - %s\n' "$tap_n" "$2"
	if [ -n "${3:-}" ] && [ -f "$3" ]; then
		tail -n 40 "$3" | sed 's/^/# /'
	fi
	return 1
}

# ok DESCRIPTION COMMAND...: passes when COMMAND exits 0.
ok()
{
	local what=$1

	shift
	"$@" >"$T/out" 2>&1 </dev/null
	result $? "$what" "$T/out"
}

# fails DESCRIPTION REGEX COMMAND...: passes when COMMAND exits non-zero and
# its last line of output matches REGEX.
fails()
{
	local what=$1 re=$2 rc

	shift 2
	"$@" >"$T/out" 2>&1 </dev/null
	rc=$?
	[ $rc -ne 0 ] && tail -n 1 "$T/out" | grep -Eq -- "$re"
	result $? "$what" "$T/out"
}

# skip DESCRIPTION REASON
skip()
{
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}

# done_testing: the plan, and the exit status of the whole file.
done_testing()
{
	printf '1..%d\n' "$tap_n"
	[ "$tap_bad" -eq 0 ]
}

# forget_objects VARIANT: make the next build compile what the series touches.
forget_objects()
{
	local obj=$CACHE/work/$KERNEL/obj-$1

	rm -f "$obj"/mm/kasan/*.o "$obj"/arch/arm64/kernel/*.o
}

# new_warnings STOCK LOG: print the warnings of one build that the other has not, without
# their place, which the series moves; fail if there are any.
new_warnings()
{
	! comm -13 <(warnings "$1") <(warnings "$2") | grep .
}

warnings()
{
	grep -E 'warning:|WARNING:|error:' "$1" |
		sed -E 's|^.*/src/||; s/:[0-9]+:[0-9]+:/:/' | sort -u
}
