#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the cases of the KTAP in a guest's results as "case: pass|fail|skip".

Usage: ktap.py RESULT_FILE
"""
import re
import sys

CASE = re.compile(r"^(\s+)(ok|not ok) \d+ (?:- )?([\w.-]+)(.*)$")


def cases(lines):
    """Yield (name, outcome) of each case; suites are not indented."""
    for line in lines:
        if not line.startswith("ktap "):
            continue
        found = CASE.match(line[len("ktap "):].rstrip("\n"))
        if not found:
            continue
        _, ok, name, rest = found.groups()
        if "# SKIP" in rest:
            yield name, "skip"
        else:
            yield name, "pass" if ok == "ok" else "fail"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8", errors="replace") as f:
        found = list(cases(f))
    for name, outcome in found:
        print(f"{name}: {outcome}")
    if not found:
        print("ktap.py: error: no test case in " + sys.argv[1], file=sys.stderr)
    return not found


if __name__ == "__main__":
    sys.exit(main())
