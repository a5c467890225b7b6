# SPDX-License-Identifier: GPL-2.0
# Sourced by setup and prepare: apt with lists of its own below $CACHE/apt.
# The machine's own sources and lists stay as they are; where its archive is
# comes from its own set-up, so that mirrors and proxies are kept.
# shellcheck shell=bash

APT_DIR=$CACHE/apt
APT_KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
APT_SUITE=bookworm

# apt_private ARGUMENT...: apt-get with the private lists.
apt_private()
{
	local arch

	arch=$(dpkg --print-architecture)
	# The cache may be in a home folder, which apt's own user cannot read.
	DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o Dir::Etc::sourcelist="$APT_DIR/sources.list" \
		-o Dir::Etc::sourceparts=- \
		-o Dir::State::lists="$APT_DIR/lists" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		-o APT::Architectures::="$arch" -o APT::Architectures::=arm64 \
		-o APT::Sandbox::User=root -o Acquire::Languages=none \
		-o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@"
}

# apt_archive OPTION...: print "codename URI" of each part of Debian's archive
# that the machine's own set-up names.
apt_archive()
{
	# shellcheck disable=SC2016
	apt-get "$@" indextargets \
		--format '$(ORIGIN)|$(COMPONENT)|$(CODENAME)|$(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null |
		awk -F'|' '$1 == "Debian" && $2 == "main" { print $3, $4 }' |
		sort -u
}

# apt_sources: print the private sources.list.
apt_sources()
{
	local own=() found main security

	found=$(apt_archive)
	if [ -z "$found" ]; then
		# The machine has no lists yet (a fresh container image): read
		# them into a folder of ours, only to learn which are Debian's.
		own=(-o "Dir::State::lists=$APT_DIR/own")
		make_dir "$APT_DIR/own/partial"
		apt-get -q "${own[@]}" -o APT::Sandbox::User=root \
			-o Acquire::Languages=none update >&2 || return 1
		found=$(apt_archive "${own[@]}")
	fi
	main=$(awk -v s=$APT_SUITE '$1 == s { print $2; exit }' <<<"$found")
	security=$(awk -v s=$APT_SUITE-security \
		'$1 == s { print $2; exit }' <<<"$found")
	[ -n "$main" ] || return 1
	printf "deb [signed-by=$APT_KEYS] %s %s main\n" \
		"$main" $APT_SUITE \
		"$main" $APT_SUITE-updates \
		"$main" $APT_SUITE-backports \
		"$main" trixie-backports
	if [ -n "$security" ]; then
		printf "deb [signed-by=$APT_KEYS] %s %s main\n" \
			"$security" $APT_SUITE-security
	fi
}

# apt_lists [MAX_AGE]: make the private lists, unless there are some that are
# younger than MAX_AGE minutes (default: a day). A subshell, to drop the lock.
apt_lists()
(
	if ! command -v apt-get >/dev/null || ! [ -e $APT_KEYS ]; then
		say "no apt-get with Debian's keys on this machine"
		exit 1
	fi
	lock apt
	if [ -n "$(find "$APT_DIR/fresh" -mmin "-${1:-1440}" 2>/dev/null)" ]; then
		exit 0
	fi
	make_dir "$APT_DIR/lists/partial"
	rm -f "$APT_DIR/fresh"
	if ! apt_sources >"$APT_DIR/sources.list"; then
		say "apt knows no Debian archive for $APT_SUITE, or it cannot be reached"
		exit 1
	fi
	# An update that could not fetch anything still exits 0 by default.
	apt_private -o APT::Update::Error-Mode=any update >&2 || exit 1
	touch "$APT_DIR/fresh"
)
