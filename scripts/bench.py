# SPDX-License-Identifier: GPL-2.0
"""Shared by the bench-*.py scripts: arguments, tables, JSON and SVG."""
import argparse
import json
import os
import statistics

ABOUT = ("kernel", "compiler", "qemu", "cpu", "mode")
VARIANTS = ("nokasan", "none", "frame-noscs", "frame", "copy", "scs", "entry")
COLOURS = {"frame-noscs": "#7b1fa2", "frame": "#b3261e", "copy": "#c98a00", "scs": "#1a6b3c",
           "entry": "#1565c0"}


def arguments(doc):
    """A parser of what all these scripts are told."""
    parser = argparse.ArgumentParser(description=doc)
    for name in ABOUT + ("out",):
        parser.add_argument("--" + name, required=True)
    return parser


def about(args):
    return {name: getattr(args, name) for name in ABOUT}


def measured_with(args):
    return (f"Linux {args.kernel} {args.mode}, {args.compiler}, {args.qemu}, "
            f"-cpu {args.cpu}, TCG")


def quartiles(numbers):
    """What half of them lie between."""
    if len(numbers) < 2:
        return [numbers[0], numbers[0]]
    first, _, third = statistics.quantiles(numbers, n=4, method="inclusive")
    return [round(first, 4), round(third, 4)]


def figures(unit, found):
    """What a row says of {variant: [number of each boot...]}."""
    found = {v: found[v] for v in VARIANTS if v in found}
    return {unit: {v: round(statistics.median(n), 4) for v, n in found.items()},
            unit + "_spread": {v: quartiles(n) for v, n in found.items()},
            unit + "_boots": min(map(len, found.values()), default=0)}


def added(n, variant, base="none"):
    """What a variant adds, in %."""
    return 100 * n[variant] / n[base] - 100


def overheads(row):
    """What the variants that are drawn add to no traces, in %."""
    n = row["instructions"]
    return {v: added(n, v) for v in n if v in COLOURS}


def cells(row, unit, scale, digits, spread):
    """A row's figures for a table."""
    found = []
    for v, n in row[unit].items():
        cell = f"{n * scale:.{digits}f}"
        if v != "none":
            cell += f" ({added(row[unit], v):+.1f} %)"
        if spread:
            low, high = row[unit + "_spread"][v]
            cell += f" [{low * scale:.{digits}f} to {high * scale:.{digits}f}]"
        found.append(cell)
    return found


def print_table(header, rows):
    print()
    print("| " + " | ".join(header) + " |")
    print("|---" * len(header) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def write(folder, name, text):
    """Write a file that is never half there."""
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


def write_json(folder, name, data):
    write(folder, name, json.dumps(data, indent=1) + "\n")


def write_svg(folder, name, title, size, parts):
    width, height = size
    write(folder, name, "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="10" y="18">{title}</text>', *parts, "</svg>"]) + "\n")


def write_dots(folder, name, title, rows):
    """A line of dots for each of [(label, {variant: %})...]."""
    width, left, right, top, line = 640, 180, 20, 60, 15
    shown = [v for v in COLOURS if any(v in over for _, over in rows)]
    numbers = [n for _, over in rows for n in over.values()]
    low, high = min([0, *numbers]), max([1, *numbers])
    height = top + line * len(rows) + 10

    def x(percent):
        return left + (width - left - right) * (percent - low) / (high - low)

    def dot(cx, cy, variant):
        # A ring, to be seen around what it hardly differs from.
        style = f'r="5" fill="none" stroke="{COLOURS[variant]}" stroke-width="1.5"' \
            if variant == "entry" else f'r="4" fill="{COLOURS[variant]}"'
        return f'<circle cx="{cx:.1f}" cy="{cy}" {style}/>'

    step = 10 if high - low > 40 else 5 if high - low > 15 else 1
    parts = []
    for tick in range(int(low / step) * step, int(high) + 1, step):
        parts.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top - 4}" '
                     f'y2="{height - 8}" stroke="{"#888" if tick == 0 else "#ddd"}"/>'
                     f'<text x="{x(tick):.1f}" y="{top - 8}" font-size="10" '
                     f'text-anchor="middle">{tick} %</text>')
    for i, variant in enumerate(shown):
        parts.append(dot(left + 95 * i, 32, variant)
                     + f'<text x="{left + 95 * i + 8}" y="36">{variant}</text>')
    for i, (label, over) in enumerate(rows):
        y = top + line * i + line / 2
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end" font-size="11">'
                     f'{label}</text>'
                     f'<line x1="{left}" x2="{width - right}" y1="{y}" y2="{y}" stroke="#eee"/>')
        parts += [dot(x(over[v]), y, v) for v in shown if v in over]
    write_svg(folder, name, title, (width, height), parts)
