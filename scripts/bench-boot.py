#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a table, JSON and an SVG of the figures of many boots."""
import argparse
import json
import os
import statistics

VARIANTS = ("none", "frame", "copy", "scs")
COLOURS = {"frame": "#b3261e", "copy": "#c98a00", "scs": "#1a6b3c"}


def read_rows(path):
    """A row for each CPU and console, of lines "CPU CONSOLE VARIANT UNIT FIGURE"."""
    rows = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            cpu, console, variant, unit, figure = line.rstrip("\n").split("\t")
            row = rows.setdefault((cpu, console), {"instructions": {}, "seconds": {}})
            row[unit].setdefault(variant, []).append(float(figure))
    found = []
    for (cpu, console), row in rows.items():
        seconds = row["seconds"]
        found.append({
            "cpu": cpu, "console": console,
            "instructions": {v: int(n[0]) for v, n in row["instructions"].items()},
            "boots": len(next(iter(seconds.values()), [])),
            "seconds": {v: statistics.median(n) for v, n in seconds.items()},
            "seconds_range": {v: [min(n), max(n)] for v, n in seconds.items()}})
    return found


def share(n, variant):
    """What part of the cost of KASAN is stack traces, in %."""
    return 100 * (n[variant] - n["none"]) / (n[variant] - n["nokasan"])


def added(n, variant):
    return f"{100 * n[variant] / n['none'] - 100:+.1f} %"


def print_table(about, rows):
    print(f"A boot to init. Linux {about['kernel']} {about['mode']}, {about['compiler']}, "
          f"{about['qemu']}, TCG; million instructions: -icount shift=0,sleep=off, one CPU; "
          "seconds: two CPUs, to power off, median and range")
    for unit, scale, digits in (("instructions", 1e6, 1), ("seconds", 1, 2)):
        if not rows[0][unit]:
            continue
        print()
        print(f"| -cpu | console | no traces, {unit} | frame records | copy | scs "
              "| traces' share of KASAN: frame | scs |")
        print("|---|---|---|---|---|---|---|---|")
        for r in rows:
            n = r[unit]
            cells = []
            for v in VARIANTS:
                cell = f"{n[v] / scale:.{digits}f}"
                if v != "none":
                    cell += f" ({added(n, v)})"
                if unit == "seconds":
                    low, high = r["seconds_range"][v]
                    cell += f" [{low:.2f} to {high:.2f}]"
                cells.append(cell)
            print(f"| {r['cpu']} | {r['console']} | " + " | ".join(cells)
                  + f" | {share(n, 'frame'):.1f} % | {share(n, 'scs'):.1f} % |")


def write_svg(path, about, rows):
    """What each unwinder adds to the instructions of a boot."""
    width, left, line = 640, 210, 16
    most = max(r["instructions"][v] / r["instructions"]["none"] - 1
               for r in rows for v in VARIANTS[1:])
    parts, y = [], 44
    for r in rows:
        n = r["instructions"]
        parts.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">'
                     f'{r["cpu"]}, {r["console"]}</text>')
        for v in VARIANTS[1:]:
            over = n[v] / n["none"] - 1
            bar = max(1, (width - left - 110) * over / most)
            parts.append(f'<rect x="{left}" y="{y}" width="{bar:.1f}" height="{line - 4}" '
                         f'fill="{COLOURS[v]}"/><text x="{left + bar + 5:.1f}" '
                         f'y="{y + 10}">{v} {100 * over:+.1f} %</text>')
            y += line
        y += 10
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" '
            'font-family="sans-serif" font-size="11">',
            f'<rect width="{width}" height="{y}" fill="white"/>',
            f'<text x="10" y="20" font-size="13">Instructions of a boot over no traces, Linux '
            f'{about["kernel"]} {about["mode"]} (TCG)</text>']
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(head + parts + ["</svg>"]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("kernel", "compiler", "qemu", "mode", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("figures", help="a boot a line")
    args = parser.parse_args()
    about = {name: getattr(args, name) for name in ("kernel", "compiler", "qemu", "mode")}
    rows = read_rows(args.figures)
    with open(os.path.join(args.out, "boot.json"), "w", encoding="utf-8") as f:
        json.dump({**about, "cpu": "in each row", "unit": "instructions, seconds",
                   "rows": rows}, f, indent=1)
        f.write("\n")
    write_svg(os.path.join(args.out, "boot.svg"), about, rows)
    print_table(about, rows)


if __name__ == "__main__":
    main()
