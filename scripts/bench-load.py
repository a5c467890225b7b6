#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make tables, JSON and an SVG of the work of guests with different unwinders.

In the folder are their reports, VARIANT.instructions.N and VARIANT.seconds.N.
"""
import os
import sys

import bench

# The targets: what scs may add to none, and what it has to save of frame-noscs, in %.
MOST_ADDED = 2
LEAST_SAVED = 25
# The same system call without and with an exception from EL1.
WITHOUT, WITH = "getcpu", "getcpu-fault"


def traces_of(words):
    """Where traces came from, by a report's words COUNTER=CHANGE."""
    change = {}
    for word in words:
        name, _, n = word.partition("=")
        if name in ("persistent_count", "refcounted_allocations"):
            name = "new"
        elif name not in ("saved", "memo", "judged", "fallback") and \
                not name.startswith("fallback_"):
            continue
        change[name] = change.get(name, 0) + int(n)
    return change


def read_report(path):
    """[(work, nanoseconds, of these idle, other words)...] of one boot."""
    works = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[:2] == ["out", "skip"]:
                print("bench-load: left out: " + " ".join(words[2:]), file=sys.stderr)
            elif words[0] == "out" and len(words) > 3:
                works.append((words[1], int(words[2]), int(words[3]), words[4:]))
    if not works:
        sys.exit(f"bench-load: error: {path}: no figures in it")
    return works


def read_folder(folder):
    """A row for each work."""
    rows = {}
    for name in sorted(os.listdir(folder)):
        variant, unit, _ = name.split(".")
        for work, ns, idle, words in read_report(os.path.join(folder, name)):
            row = rows.setdefault(work, {"instructions": {}, "seconds": {}, "traces": {},
                                         "least": {}})
            figure = ns - idle if unit == "instructions" else ns / 1e9
            row[unit].setdefault(variant, []).append(figure)
            if unit == "instructions":
                if variant in ("scs", "entry"):
                    row["traces"][variant] = traces_of(words)
                for word in words:
                    if word.startswith("least="):
                        row["least"][variant] = int(word[6:])
    return [{"work": work, **bench.figures("instructions", row["instructions"]),
             **bench.figures("seconds", row["seconds"]),
             "traces": row["traces"], "least": row["least"]} for work, row in rows.items()]


def print_instructions(rows):
    variants = list(rows[0]["instructions"])
    against = [v for v in ("frame-noscs", "frame") if v in variants and "scs" in variants]
    bench.print_table(
        ["work", *variants, *(f"scs against {v}" for v in against)],
        [[r["work"], *bench.cells(r, "instructions", 1e-6, 1, False),
          *(f"{bench.added(r['instructions'], 'scs', v):+.1f} %" for v in against)]
         for r in rows])


def print_seconds(rows):
    bench.print_table(["work", *rows[0]["seconds"]],
                      [[r["work"], *bench.cells(r, "seconds", 1e3, 0, True)] for r in rows])


def print_traces(rows, variant):
    """Where they came from. An old depot does not count its records."""
    counted = any("new" in r["traces"][variant] for r in rows)
    table = []
    for row in rows:
        t = row["traces"][variant]
        saved = t.get("saved", 0)
        if not saved:
            continue
        judged, new = t.get("judged", 0), t.get("new", 0)
        numbers = [t.get("memo", 0), max(0, judged - new), min(new, judged)] if counted else \
            [t.get("memo", 0), judged]
        reasons = ", ".join(f"{name.partition('_')[2]} {n}" for name, n in t.items()
                            if name.startswith("fallback_"))
        table.append([row["work"], str(saved),
                      *(f"{100 * n / saved:.1f} %" for n in numbers),
                      f"{100 * t.get('fallback', 0) / saved:.1f} %", reasons or "-"])
    bench.print_table(["work", "traces saved", "memo",
                       *(["depot", "new"] if counted else ["depot or new"]),
                       "frame records", "why frame records"], table)


def print_exceptions(rows):
    """What a system call takes longer when a write to user space faults."""
    least = {r["work"]: r["least"] for r in rows if r["least"]}
    if WITHOUT in least and WITH in least:
        print()
        print("Instructions for an exception from EL1, a fault on a user address without memory: "
              + ", ".join(f"{v} {least[WITH][v] - least[WITHOUT][v]}"
                          for v in bench.VARIANTS if v in least[WITH]))


def print_target(rows, text, miss, limit):
    """How many rows miss a target, and by what."""
    missed = sorted(((miss(r["instructions"]), r["work"]) for r in rows), reverse=True)
    missed = [f"{work} {over:+.1f} %" for over, work in missed if over > limit]
    print(f"{text}: {len(rows) - len(missed)} of {len(rows)} rows; missed: "
          + (", ".join(missed) or "none"))


def main():
    parser = bench.arguments(__doc__)
    parser.add_argument("folder", help="where the guest's reports are")
    args = parser.parse_args()
    rows = read_folder(args.folder)
    bench.write_json(args.out, "load.json", {
        **bench.about(args), "unit": "instructions", "spread": "quartiles", "rows": rows})
    works = [r for r in rows if r["work"] not in (WITHOUT, WITH)]
    bench.write_dots(args.out, "load.svg", "Instructions of work over no traces, Linux "
                     f"{args.kernel} {args.mode} (TCG)",
                     [(r["work"], bench.overheads(r)) for r in works])

    variants = rows[0]["instructions"]
    print(f"Instructions, in millions, and what is added to none. {bench.measured_with(args)}, "
          "-icount shift=0,sleep=off, one CPU; median of "
          f"{rows[0]['instructions_boots']} boots")
    print_instructions(rows)
    if rows[0]["seconds_boots"]:
        print()
        print("Milliseconds with two CPUs (TCG, wall time): median and quartiles of "
              f"{rows[0]['seconds_boots']} boots")
        print_seconds(rows)
    for variant in (v for v in variants if v in rows[0]["traces"]):
        print()
        print(f"Where the traces come from with {variant}")
        print_traces(rows, variant)
    print_exceptions(rows)
    print()
    if "scs" in variants:
        print_target(works, f"scs adds at most {MOST_ADDED} % to none",
                     lambda n: bench.added(n, "scs"), MOST_ADDED)
    if "scs" in variants and "frame-noscs" in variants:
        print_target(works, f"scs takes at least {LEAST_SAVED} % less than frame-noscs",
                     lambda n: bench.added(n, "scs", "frame-noscs"), -LEAST_SAVED)


if __name__ == "__main__":
    main()
