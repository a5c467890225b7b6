#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make tables, JSON and an SVG of the figures of many boots."""
import bench

# Variants whose traces have a share of what KASAN costs: they differ from "none" in
# nothing else.
TRACING = ("frame", "copy", "scs", "entry")


def read_rows(path):
    """Rows of lines "CPU<tab>CONSOLE<tab>VARIANT<tab>UNIT<tab>FIGURE"."""
    rows = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            cpu, console, variant, unit, figure = line.rstrip("\n").split("\t")
            row = rows.setdefault((cpu, console), {"instructions": {}, "seconds": {}})
            row[unit].setdefault(variant, []).append(float(figure))
    return [{"cpu": cpu, "console": console,
             **bench.figures("instructions", row["instructions"]),
             **bench.figures("seconds", row["seconds"])}
            for (cpu, console), row in rows.items()]


def share(n, variant):
    """What part of the cost of KASAN is stack traces, in %."""
    kasan, none, base = n[variant], n["none"], n["nokasan"]
    return 100 * ((kasan - base) - (none - base)) / (kasan - base)


def print_unit(rows, unit, scale, digits, spread):
    variants = list(rows[0][unit])
    shares = [v for v in TRACING if v in variants and "nokasan" in variants]
    bench.print_table(
        ["-cpu", "console", *variants, *(f"share of {v}" for v in shares)],
        [[r["cpu"], r["console"], *bench.cells(r, unit, scale, digits, spread),
          *(f"{share(r[unit], v):.1f} %" for v in shares)] for r in rows])


def main():
    parser = bench.arguments(__doc__)
    parser.add_argument("figures", help="a boot a line")
    args = parser.parse_args()
    rows = read_rows(args.figures)
    bench.write_json(args.out, "boot.json", {
        **bench.about(args), "unit": "instructions, seconds", "spread": "quartiles", "rows": rows})
    bench.write_dots(args.out, "boot.svg", "Instructions of a boot over no traces, Linux "
                     f"{args.kernel} {args.mode} (TCG)",
                     [(f"{r['cpu']}, {r['console']}", bench.overheads(r)) for r in rows])

    print(f"A boot to init. Linux {args.kernel} {args.mode}, {args.compiler}, {args.qemu}, TCG. "
          "What is added to none, and the share of KASAN's cost that traces have: "
          "((KASAN - base) - (none - base)) / (KASAN - base), base is nokasan")
    print()
    print("Million instructions, -icount shift=0,sleep=off, one CPU: median of "
          f"{rows[0]['instructions_boots']} boots")
    print_unit(rows, "instructions", 1e-6, 1, False)
    if rows[0]["seconds_boots"]:
        print()
        print("Seconds, two CPUs, from QEMU's start until the guest is off: median and quartiles "
              f"of {rows[0]['seconds_boots']} boots")
        print_unit(rows, "seconds", 1, 2, True)


if __name__ == "__main__":
    main()
