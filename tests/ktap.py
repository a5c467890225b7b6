#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the cases of the KTAP in a guest's results as "case: pass|fail|skip".

Usage: ktap.py RESULT_FILE...
Of several runs each case has its best outcome.
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
    files = sys.argv[1:]
    if not files or files[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    best = {}
    for name in files:
        with open(name, encoding="utf-8", errors="replace") as f:
            found = list(cases(f))
        if not found:
            print("ktap.py: error: no test case in " + name, file=sys.stderr)
            return 1
        for case, outcome in found:
            if best.get(case) != "pass":
                best[case] = outcome
    for case, outcome in best.items():
        print(f"{case}: {outcome}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
