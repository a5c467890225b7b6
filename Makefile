# SPDX-License-Identifier: GPL-2.0
# Thin: each target calls one script. `make help` lists them.

KERNEL ?= 6.12
MODE ?= generic
export KERNEL MODE KDIR CPU

help:		## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 22
	@echo 'Variables: KERNEL=6.1|6.12|7.3 (now $(KERNEL)) or KDIR=path of a kernel tree,'
	@echo '           MODE=generic|sw_tags|hw_tags (now $(MODE)), CPU=a QEMU cpu'
	@echo 'Each script below scripts/ has a --help.'

run: setup	## build, boot, provoke a use-after-free, print its decoded KASAN report
	@scripts/run

check: setup	## the tests that fit CI; the last line counts them
	@tests/run

check-all:	## every kernel, mode and test, and a matrix of them; resumable (takes hours)
	@scripts/setup --all
	@tests/run --all

bench-save: setup	## instructions for saving one stack trace, by depth
	@scripts/bench-save

bench-load: setup	## instructions and time of work in the guest, by unwinder (an hour)
	@scripts/bench-load

bench-boot: setup	## instructions and time of a boot, by unwinder (an hour)
	@scripts/bench-boot

bench-vmalloc: setup	## the kernel's tests of vmalloc, with and without KASAN (30 minutes)
	@scripts/bench-vmalloc

bench-skb: setup	## instructions for alloc_skb() and kfree_skb(), by unwinder
	@scripts/bench-skb

bench-depot: setup	## the stack depot's memory after hard work, stock and ours (40 minutes)
	@scripts/bench-depot

bench-model: setup	## cycles for one save on Neoverse cores, as llvm-mca has it
	@scripts/bench-model

series: setup	## write the patch series to build/series/KERNEL
	@scripts/series $(KERNEL)

apply:		## put the series into your own tree: make apply KDIR=path
	@scripts/apply $(if $(KDIR),"$(KDIR)")

unapply:	## take it out again: make unapply KDIR=path
	@scripts/unapply $(if $(KDIR),"$(KDIR)")

shell: setup	## boot the kernel and open a shell in it
	@obj=$$(scripts/build $(MODE)) && scripts/shell "$$obj"

setup:		## install what is missing (Debian 12)
	@scripts/setup

clean:		## remove build/, the results; kernels and objects stay in the cache
	rm -rf build

.PHONY: help run check check-all bench-save bench-load bench-boot bench-vmalloc bench-skb bench-depot bench-model series apply unapply shell setup clean
