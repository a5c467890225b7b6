# SPDX-License-Identifier: GPL-2.0
# The tests of one kernel: sourced after KERNEL and CELL, a name in tests/cells,
# are set.
# shellcheck shell=bash disable=SC1091,SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$TOP/tests/cells.sh"
. "$TOP/tests/stats.sh"

read_cell
read -ra options < <(boot_options "$MODE")
expected=$TOP/tests/expected
record=$expected/kasan-$KERNEL-$CELL.txt

# What 10 s of work compare at least, also on a host that does other things.
least_compared=20000

# check COLUMN DESCRIPTION COMMAND...: as ok, for a column of the matrix.
check()
{
	local what="$KERNEL $CELL: $1: $2"

	shift 2
	ok "$what" "$@"
}

# give_up: nothing more can be run. The matrix looks for this line.
give_up()
{
	echo "# $KERNEL $CELL: the rest is not run"
	done_testing
	exit 1
}

# boot NAME ARGUMENT...: boot in this mode; logs below build/boot.
boot()
{
	local name=check-$KERNEL-$CELL-$1

	shift
	"$TOP/scripts/boot" "${options[@]}" --timeout 400 --name "$name" "$@"
}

# results NAME: file with what the guest reported in that boot.
results()
{
	echo "$BUILD/boot/check-$KERNEL-$CELL-$1/result"
}

# console NAME: file with what the kernel printed in that boot.
console()
{
	echo "$BUILD/boot/check-$KERNEL-$CELL-$1/console.log"
}

# nothing_differed FILE LEAST: of at least LEAST traces that were compared.
nothing_differed()
{
	local equal different

	equal=$(stat_of "$1" verify_equal)
	different=$(stat_of "$1" verify_different)
	echo "compared: $((equal + different)), different: $different"
	[ "$different" = 0 ] && [ "${equal:-0}" -ge "$2" ]
}

# met_all FILE: the workload did what it is there for.
met_all()
{
	grep -E '^(out|stats) ' "$1"
	! grep '^out .*failed' "$1" &&
	[ "$(stat_of "$1" fallback_no_push)" -gt 0 ] &&
	[ "$(stat_of "$1" fallback_exception)" -gt 0 ] &&
	[ "$(stat_of "$1" fallback_not_text)" -gt 0 ] &&
	none_unexplained "$1"
}

# all_off FILE: all traces are from frame records, as the SCS is off.
all_off()
{
	grep '^stats ' "$1"
	[ "$(stat_of "$1" saved)" -ge 10000 ] && [ "$(stat_of "$1" scs)" = 0 ] &&
	[ "$(stat_of "$1" fallback_off)" = "$(stat_of "$1" saved)" ]
}

# says_once NAME TEXT: the console of that boot has it in one line.
says_once()
{
	grep -F "$2" "$(console "$1")"
	[ "$(grep -cF "$2" "$(console "$1")")" = 1 ]
}

# quiet NAME: the console shows no warning, lockdep or KASAN report.
quiet()
{
	[ -s "$(console "$1")" ] &&
	! grep -E 'WARNING:|BUG:|INFO: .*(lock|RCU|stall|blocked)|stack traces differ|possible (circular|recursive)|Oops' \
		"$(console "$1")"
}

# same_outcomes FILE: what KASAN's suite says is what is recorded.
same_outcomes()
{
	[ -f "$record" ] || {
		echo "$record: no such record; remedy: KERNEL=$KERNEL tests/record-stock $CELL"
		return 1
	}
	diff -u <(grep -v '^#' "$record") "$1"
}

all_pass()
{
	"$TOP/tests/ktap.py" "$1" >"$T/outcomes" && cat "$T/outcomes" &&
		! grep -v ': pass$' "$T/outcomes"
}

# unknown_warnings LOG: those that the stock kernel does not have.
unknown_warnings()
{
	local known=$expected/warnings-$KERNEL-$CELL.txt

	[ -f "$known" ] || known=$expected/warnings-$KERNEL.txt
	[ -f "$known" ] || known=/dev/null
	grep -E 'warning:|WARNING:' "$1" | grep -vEf <(grep -v '^#' "$known")
}

no_warnings()
{
	local log=$BUILD/log/build-$KERNEL-$CELL.log

	grep -q 'scs_unwind\.o$' "$log" && ! unknown_warnings "$log"
}

build_and_boot()
{
	forget_objects "$CELL"
	obj=$("$TOP/scripts/build" "$CELL" "${fragments[@]}" 2>"$T/out")
	result $? "$KERNEL $CELL: build: builds" "$T/out"
	[ -n "$obj" ] || give_up
	check warn "no compiler or linker warning" no_warnings
	if has signs; then
		check warn "what is pushed may be signed, and is taken for that" may_be_signed
	fi
	if has off; then
		check off "boots on a CPU with pointer authentication" boot off "$obj" stats
		check off "says once that the shadow call stack is off" says_once off \
			"the shadow call stack is off"
		check off "all traces are from frame records" all_off "$(results off)"
		check off "the console is quiet" quiet off
		options+=(--cpu "max,pauth=off")
	fi
	ok "$KERNEL $CELL: boot: boots to init and powers off" boot boot "$obj" stats ||
		give_up
	check scs "over 99 % of the traces of a boot are from the SCS" \
		mostly_scs "$(results boot)"
}

# The kernel signs return addresses, and is not told that it pushes them unsigned.
may_be_signed()
{
	grep -E 'CONFIG_(ARM64_PTR_AUTH_KERNEL|CC_SCS_PUSHES_UNSIGNED)=' "$obj/.config"
	grep -q '^CONFIG_ARM64_PTR_AUTH_KERNEL=y' "$obj/.config" &&
	! grep -q '^CONFIG_CC_SCS_PUSHES_UNSIGNED=y' "$obj/.config"
}

# kunit NAME ARGUMENT...: our KUnit suite, in the matrix' column NAME.
kunit()
{
	local name=$1

	shift
	check "$name" "our KUnit suite runs" boot "$name" "$@" "$obj" \
		kunit=unwinder_test stats
	check "$name" "our KUnit suite passes" all_pass "$(results "$name")"
	check "$name" "and nothing else is on the console" quiet "$name"
}

# verify COLUMN [OPTION [ARGUMENT]]: tracers, probes, BPF programs, modules and CPUs come
# and go meanwhile. OPTION is for stress.sh, ARGUMENT for the kernel.
verify()
{
	local name=verify-$1 work=/bin/stress.sh,10${2:+,$2}

	! has "few-$KERNEL" || work+=,few
	check "$1" "a workload in verify mode" boot "$name" \
		--append "kasan.unwinder=verify ${3:-}" "$obj" "exec=$work" stats
	check "$1" "no trace differs from frame records" \
		nothing_differed "$(results "$name")" "$least_compared"
	check "$1" "the workload met tracers, exceptions and BPF programs" \
		met_all "$(results "$name")"
	check "$1" "the console is quiet in verify mode" quiet "$name"
}

# sampled NAME: much was, in NMIs.
sampled()
{
	grep 'using NMIs' "$(console "$1")" &&
	awk '$1 == "out" && $2 == "sampled" { print; if ($3 >= 100) n++ }
	     END { exit n != 1 }' "$(results "$1")"
}

use_after_free()
{
	boot uaf "$obj" lkdtm=READ_AFTER_FREE && grep 'BUG: KASAN' "$(console uaf)"
}

# report_stacks OBJ NAME: functions on the stacks of allocation and free in the report
# of the boot NAME.
report_stacks()
{
	"$TOP/scripts/decode" --raw "$1" "$(console "$2")" |
		awk '/^(Allocated|Freed) by task/ { print $1; on = 1; next }
		     !NF { on = 0 }
		     on { sub(/\+.*/, ""); print "  " $1 }'
}

# same_report OBJ NAME: the boot NAME of OBJ reported the same bug with the same stacks.
same_report()
{
	report_stacks "$obj" uaf >"$T/scs" &&
	report_stacks "$1" "$2" >"$T/other" &&
	grep -q Allocated "$T/scs" && grep -q Freed "$T/scs" &&
	diff -u "$T/other" "$T/scs" && cat "$T/scs"
}

# A module that does not say where its functions could push: they do not.
no_unwind_data()
{
	"llvm-objcopy$LLVM_SUFFIX" --remove-section .init.eh_frame \
		--remove-section .rela.init.eh_frame "$obj/drivers/net/dummy.ko" \
		"$T/dummy.ko" &&
	"$TOP/scripts/initramfs" "$obj" "$T/initrd" "$T/dummy.ko" &&
	boot module --initrd "$T/initrd" --append kasan.unwinder=verify "$obj" \
		exec=/bin/busybox,insmod,/modules/dummy.ko,numdummies=8 stats &&
	[ "$(stat_of "$(results module)" fallback_no_push)" -ge 100 ]
}

kasan_suite()
{
	kasan_outcomes "check-$KERNEL-$CELL-kasan" "$obj" "$record" "${options[@]}" \
		>"$T/kasan" 2>"$T/out"
	result $? "$KERNEL $CELL: kasan: KASAN's KUnit suite runs" "$T/out"
	check kasan "KASAN's KUnit suite ends as on the stock kernel" \
		same_outcomes "$T/kasan"
}

cell_tests()
{
	build_and_boot
	kunit kunit
	if has nmi; then
		kunit nmi --append irqchip.gicv3_pseudo_nmi=1
		check nmi "a trace was taken in a pseudo-NMI" \
			grep -E 'overflow_test: [0-9]{3,} traces saved in NMIs' "$(results nmi)"
		verify nmi sampled irqchip.gicv3_pseudo_nmi=1
		check nmi "pseudo-NMIs sampled what all CPUs did meanwhile" sampled verify-nmi
	fi
	verify verify
	if has off; then
		check verify "traces in a module without unwind data are from frame records" \
			no_unwind_data
		check verify "and none of them differs" \
			nothing_differed "$(results module)" 10000
	fi
	if has contexts; then
		contexts
	fi
	if has vmalloc; then
		vmalloc
	fi
	check uaf "a use-after-free is reported" use_after_free
	if has kasan-generic; then
		record=$expected/kasan-$KERNEL-generic.txt
		kasan_suite
	elif has kasan; then
		kasan_suite
	fi
}

# Work of all kinds, each by itself.
contexts()
{
	local entry=()

	has entry && entry=(--entry)
	check contexts "work in each context" boot contexts "$obj" \
		exec=/bin/contexts.sh stats
	check contexts "each context's traces have the source they should have" \
		"$TOP/tests/contexts.py" "${entry[@]}" "$(results contexts)"
	check efi "the same in verify mode, booted through EFI" boot efi --efi \
		--append kasan.unwinder=verify "$obj" exec=/bin/contexts.sh stats
	check efi "with the firmware's runtime services: sources, none differs" \
		"$TOP/tests/contexts.py" "${entry[@]}" --efi --verify "$(results efi)"
	check efi "the console is quiet" quiet efi
}

# free_after NAME OBJ N: KiB that are free after vmalloc's tests, once vmalloc has given
# back what it keeps for a while (50 MB; 6.12 and later do within 20 s). With one CPU and
# a clock that counts instructions, as KASAN's quarantine differs by more from boot to
# boot; waiting costs nothing there. Each N is another boot.
free_after()
{
	# The module's init fails by design.
	boot "$1" --icount --append "$(pass_argument "$3")" "$2" \
		exec=/bin/busybox,insmod,/modules/test_vmalloc.ko,nr_threads=1,test_loop_count=20,run_test_mask=2147483647 \
		sleep=30 exec=/bin/busybox,grep,MemFree,/proc/meminfo >/dev/null 2>&1 ||
		[ $? -eq 14 ] || return
	awk '$1 == "out" && $2 == "MemFree:" { print $3 }' "$(results "$1")"
}

# as_much_free OBJ OTHER: but for 8 MiB, in the best of two boots or more. A page of
# shadow stays while there is anything else that it covers, 32 KiB or, with pages of
# 64 KiB, 512 KiB: by where ranges came to lie the latter differ by 130 MB from boot to
# boot, with the option and without.
as_much_free()
{
	local n one most=0 other most_other=0

	for n in 1 2 3 4 5 6 7 8; do
		one=$(free_after memory "$1" "$n") &&
			other=$(free_after memory-without "$2" "$n") || return
		echo "$one KiB free, $other without the option"
		[ "$one" -le "$most" ] || most=$one
		[ "$other" -le "$most_other" ] || most_other=$other
		[ "$n" -eq 1 ] || [ "$most" -lt $((most_other - 8192)) ] || return 0
	done
	return 1
}

# Shadow of vmalloc that is looked for: by itself, while all kinds of things come and
# go, and beside the same kernel without the option.
vmalloc()
{
	# With pages of 64 KiB 2 GiB are not enough, with the option or without.
	local other base=64k mem=4G f without=()

	if [ "$CELL" = vmalloc ]; then
		base=generic mem=2G
	fi
	for f in "${fragments[@]}"; do
		[ "$f" = vmalloc ] || without+=("$f")
	done
	check vmalloc "KUnit suite of vmalloc's shadow runs" boot shadow "$obj" \
		kunit=vmalloc_shadow_test stats
	check vmalloc "KUnit suite of vmalloc's shadow passes" all_pass "$(results shadow)"
	check vmalloc "and nothing else is on the console" quiet shadow
	check vmalloc "vmalloc's tests, processes and modules, in verify mode" \
		boot vmalloc --mem $mem --append kasan.unwinder=verify "$obj" \
			exec=/bin/vmalloc.sh,4 stats
	check vmalloc "no trace differs from frame records" \
		nothing_differed "$(results vmalloc)" "$least_compared"
	check vmalloc "the console is quiet" quiet vmalloc
	other=$("$TOP/scripts/build" "$base" "${without[@]}" 2>"$T/out")
	result $? "$KERNEL $CELL: vmalloc: the kernel without the option builds" "$T/out"
	check vmalloc "as much memory is free after vmalloc's tests" \
		as_much_free "$obj" "$other"
}

# The same kernel without the series.
stock_tests()
{
	local stock

	"$TOP/tests/record-stock" --print "$CELL" >"$T/stock" 2>"$T/out"
	result $? "$KERNEL $CELL: stock: the stock kernel runs KASAN's KUnit suite" "$T/out"
	check stock "with the recorded outcomes" same_outcomes "$T/stock"
	obj=$("$TOP/scripts/build" "$CELL" "${fragments[@]}" 2>"$T/out") &&
		stock=$("$TOP/scripts/build" --stock "$CELL" "${fragments[@]}" 2>>"$T/out")
	result $? "$KERNEL $CELL: stock: both kernels" "$T/out"
	check stock "a use-after-free is reported" use_after_free
	check stock "by the stock kernel, too" boot stock "$stock" lkdtm=READ_AFTER_FREE
	check stock "with the same stacks of allocation and free" same_report "$stock" stock
}
