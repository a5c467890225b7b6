# SPDX-License-Identifier: GPL-2.0
# Sourced by the bench-* scripts, after common.sh: the kernels that they compare, where
# results go, and what these say that they were measured with.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154

BENCH_VARIANTS="  nokasan      a kernel without KASAN
  none         no stack traces are saved
  frame-noscs  a kernel without the shadow call stack, so with frame records
  frame        frame records
  copy         the shadow call stack copied and judged, then the depot
  scs          what KASAN does with the series
  entry        scs with CONFIG_ARM64_SCS_INTERRUPTED_PC"
BENCH_OPTIONS="  --only LIST  only these, such as frame,scs,entry; none is always there
  --out DIR    write there
  --obj DIR, --nokasan DIR, --noscs DIR, --entry DIR  kernels that are built already"

obj='' stock='' nokasan='' noscs='' entry='' out='' boots='' passes=''
only=nokasan,none,frame-noscs,frame,copy,scs,entry

# set_option OPTION VALUE: take the VALUE of one of the OPTIONs named before.
set_option()
{
	[ $# -ge 2 ] || usage_error "$1 needs a value"
	case $1 in
	--boots) [[ $2 =~ ^[0-9]+$ ]] || usage_error "--boots $2: not a number" ;;
	--passes) [[ $2 =~ ^[1-9][0-9]*$ ]] || usage_error "--passes $2: not a number of boots" ;;
	--obj|--nokasan|--noscs|--entry)
		[ -d "$2" ] || die "$2: no such directory; remedy: scripts/build" ;;
	esac
	printf -v "${1#--}" %s "$2"
}

# kernel_of VARIANT: set kernel, which is built if need be, and append to what it is told.
# Besides the variants: stock, a kernel without the series.
kernel_of()
{
	local suffix=

	[ "$MODE" = generic ] || suffix=-$MODE
	append=
	case $1 in
	nokasan)
		[ -n "$nokasan" ] ||
			nokasan=$(MODE=generic "$TOP/scripts/build" nokasan nokasan) || exit 1
		kernel=$nokasan ;;
	stock)
		[ -n "$stock" ] || stock=$("$TOP/scripts/build" --stock "$MODE") || exit 1
		kernel=$stock ;;
	frame-noscs)
		[ -n "$noscs" ] ||
			noscs=$("$TOP/scripts/build" "bench-noscs$suffix" noscs) || exit 1
		kernel=$noscs ;;
	entry)
		[ -n "$entry" ] || entry=$("$TOP/scripts/build" "entry$suffix" entry) || exit 1
		kernel=$entry append=kasan.unwinder=scs ;;
	*)
		[ -n "$obj" ] || obj=$("$TOP/scripts/build" "$MODE") || exit 1
		kernel=$obj append=kasan.unwinder=$1 ;;
	esac
}

# choose_variants: set the array variants to what --only wants, and build what is missing.
choose_variants()
{
	local variant

	variants=(none)
	for variant in ${only//,/ }; do
		case $variant in
		none) ;;
		nokasan|frame-noscs|frame|copy|scs|entry) variants+=("$variant") ;;
		*) usage_error "--only $only: there is no $variant" ;;
		esac
	done
	for variant in "${variants[@]}"; do
		kernel_of "$variant"
	done
}

# results_folder: set out, the folder for results, unless --out did.
results_folder()
{
	local name=$KERNEL

	if [ -n "$KDIR" ]; then
		name=kdir-$(tree_version "$KDIR") || exit 1
	fi
	out=${out:-$BUILD/bench/$name}
	mkdir -p "$out"
}

# measured_boot ARGUMENT...: as scripts/boot; it takes the same time each time.
measured_boot()
{
	"$TOP/scripts/bench-small-pages" "$TOP/scripts/boot" "$@"
}

# describe CPU: set about, the arguments for a script that writes results.
describe()
{
	about=(--kernel "$(cat "$obj/include/config/kernel.release")" --cpu "$1"
		--mode "$MODE" --compiler "$(compiler_version)"
		--qemu "$(qemu_version)" --out "$out")
}
