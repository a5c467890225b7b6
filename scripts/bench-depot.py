#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a table and JSON of what the stack depot held after the soak."""
import statistics

import bench


def main():
    parser = bench.arguments(__doc__)
    parser.add_argument("--seconds", type=int, required=True, help="how long the guests worked")
    parser.add_argument("--smp", type=int, required=True, help="their CPUs")
    parser.add_argument("figures", help="a line KERNEL RECORDS BYTES for each boot")
    args = parser.parse_args()
    found = {}
    with open(args.figures, encoding="utf-8") as f:
        for kernel, records, size in map(str.split, f):
            found.setdefault(kernel, []).append((int(records), int(size)))
    rows = []
    for column, unit in enumerate(("records", "bytes")):
        numbers = {kernel: [n[column] for n in boots] for kernel, boots in found.items()}
        rows.append({"counted": unit, **{k: statistics.mean(n) for k, n in numbers.items()},
                     "boots": numbers})
    bench.write_json(args.out, "depot.json", {
        **bench.about(args), "unit": "persistent records and their bytes",
        "seconds": args.seconds, "smp": args.smp, "rows": rows})

    print(f"The stack depot after {args.seconds} s of work. {bench.measured_with(args)}, "
          f"{args.smp} CPUs")
    bench.print_table(
        ["", "stock", "scs", "more than stock"],
        [[row["counted"]] + [f"{row[k]:,.0f} ({min(row['boots'][k]):,} to {max(row['boots'][k]):,})"
                             for k in ("stock", "scs")]
         + [f"{bench.added(row, 'scs', 'stock'):+.1f} %"] for row in rows])


if __name__ == "__main__":
    main()
