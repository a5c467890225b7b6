#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a table and JSON of boots with different unwinders.

Each folder is that of one boot, build/boot/bench-load-VARIANT.
"""
import argparse
import json
import os
import re
import sys

INIT = re.compile(r"^\[ *(\d+)\.(\d+)\].* Run /init as init process")


def instructions(folder):
    """{work: instructions} of one boot; its clock's unit is a nanosecond each."""
    work = {}
    with open(os.path.join(folder, "console.log"), encoding="utf-8", errors="replace") as f:
        for line in f:
            found = INIT.match(line)
            if found:
                work["boot to init"] = int(found[1]) * 10**9 + int(found[2]) * 1000
    with open(os.path.join(folder, "result"), encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) == 4 and words[0] == "out":
                work[words[1]] = round((float(words[3]) - float(words[2])) * 1e9)
    if len(work) < 2:
        sys.exit(f"bench-load: error: {folder}: no figures in it")
    return work


def sources(folder):
    """The unwinder's counters at the end of one boot."""
    found = {}
    with open(os.path.join(folder, "result"), encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) == 3 and words[0] == "stats" and words[2].isdigit():
                found[words[1].rstrip(":")] = int(words[2])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("kernel", "compiler", "qemu", "cpu", "mode", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("folder", nargs="+", help="a boot's folder")
    args = parser.parse_args()
    about = {name: getattr(args, name) for name in ("kernel", "compiler", "qemu", "cpu", "mode")}
    boots = {f.rsplit("-", 1)[1]: instructions(f) for f in args.folder}
    rows = [{"work": work, "instructions": {v: boots[v][work] for v in boots}}
            for work in boots["none"]]
    counts = sources(args.folder[-1])
    with open(os.path.join(args.out, "load.json"), "w", encoding="utf-8") as f:
        json.dump({**about, "unit": "instructions", "rows": rows, "traces": counts}, f, indent=1)
        f.write("\n")

    print(f"Instructions, in millions, and what is added to none. Linux {about['kernel']} "
          f"{about['mode']}, {about['compiler']}, {about['qemu']}, -cpu {about['cpu']}, "
          "TCG, -icount shift=0,sleep=off, one CPU; the guest's clock has steps of 10")
    print()
    print("| work | " + " | ".join(boots) + " | scs against frame |")
    print("|---|" + "---|" * (len(boots) + 1))
    for row in rows:
        n = row["instructions"]
        cells = [f"{n['none'] / 1e6:.0f}"]
        cells += [f"{n[v] / 1e6:.0f} ({100 * n[v] / n['none'] - 100:+.1f} %)"
                  for v in boots if v != "none"]
        print(f"| {row['work']} | " + " | ".join(cells)
              + f" | {100 * n['scs'] / n['frame'] - 100:+.1f} % |")
    print()
    print("traces with scs: " + ", ".join(f"{name} {counts[name]}" for name in
                                          ("saved", "memo", "judged", "fallback")))


if __name__ == "__main__":
    main()
