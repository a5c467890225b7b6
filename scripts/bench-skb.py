#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a table and JSON of how long allocating and freeing socket buffers took."""
import bench

MILLION = 1000000


def main():
    parser = bench.arguments(__doc__)
    parser.add_argument("--pairs", type=int, required=True, help="how often")
    parser.add_argument("--size", type=int, required=True, help="bytes of each buffer")
    parser.add_argument("figures", help="a line VARIANT NANOSECONDS for each boot")
    args = parser.parse_args()
    with open(args.figures, encoding="utf-8") as f:
        # A nanosecond is an instruction.
        row = {variant: round(int(ns) * MILLION / args.pairs)
               for variant, ns in map(str.split, f)}
    bench.write_json(args.out, "skb.json", {
        **bench.about(args), "unit": "instructions", "pairs": args.pairs, "size": args.size,
        "rows": [{"tracing": "off", **row}]})

    print("Instructions for alloc_skb() and kfree_skb(), "
          f"{args.size} bytes, mean of {args.pairs:,} pairs. {bench.measured_with(args)}, "
          "-icount shift=0,sleep=off, one CPU")
    bench.print_table(
        ["", *row],
        [["instructions"] + [f"{n / MILLION:,.0f}" for n in row.values()]]
        + [[f"over {base}"] + [f"{n / row[base]:.2f}" for n in row.values()]
           for base in ("nokasan", "none", "frame")])


if __name__ == "__main__":
    main()
