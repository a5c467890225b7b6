# SPDX-License-Identifier: GPL-2.0
# Sourced by every script: where things are, and how to fail.
# shellcheck shell=bash disable=SC2034

set -euo pipefail
export LC_ALL=C

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$TOP/build
CACHE=${KASAN_SCS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kasan-scs}
KERNELS="6.1 6.12 7.3"
KERNEL=${KERNEL:-6.12}
KDIR=${KDIR:-}
MODE=${MODE:-generic}
LLVM_SUFFIX=-19
# What compiles the kernel.
TOOLCHAIN=${TOOLCHAIN:-clang$LLVM_SUFFIX}
CROSS_GCC=aarch64-linux-gnu-gcc
# Without QEMU's software emulation of the QARMA5 cipher.
DEFAULT_CPU=max,pauth-impdef=on
# Folders of this repository that mirror the kernel tree.
OVERLAY_DIRS="Documentation arch include kernel lib mm"
# Where these folders and series/ are: the tests put their own there.
OVERLAY_TOP=${KASAN_SCS_OVERLAY:-$TOP}

# die MESSAGE: one clear line on stderr, exit 1.
die()
{
	printf '%s: error: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# usage_error MESSAGE: the command line is wrong, exit 2.
usage_error()
{
	printf '%s: error: %s (see %s --help)\n' "${0##*/}" "$*" "$0" >&2
	exit 2
}

say()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# need TOOL [PACKAGE]: stop unless TOOL is installed.
need()
{
	command -v "$1" >/dev/null 2>&1 ||
		die "$1 is not installed; remedy: apt-get install ${2:-$1} (or make setup)"
}

# tree_version TREE: print VERSION.PATCHLEVEL of a kernel tree; fail if TREE is none.
tree_version()
{
	local mk=$1/Makefile

	[ -d "$1" ] || die "$1: no such directory"
	if ! [ -f "$mk" ] || ! [ -f "$1/Kbuild" ] || ! [ -d "$1/arch/arm64" ]; then
		die "$1: not a Linux kernel tree (no Makefile, Kbuild or arch/arm64)"
	fi
	awk -F'[ \t]*=[ \t]*' '
		$1 == "VERSION" { v = $2 }
		$1 == "PATCHLEVEL" { p = $2 }
		END { if (v == "" || p == "") exit 1; print v "." p }' "$mk" ||
		die "$mk: no VERSION and PATCHLEVEL; not a Linux kernel tree"
}

# overlay_files: print the overlay's files, relative to OVERLAY_TOP, sorted.
overlay_files()
{
	local d

	cd "$OVERLAY_TOP" && for d in $OVERLAY_DIRS; do
		if [ -d "$d" ]; then
			find "$d" -type f ! -name '*~' ! -name '.*'
		fi
	done | sort
}

# boot_options MODE: what scripts/boot needs for a kernel of this KASAN mode.
boot_options()
{
	case $1 in
	hw_tags) echo --machine mte=on ;;
	*) echo ;;
	esac
}

# pass_argument N: an argument that the kernel ignores, of another length for each N.
# Without it every boot with a clock that counts instructions would be the same to the
# last one, a tick of the timer at a bad moment included.
pass_argument()
{
	printf 'bench.pass=%*s' "$1" '' | tr ' ' x
}

# What figures were measured with, for the records that name it.
compiler_version()
{
	case $TOOLCHAIN in
	gcc) "$CROSS_GCC" --version ;;
	*) "$TOOLCHAIN" --version ;;
	esac | head -n 1
}

qemu_version()
{
	qemu-system-aarch64 --version | head -n 1
}
