#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make tables, JSON and an SVG of what test_vmalloc said on many consoles."""
import os
import re
import statistics
import sys

import bench

UNITS = {"performance": "instructions", "sequential": "microseconds"}
SHOWN = {"nokasan": "no KASAN", "stock": "stock KASAN", "none": "no traces",
         "frame": "frame records"}
# A test that has to fail: its last alignments cannot be had.
MEANT_TO_FAIL = "align_shift_alloc_test"
SUMMARY = re.compile(r"Summary: (\w+) passed: \d+ failed: (\d+) (?:xfailed: (\d+) )?"
                     r"repeat: (\d+) loops: (\d+) avg: (\d+) usec")
TOTAL = re.compile(r"All test took worker\d+=(\d+) cycles")
MHZ = re.compile(r"arch_timer: .* running at ([\d.]+)MHz")
EARLIER = ("2019, on an x86 VM, over no KASAN: total 4.18 without and 7.35 with shadow for "
           "vmalloc (performance), 4.13 and 8.98 (sequential); the worst test was "
           "align_shift_alloc_test, 22.35.")


def read_console(path):
    """Return {test: microseconds}, {test: failures}, (repeats, loops)."""
    times, failed, totals, mhz, counts = {}, {}, [], None, None
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if m := SUMMARY.search(line):
                counts = (int(m[4]), int(m[5]))
                times.setdefault(m[1], []).append(int(m[6]))
                failed[m[1]] = failed.get(m[1], 0) + int(m[2]) + int(m[3] or 0)
            elif m := TOTAL.search(line):
                totals.append(int(m[1]))
            elif m := MHZ.search(line):
                mhz = float(m[1])
    if not times or not totals or not mhz:
        sys.exit(f"bench-vmalloc: error: {path}: no summary of the tests or no timer in it")
    # What one of several workers needed; all of them are done when the last one is.
    found = {test: statistics.mean(t) for test, t in times.items()}
    found["total"] = max(totals) / mhz / counts[0]
    return found, failed, counts


def read_consoles(folder):
    """Rows of all consoles FORM.VARIANT.N, and how often the tests ran."""
    figures, failed, counts = {}, {}, None
    for name in sorted(os.listdir(folder)):
        form, variant, _ = name.split(".")
        times, failures, counts = read_console(os.path.join(folder, name))
        for test, microseconds in times.items():
            # A nanosecond is an instruction there.
            scale = 1000 if form == "performance" else 1
            figures.setdefault((form, test), {}).setdefault(variant, []).append(
                round(scale * microseconds))
            worst = failed.setdefault((form, test), {})
            worst[variant] = max(worst.get(variant, 0), failures.get(test, 0))
    rows = []
    for (form, test), n in figures.items():
        rows.append({"form": form, "test": test, "unit": UNITS[form],
                     "boots": min(map(len, n.values())),
                     **{v: round(statistics.median(n[v])) for v in n},
                     "spread": {v: bench.quartiles(n[v]) for v in n},
                     "failed": {v: k for v, k in failed[form, test].items() if k}})
    return rows, counts


def print_form(rows, form, variants):
    rows = [r for r in rows if r["form"] == form]
    if not rows:
        return
    of = "boots, one worker, one CPU"
    if form == "sequential":
        of = "boots, the mean of workers at once, one for each CPU (total: until the last is done)"
    print()
    print(f"{form}, {UNITS[form]}: median of {rows[0]['boots']} {of}. Factors over no KASAN, "
          "in brackets over frame records")
    table = []
    for r in rows:
        cells = [f"{r[v] / r['nokasan']:.2f}" + (f" ({r[v] / r['frame']:.2f})"
                                                if "frame" in r and v != "frame" else "")
                 for v in variants[1:]]
        table.append([r["test"], f"{r['nokasan']:,}"] + cells)
    bench.print_table(["test", "no KASAN"] + [SHOWN.get(v, v) for v in variants[1:]], table)
    print_total(next(r for r in rows if r["test"] == "total"), variants)
    for r in rows:
        if r["failed"] and r["test"] != MEANT_TO_FAIL:
            print(f"{r['test']} FAILED, times: {r['failed']}")


def print_total(row, variants):
    print()
    print(f"Total, {row['unit']}, median and quartiles: " + "; ".join(
        f"{SHOWN.get(v, v)} {row[v]:,} [{row['spread'][v][0]:,.0f} to {row['spread'][v][1]:,.0f}]"
        for v in variants) + ".")
    for base in ("stock", "frame"):
        if base in variants:
            print(f"Total over {SHOWN[base]}: " + ", ".join(
                f"{SHOWN.get(v, v)} {bench.added(row, v, base):+.1f} %"
                for v in variants if v not in ("nokasan", base)) + ".")


def write_svg(args, rows):
    """What the others take off frame records, in instructions."""
    if not rows or "frame" not in rows[0]:
        return
    bench.COLOURS.update(stock="#7b1fa2", cheap="#1565c0")
    bench.write_dots(args.out, "vmalloc.svg", "Instructions of vmalloc's tests over frame records, "
                     f"Linux {args.kernel} {args.mode} (TCG)",
                     [(r["test"], {v: bench.added(r, v, "frame")
                                   for v in ("stock", "scs", "cheap") if v in r})
                      for r in rows])


def main():
    parser = bench.arguments(__doc__)
    parser.add_argument("--mask", type=int, required=True, help="which tests ran")
    parser.add_argument("--mem", required=True, help="memory of the guest")
    parser.add_argument("--variants", required=True, help="in the order to show")
    parser.add_argument("consoles", help="the folder of consoles")
    args = parser.parse_args()
    variants = args.variants.split()
    rows, (repeat, loops) = read_consoles(args.consoles)
    bench.write_json(args.out, "vmalloc.json", {
        **bench.about(args), "unit": "instructions, microseconds", "spread": "quartiles",
        "loops": loops, "repeat": repeat, "mask": args.mask, "memory": args.mem, "rows": rows})
    write_svg(args, [r for r in rows if r["form"] == "performance"])

    print(f"{bench.measured_with(args)}, {args.mem} of memory. test_vmalloc "
          f"sequential_test_order=1 test_repeat_count={repeat} test_loop_count={loops} "
          f"run_test_mask={args.mask} (all {sum(r['form'] == rows[0]['form'] for r in rows) - 1} "
          f"tests). {MEANT_TO_FAIL} is meant to fail.")
    print(EARLIER)
    for form in UNITS:
        print_form(rows, form, variants)


if __name__ == "__main__":
    main()
