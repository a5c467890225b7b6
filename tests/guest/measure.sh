# SPDX-License-Identifier: GPL-2.0
# From where the unwinder took the traces while a command ran: for what is sourced by
# other scripts of the guest. tests/contexts.py reads what is printed.
# shellcheck shell=sh

# Counters are in variables whose names are made up, which shellcheck cannot see.
# shellcheck disable=SC2034,SC2154

stats=/sys/kernel/debug/kasan_unwinder/stats

# read_stats PREFIX: each counter into a variable of its own.
read_stats()
{
	while read -r counter value; do
		eval "$1_${counter%:}=\$value"
	done <$stats
}

# measure NAME COMMAND...: run COMMAND in this shell and print in one line
#   context NAME saved=N scs=N off=N foreign=N splice=N not_text=N no_push=N
#           exception=N bottom=N equal=N different=N
# and "context NAME failed" before it when COMMAND did.
measure()
{
	context=$1
	shift
	read_stats before
	"$@" || echo "context $context failed"
	read_stats after
	line="context $context"
	for n in saved scs fallback_off fallback_foreign fallback_splice \
		fallback_not_text fallback_no_push fallback_exception \
		fallback_bottom verify_equal verify_different; do
		eval "n_of=\$((after_$n - before_$n))"
		short=${n#fallback_}
		line="$line ${short#verify_}=$n_of"
	done
	echo "$line"
}
