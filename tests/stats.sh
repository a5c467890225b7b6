# SPDX-License-Identifier: GPL-2.0
# The unwinder's counters, as the guest's job "stats" reports them to FILE.
# shellcheck shell=bash

# stat_of FILE NAME: a counter of the unwinder.
stat_of()
{
	awk -v name="$2:" '$1 == "stats" && $2 == name { print $3 }' "$1"
}

# none_unexplained FILE: no trace fell back for what no context brings about.
none_unexplained()
{
	[ "$(stat_of "$1" fallback_splice)" = 0 ] &&
	[ "$(stat_of "$1" fallback_foreign)" = 0 ] &&
	[ "$(stat_of "$1" fallback_bottom)" = 0 ]
}

# mostly_scs FILE: over 99 % of the traces came from the SCS.
mostly_scs()
{
	local saved scs

	saved=$(stat_of "$1" saved)
	scs=$(stat_of "$1" scs)
	grep '^stats ' "$1"
	[ "$saved" -ge 10000 ] && [ $((100 * scs)) -gt $((99 * saved)) ] &&
	none_unexplained "$1" &&
	[ "$(stat_of "$1" fallback_not_text)" -lt 100 ]
}
