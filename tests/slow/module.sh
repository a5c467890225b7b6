# SPDX-License-Identifier: GPL-2.0
# Sourced, behind lib.sh, by the tests that have a module of their own.
# shellcheck shell=bash disable=SC2034,SC2154

# module_initrd NAME INITRD BUILD...: set obj to the kernel that the command BUILD
# builds, and put the modules of tests/modules/NAME, built for it, into the initramfs
# INITRD.
module_initrd()
{
	local name=$1 initrd=$2

	shift 2
	obj=$("$@") || return 1
	rm -rf "$T/module"
	cp -r "$TOP/tests/modules/$name" "$T/module" &&
	"$@" -- "M=$T/module" modules &&
	"$TOP/scripts/initramfs" "$obj" "$initrd" "$T"/module/*.ko
}
