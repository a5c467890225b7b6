# SPDX-License-Identifier: GPL-2.0
# Reads tests/cells: sourced after scripts/common.sh.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154

# cells: the table's lines, without comments.
cells()
{
	grep -v '^#' "$TOP/tests/cells"
}

# list_cells: "KERNEL NAME" for all that tests/cell runs, the stock kernels last.
list_cells()
{
	local name kernels kernel more rest stock=()

	while read -r name _ _ kernels _ more rest; do
		for kernel in ${kernels//,/ }; do
			echo "$kernel $name"
			[[ ,$more, != *,kasan,* ]] || stock+=("$kernel stock-$name")
		done
	done < <(cells)
	printf '%s\n' "${stock[@]}"
}

# read_cell: set what the kernel of the cell CELL, a KERNEL's, is built with:
# MODE, TOOLCHAIN and fragments; and more, what is tested besides. All files include
# tests/include/KERNEL-CELL.h first, if there is one.
read_cell()
{
	local name kernels list header=$TOP/tests/include/$KERNEL-$CELL.h

	case " $KERNELS " in
	*" $KERNEL "*) ;;
	*) die "KERNEL=$KERNEL: not one of ${KERNELS// /, }" ;;
	esac
	while read -r name MODE TOOLCHAIN kernels list more; do
		[ "$name" = "$CELL" ] || continue
		[[ ,$kernels, == *,$KERNEL,* ]] ||
			die "tests/cells: $CELL is not for $KERNEL; it is for ${kernels//,/, }"
		fragments=()
		[ "$list" = - ] || IFS=, read -ra fragments <<<"$list"
		KDIR=
		export KERNEL KDIR MODE TOOLCHAIN
		[ ! -e "$header" ] || export KCPPFLAGS="-include $header"
		return
	done < <(cells)
	die "$CELL: no such cell; tests/cells has $(cells | cut -f 1 | paste -sd ' ' | sed 's/ /, /g')"
}

# has WHAT: is it tested besides?
has()
{
	[[ ,$more, == *,$1,* ]]
}

# kasan_outcomes NAME OBJ RECORD OPTION...: run KASAN's KUnit suite in the kernel
# OBJ, in boots called NAME-N, and print the outcome of each case. Some bugs are found
# by chance: with tags, unless two happen to be the same, and next to an object, unless
# that memory is in use. So a case passes if it did in one of five boots. The first
# ones that say what the file RECORD says are enough. Cases that fail on the stock
# kernel fail the boot's job: 14.
kasan_outcomes()
{
	local name=$1 obj=$2 record=$3 n rc results=() outcomes=''

	shift 3
	for n in 1 2 3 4 5; do
		rc=0
		"$TOP/scripts/boot" "$@" --timeout 400 --name "$name-$n" "$obj" \
			kunit=kasan_test stats >"$BUILD/log/$name" 2>&1 || rc=$?
		if [ "$rc" -ne 0 ] && [ "$rc" -ne 14 ]; then
			cat "$BUILD/log/$name" >&2
			return 1
		fi
		results+=("$BUILD/boot/$name-$n/result")
		outcomes=$("$TOP/tests/ktap.py" "${results[@]}") || return 1
		if [ "$outcomes" = "$(grep -v '^#' "$record" 2>/dev/null)" ]; then
			break
		fi
	done
	echo "$outcomes"
}
