#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Record the instructions of one save in QEMU, say where in the source each is from, and let
llvm-mca estimate cycles."""
import bisect
import collections
import json
import os
import re
import shlex
import subprocess
import sys

import bench

CORES = ("neoverse-n1", "neoverse-n2", "neoverse-v2")
# Where a save begins, and how many of its calls to let pass: kasan_unwinder_bench
# measures 16, 20, 24 and 29 entries, 1 + 1000 repeated saves and 256 new ones each,
# these for 24 and more; frame records once more to begin with.
SAVES = {"frame": ("kasan_frame_save", 1 + 2 * 1001 + 1257 + 500),
         "scs": ("kasan_test_save_stack", 2 * 1001 + 1257 + 500)}
# All that a save calls.
CALLED = re.compile(
    r"kasan_(test_save_stack|frame_save|scs_save|memo_\w+)|scs_(judge|unwind|word_slow)|"
    r"store_(copy|frames)|stack_trace_\w+|arch_stack_walk\w*|k?unwind_\w+|"
    r"filter_irq_stacks|(__)?stack_depot_\w+|depot_\w+|ftrace_graph_\w+|kretprobe_\w+|"
    r"_*(pi_+)?memset")


def symbols(obj):
    """Sorted addresses of the functions, and their names."""
    found = {}
    with open(os.path.join(obj, "System.map"), encoding="utf-8") as f:
        for line in f:
            address, kind, name = line.split()
            if kind in "tTwW":
                found.setdefault(int(address, 16), name)
    addresses = sorted(found)
    return addresses, [found[a] for a in addresses]


def run(command, ranges, starts):
    """{variant: PCs of one save}, of an emulator that logs each instruction."""
    args = shlex.split(command)
    args[args.index("-accel") + 1] = "tcg,one-insn-per-tb=on"
    log_read, log_write = os.pipe()
    args = [a.replace("/console.log", "/console.model").replace("/result", "/result.model")
            for a in args]
    args += ["-d", "exec,nochain", "-dfilter",
             ",".join(f"{a:#x}..{b - 1:#x}" for a, b in ranges), "-D", f"/dev/fd/{log_write}"]
    left = {start: [variant, count] for variant, (start, count) in starts.items()}
    traces, recording = {}, None
    with subprocess.Popen(args, pass_fds=[log_write], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as qemu:
        os.close(log_write)
        with os.fdopen(log_read, "rb", buffering=1 << 20) as log:
            for line in log:
                at = line.find(b"/") + 1
                try:
                    pc = int(line[at:at + 16], 16)
                except ValueError:
                    continue
                if pc in left:
                    recording = None
                    if len(traces) == len(starts):
                        break
                    left[pc][1] -= 1
                    if left[pc][1] == 0:
                        recording = traces.setdefault(left[pc][0], [])
                if recording is not None:
                    recording.append(pc)
        qemu.kill()
    return traces


def disassemble(obj, suffix, ranges):
    """{address: instruction} of the ranges."""
    found = {}
    line = re.compile(r"\s*([0-9a-f]+):\s+(\S.*)")
    for start, stop in ranges:
        text = subprocess.run(
            [f"llvm-objdump{suffix}", "-d", "--no-show-raw-insn", f"--start-address={start:#x}",
             f"--stop-address={stop:#x}", os.path.join(obj, "vmlinux")],
            check=True, capture_output=True, text=True).stdout
        for match in map(line.match, text.splitlines()):
            if match:
                found[int(match[1], 16)] = match[2]
    return found


def sources(obj, suffix, pcs):
    """{address: (function, file:line)}; of inlined functions the innermost."""
    done = subprocess.run(
        [f"llvm-symbolizer{suffix}", "--obj=" + os.path.join(obj, "vmlinux"),
         "--functions=short", "--output-style=JSON"],
        input="".join(f"{pc:#x}\n" for pc in pcs), check=True, capture_output=True, text=True)
    found = {}
    for line in done.stdout.splitlines():
        entry = json.loads(line)
        inner = entry["Symbol"][0]
        name = re.sub(r".*/src/", "", inner["FileName"])
        found[int(entry["Address"], 16)] = (inner["FunctionName"] or "assembly", f"{name}:{inner['Line']}")
    return found


def write_listing(path, pcs, code, where):
    """The instructions in their order, each with where in the source it is from."""
    with open(path, "w", encoding="utf-8") as f:
        for n, pc in enumerate(pcs, 1):
            function, line = where[pc]
            instruction = code.get(pc, "?").split("//")[0].expandtabs().rstrip()
            f.write(f"{n:4} {pc:x}  {instruction:<48} {function} {line}\n")


def assembly(instruction):
    """As llvm-mca reads it: without comments, and with a label for an address."""
    text = re.split(r"\s*(?://|<)", instruction)[0].replace("\t", " ")
    return re.sub(r"(?<!#)0xffff[0-9a-f]{12}", "near", text)


def estimate(suffix, core, instructions):
    """Cycles; what the model has no figures for (stadd on N1) is left out."""
    text = "near:\n" + "\n".join(instructions) + "\n"
    done = subprocess.run(
        [f"llvm-mca{suffix}", "-mtriple=aarch64", f"-mcpu={core}", "-mattr=+all",
         "-iterations=1", "-skip-unsupported-instructions=lack-sched"], input=text, capture_output=True, text=True, check=False)
    found = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    if not found:
        sys.exit(f"bench-model: error: llvm-mca -mcpu={core}: "
                 f"{' '.join(done.stderr.split()[:30]) or 'no figure'}")
    return int(found[1])


def main():
    parser = bench.arguments(__doc__)
    for name in ("command", "obj", "suffix"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    addresses, names = symbols(args.obj)
    ranges = [(a, b) for a, b, name in zip(addresses, addresses[1:], names)
              if CALLED.fullmatch(name)]
    where = {name: a for a, name in zip(addresses, names)}
    starts = {v: (where[name], count) for v, (name, count) in SAVES.items()}
    with open(args.command, encoding="utf-8") as f:
        traces = run(f.read(), ranges, starts)
    missing = set(SAVES) - set(traces)
    if missing:
        sys.exit(f"bench-model: error: no save of {', '.join(sorted(missing))} was seen; "
                 "remedy: read build/boot/bench-model/console.model")
    code = disassemble(args.obj, args.suffix, ranges)

    rows, table = [], []
    print(f"Cycles for one repeated save of 29 entries: a model, llvm-mca{args.suffix}. Linux "
          f"{args.kernel} {args.mode}, {args.compiler}")
    for variant, pcs in traces.items():
        instructions = [assembly(code[pc]) for pc in pcs if pc in code]
        parts = collections.Counter(names[bisect.bisect(addresses, pc) - 1] for pc in pcs)
        where_from = sources(args.obj, args.suffix, sorted(set(pcs)))
        write_listing(os.path.join(args.out, f"save-{variant}.txt"), pcs, code, where_from)
        inlined = collections.Counter(where_from[pc][0] for pc in pcs)
        cycles = {core: estimate(args.suffix, core, instructions) for core in CORES}
        rows.append({"variant": variant, "instructions": len(pcs), "cycles": cycles,
                     "parts": dict(parts.most_common()),
                     "inlined": dict(inlined.most_common())})
        table.append([variant, str(len(pcs))] + [str(cycles[c]) for c in CORES])
    bench.print_table(["variant", "instructions", *CORES], table)
    print()
    for row in rows:
        for what, text in (("parts", "functions"), ("inlined", "with those inlined")):
            print(f"{row['variant']}, {text}: "
                  + ", ".join(f"{n} {c}" for n, c in row[what].items()))
    bench.write_json(args.out, "model.json", {
        **bench.about(args), "unit": "cycles (llvm-mca)", "entries": 29, "rows": rows})


if __name__ == "__main__":
    main()
