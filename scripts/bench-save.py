#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a table, JSON and an SVG of what the guest's benchmark reported."""
import argparse
import json
import os
import statistics
import sys

VARIANTS = ("none", "frame", "copy", "scs")
COLOURS = {"frame": "#b3261e", "copy": "#c98a00", "scs": "#1a6b3c"}


def read_rows(path):
    """Rows of the benchmark's lines "out CASE ENTRIES VARIANT=NUMBER..."."""
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) != 3 + len(VARIANTS) or words[0] != "out":
                continue
            row = {"entries": int(words[2]), "case": words[1]}
            for word in words[3:]:
                name, value = word.split("=")
                if value.endswith("!"):
                    sys.exit(f"bench-save: error: {name} did not save a trace: {line.strip()}")
                row[name] = int(value)
            rows.append(row)
    if not rows:
        sys.exit(f"bench-save: error: {path}: no line of the benchmark in it")
    return rows


def read_cpus(path):
    """Rows of the lines "out cpus N CASE VARIANT=NANOSECONDS...", of all passes."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[:2] != ["out", "cpus"] or len(words) != 4 + len(VARIANTS):
                continue
            for word in words[4:]:
                name, value = word.split("=")
                if int(value) < 0:
                    sys.exit(f"bench-save: error: {name} failed: {line.strip()}")
                found.setdefault((int(words[2]), words[3]), {}).setdefault(name, []).append(
                    int(value))
    if not found:
        sys.exit(f"bench-save: error: {path}: no line for several CPUs in it")
    return [{"cpus": cpus, "case": case,
             "passes": len(times[VARIANTS[0]]),
             **{v: statistics.median(times[v]) for v in VARIANTS},
             "spread": {v: [min(times[v]), max(times[v])] for v in VARIANTS}}
            for (cpus, case), times in found.items()]


def print_cpus(rows):
    print()
    print("Nanoseconds for one save while as many CPUs save at once: median and range of "
          f"{rows[0]['passes']} passes (TCG, wall time)")
    print()
    print("| CPUs | case | " + " | ".join(VARIANTS) + " |")
    print("|---|---|" + "---|" * len(VARIANTS))
    for r in rows:
        cells = [f"{r[v]:.0f} ({r['spread'][v][0]} to {r['spread'][v][1]})" for v in VARIANTS]
        print(f"| {r['cpus']} | {r['case']} | " + " | ".join(cells) + " |")


def net(row, variant):
    """The cost of a save without that of the call chain around it."""
    return row[variant] - row["none"]


def slope(rows, variant):
    """Cost per further entry, by least squares."""
    n = len(rows)
    mx = sum(r["entries"] for r in rows) / n
    my = sum(r[variant] for r in rows) / n
    sxx = sum((r["entries"] - mx) ** 2 for r in rows)
    sxy = sum((r["entries"] - mx) * (r[variant] - my) for r in rows)
    return sxy / sxx if sxx else 0


def print_table(about, rows):
    print(f"Instructions for one save, without the call itself. Linux {about['kernel']} "
          f"{about['mode']}, {about['compiler']}, {about['qemu']}, "
          f"-cpu {about['cpu']}, TCG, -icount shift=0,sleep=off")
    print()
    print("| case | entries | frame | copy | scs | scs / frame |")
    print("|---|---|---|---|---|---|")
    for case in ("repeated", "new"):
        some = [r for r in rows if r["case"] == case]
        for r in some:
            print(f"| {case} | {r['entries']} | {net(r, 'frame')} | {net(r, 'copy')} "
                  f"| {net(r, 'scs')} | {net(r, 'scs') / net(r, 'frame'):.3f} |")
        if len(some) > 1:
            print(f"| {case} | per further entry | "
                  + " | ".join(f"{slope(some, v):.1f}" for v in VARIANTS[1:]) + " | |")


def write_svg(path, about, rows):
    """Cost over depth, for repeated traces."""
    some = [r for r in rows if r["case"] == "repeated"]
    width, height, left, bottom, top = 640, 360, 70, 40, 30
    max_x = max(r["entries"] for r in some)
    max_y = max(net(r, v) for r in some for v in VARIANTS[1:]) * 1.05

    def x(entries):
        return left + (width - left - 90) * entries / max_x

    def y(cost):
        return height - bottom - (height - bottom - top) * cost / max_y

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{left}" y="18">Instructions to save a repeated trace, '
             f'Linux {about["kernel"]} {about["mode"]} (TCG)</text>']
    step = 10 ** (len(str(int(max_y))) - 1)
    for tick in range(0, int(max_y) + 1, step):
        parts.append(f'<line x1="{left}" x2="{x(max_x):.0f}" y1="{y(tick):.1f}" '
                     f'y2="{y(tick):.1f}" stroke="#ddd"/>'
                     f'<text x="{left - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    for tick in range(0, max_x + 1, 16):
        parts.append(f'<text x="{x(tick):.1f}" y="{height - bottom + 18}" '
                     f'text-anchor="middle">{tick}</text>')
    parts.append(f'<text x="{x(max_x / 2):.0f}" y="{height - 6}" '
                 'text-anchor="middle">entries</text>')
    for variant in VARIANTS[1:]:
        points = " ".join(f"{x(r['entries']):.1f},{y(net(r, variant)):.1f}" for r in some)
        last = some[-1]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[variant]}" '
                     'stroke-width="2"/>'
                     f'<text x="{x(last["entries"]) + 6:.0f}" y="{y(net(last, variant)) + 4:.1f}" '
                     f'fill="{COLOURS[variant]}">{variant}</text>')
    parts.append("</svg>")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(parts) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("kernel", "compiler", "qemu", "cpu", "mode", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("result", help="what the guest reported")
    parser.add_argument("cpus", help="what the guest with several CPUs reported")
    args = parser.parse_args()
    about = {name: getattr(args, name) for name in ("kernel", "compiler", "qemu", "cpu", "mode")}
    rows, cpus = read_rows(args.result), read_cpus(args.cpus)
    with open(os.path.join(args.out, "save.json"), "w", encoding="utf-8") as f:
        json.dump({**about, "unit": "instructions", "rows": rows,
                   "cpus": {"unit": "ns", "rows": cpus}}, f, indent=1)
        f.write("\n")
    write_svg(os.path.join(args.out, "save.svg"), about, rows)
    print_table(about, rows)
    print_cpus(cpus)


if __name__ == "__main__":
    main()
