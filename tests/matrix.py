#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the results of the cells as an RST table: kernel and cell by test.

Usage: matrix.py DIRECTORY

DIRECTORY has the TAP files, KERNEL-NAME.tap for each line of tests/cell --list. A
result belongs to the column that its description names: "KERNEL NAME: COLUMN: ...".
"--": this cell has no such test (a single dash would be a list in RST).
"""
import os
import re
import subprocess
import sys

COLUMNS = ["build", "warn", "off", "boot", "scs", "kunit", "nmi", "verify", "contexts",
           "efi", "vmalloc", "uaf", "kasan", "stock"]
CASE = re.compile(r"^(ok|not ok) \d+ - (\S+ \S+): (\w+): (.*)$")
WORST = ["FAIL", "not run", "skip", "pass"]


def worse(one, other):
    return min(one, other, key=WORST.index)


def read_results(path, row):
    """Return {column: outcome} of a TAP file, and whether it ran to its end."""
    found, ended = {}, False
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            lines = f.read().splitlines()
    except FileNotFoundError:
        return {}, False
    for line in lines:
        case = CASE.match(line)
        if case and case.group(2) == row and case.group(3) in COLUMNS:
            outcome = "pass" if case.group(1) == "ok" else "FAIL"
            if "# SKIP" in case.group(4):
                outcome = "skip"
            found[case.group(3)] = worse(outcome, found.get(case.group(3), outcome))
        ended |= line.startswith("1..")
    return found, ended and f"# {row}: the rest is not run" not in lines


def read_matrix(directory, names):
    """Return {row: {column: outcome}} for lines "KERNEL NAME"."""
    rows = {}
    for kernel, name in names:
        stock = name.startswith("stock-")
        row = f"{kernel} {name.removeprefix('stock-')}"
        found, ended = read_results(
            os.path.join(directory, f"{kernel}-{name}.tap"), row)
        cells = rows.setdefault(row, dict.fromkeys(COLUMNS, "--"))
        for column in COLUMNS:
            if column in found:
                cells[column] = found[column]
            elif not ended and (column == "stock") == stock:
                cells[column] = "not run"
    return rows


def table(rows):
    """The lines of an RST simple table.

    Two spaces between columns: checkpatch takes "pass pass" for a word too many.
    """
    lines = [["kernel, cell"] + COLUMNS]
    lines += [[row] + [cells[c] for c in COLUMNS] for row, cells in rows.items()]
    widths = [max(map(len, column)) for column in zip(*lines)]
    rule = "  ".join("=" * w for w in widths)
    text = ["  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip()
            for line in lines]
    return [rule, text[0], rule] + text[1:] + [rule]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    cell = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cell")
    listed = subprocess.run([cell, "--list"], check=True, capture_output=True,
                            text=True).stdout
    print("\n".join(table(read_matrix(
        sys.argv[1], [line.split() for line in listed.splitlines()]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
