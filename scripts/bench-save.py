#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a table, JSON and an SVG of what the guest's benchmark reported."""
import statistics
import sys

import bench

MEASURED = ("none", "frame", "copy", "scs")
VARIANTS = MEASURED + ("entry",)


def read_rows(path):
    """Rows of the benchmark's lines "out CASE ENTRIES VARIANT=NUMBER..."."""
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) != 3 + len(MEASURED) or words[0] != "out":
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
            if words[:2] != ["out", "cpus"] or len(words) != 4 + len(MEASURED):
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
             "passes": len(times[MEASURED[0]]),
             **{v: statistics.median(times[v]) for v in MEASURED},
             "spread": {v: [min(times[v]), max(times[v])] for v in MEASURED}}
            for (cpus, case), times in found.items()]


def print_cpus(rows):
    print()
    print("Nanoseconds for one save while as many CPUs save at once: median and range of "
          f"{rows[0]['passes']} passes (TCG, wall time)")
    bench.print_table(["CPUs", "case", *MEASURED], [
        [str(r["cpus"]), r["case"]]
        + [f"{r[v]:.0f} ({r['spread'][v][0]} to {r['spread'][v][1]})" for v in MEASURED]
        for r in rows])


def add_entry(rows, others):
    """What the other kernel's "scs" is, each without its call, as a variant of rows."""
    others = {(r["entries"], r["case"]): r for r in others}
    for row in rows:
        other = others[row["entries"], row["case"]]
        row["entry"] = row["none"] + net(other, "scs")


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


def print_saves(args, rows):
    print(f"Instructions for one save, without the call itself. {bench.measured_with(args)}, "
          "-icount shift=0,sleep=off")
    table = []
    for case in ("repeated", "new"):
        some = [r for r in rows if r["case"] == case]
        table += [[case, str(r["entries"])] + [str(net(r, v)) for v in VARIANTS[1:]]
                  + [f"{net(r, 'scs') / net(r, 'frame'):.3f}"] for r in some]
        if len(some) > 1:
            table.append([case, "per further entry"]
                         + [f"{slope(some, v):.1f}" for v in VARIANTS[1:]] + [""])
    bench.print_table(["case", "entries", *VARIANTS[1:], "scs / frame"], table)


def write_svg(args, rows):
    """Cost over depth."""
    width, height, left, right, bottom, top = 640, 360, 60, 110, 40, 40
    max_x = max(r["entries"] for r in rows)
    max_y = max(net(r, v) for r in rows for v in MEASURED[1:]) * 1.05

    def x(entries):
        return left + (width - left - right) * entries / max_x

    def y(cost):
        return height - bottom - (height - bottom - top) * cost / max_y

    parts, step = [], 10 ** (len(str(int(max_y))) - 1)
    for tick in range(0, int(max_y) + 1, step):
        parts.append(f'<line x1="{left}" x2="{x(max_x):.0f}" y1="{y(tick):.1f}" '
                     f'y2="{y(tick):.1f}" stroke="#ddd"/>'
                     f'<text x="{left - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    for tick in range(0, max_x + 1, 16):
        parts.append(f'<text x="{x(tick):.1f}" y="{height - bottom + 18}" '
                     f'text-anchor="middle">{tick}</text>')
    parts.append(f'<text x="{x(max_x / 2):.0f}" y="{height - 6}" '
                 'text-anchor="middle">entries</text>')
    labels = []
    for variant in MEASURED[1:]:
        for case, dashes in (("repeated", "none"), ("new", "5 3")):
            some = [r for r in rows if r["case"] == case]
            points = " ".join(f"{x(r['entries']):.1f},{y(net(r, variant)):.1f}" for r in some)
            parts.append(f'<polyline points="{points}" fill="none" '
                         f'stroke="{bench.COLOURS[variant]}" stroke-width="2" '
                         f'stroke-dasharray="{dashes}"/>')
            labels.append([y(net(some[-1], variant)) + 4, f"{variant}, {case}",
                           bench.COLOURS[variant]])
    # From the lowest to the highest, none over another.
    labels.sort(reverse=True)
    for below, label in zip(labels, labels[1:]):
        label[0] = min(label[0], below[0] - 13)
    parts += [f'<text x="{x(max_x) + 6:.0f}" y="{at:.1f}" fill="{colour}">{text}</text>'
              for at, text, colour in labels]
    bench.write_svg(args.out, "save.svg", "Instructions to save a trace, Linux "
                    f"{args.kernel} {args.mode} (TCG)", (width, height), parts)


def main():
    parser = bench.arguments(__doc__)
    parser.add_argument("result", help="what the guest reported")
    parser.add_argument("entry", help="and that with the interrupted PC on the stack")
    parser.add_argument("cpus", help="and that with several CPUs")
    args = parser.parse_args()
    rows, cpus = read_rows(args.result), read_cpus(args.cpus)
    add_entry(rows, read_rows(args.entry))
    bench.write_json(args.out, "save.json", {
        **bench.about(args), "unit": "instructions", "rows": rows,
        "cpus": {"unit": "ns", "rows": cpus}})
    write_svg(args, rows)
    print_saves(args, rows)
    print_cpus(cpus)


if __name__ == "__main__":
    main()
