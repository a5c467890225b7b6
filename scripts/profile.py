#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Add up what scripts/profile.c counted, by function."""
import argparse
import bisect
import collections
import os

OUTSIDE = "(modules, programs)"


def read_symbols(path):
    """Return the sorted addresses and names of the kernel's text, and its end."""
    symbols, end = [], 0
    with open(path, encoding="ascii") as f:
        for line in f:
            address, kind, name = line.split()
            if name in ("_etext", "_einittext"):
                end = max(end, int(address, 16))
            if kind in "tTwW":
                symbols.append((int(address, 16), name))
    symbols.sort()
    return [s[0] for s in symbols], [s[1] for s in symbols], end


def read_counts(path, symbols):
    """Return {function: [instructions, calls]}."""
    addresses, names, end = symbols
    counts = collections.defaultdict(lambda: [0, 0])
    with open(path, encoding="ascii") as f:
        for line in f:
            address, insns, times = line.split()
            address, times = int(address, 16), int(times)
            at = bisect.bisect(addresses, address) - 1
            inside = at >= 0 and address < end
            count = counts[names[at] if inside else OUTSIDE]
            count[0] += int(insns) * times
            if inside and address == addresses[at]:
                count[1] += times
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--top", type=int, default=40, help="number of functions, 0: all")
    parser.add_argument("map", help="System.map")
    parser.add_argument("counts", nargs="+", help="a file for each variant")
    args = parser.parse_args()
    symbols = read_symbols(args.map)
    variants = {os.path.basename(p): read_counts(p, symbols) for p in args.counts}

    def weight(name):
        values = [v[name][0] if name in v else 0 for v in variants.values()]
        return max(values) - min(values) if len(values) > 1 else values[0]

    every = {name for v in variants.values() for name in v}
    rows = sorted(every, key=lambda name: (-weight(name), name))
    if args.top:
        rows = rows[:args.top]
    print(f"{'function':40}" + "".join(f"{v:>14}{'calls':>10}" for v in variants))
    print(f"{'all':40}" + "".join(
        f"{sum(c[0] for c in v.values()):14}{'':10}" for v in variants.values()))
    for name in rows:
        print(f"{name[:39]:40}" + "".join(
            f"{v[name][0] if name in v else 0:14}{v[name][1] if name in v else 0:10}"
            for v in variants.values()))


if __name__ == "__main__":
    main()
