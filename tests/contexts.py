#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check where the traces of each context came from, by what measure.sh printed.

Usage: contexts.py [--efi] [--entry] [--verify] [--rst] RESULT_FILE
  --efi     the boot was through EFI: that context has to be there, too
  --entry   the kernel pushes the interrupted PC: exceptions need no fallback
  --verify  the boot was with kasan.unwinder=verify: traces have to be compared
  --rst     print a table for the documentation instead, of any contexts
Prints a line for each expectation that is not met; exits 1 if there is any.
"""
import sys
from collections import namedtuple

REASONS = ("off", "foreign", "splice", "not_text", "no_push", "exception", "bottom")
FIELDS = ("saved", "scs") + REASONS + ("equal", "different")

# least: traces that the work has to take at all
# share: of them from the SCS, at least, in %
# must: fallbacks, by reason, that the work is there for, at least
# rare: reasons that may be met by chance, together in 1 % of the traces at most
# All other reasons must not occur.
Expected = namedtuple("Expected", "least share must rare")

# By chance there are, everywhere:
# exception: execve() clears the rest of the last page of a program's data, which
#            is not there yet: two objects for each exec.
# not_text:  the idle task of the CPU that booted was called by start_kernel(),
#            in init text that is freed. It allocates nothing, but it frees the
#            memory of the task that ran before it.
CHANCE = ("exception", "not_text")


def mostly_scs(least, *also):
    """Nothing in this context is on the stack but ordinary functions."""
    return Expected(least, 99, {}, CHANCE + also)


def falls_back(least, share, **must):
    """So many traces have to fall back for these reasons, the rest as above."""
    return Expected(least, share, must, tuple(r for r in CHANCE if r not in must))


# Programs run 500 times and allocate at least once, but for chosen entries that
# were taken; see load_timer() in tests/guest/bpf.c.
BPF = 450

EXPECTED = {
    "process": mostly_scs(50000),
    # In each of 400 rounds: two objects in each of three new mappings, a node in
    # each of four places of a sparse file.
    "usercopy": falls_back(20000, 75, exception=4000),
    "module": mostly_scs(10000),
    "module_init": mostly_scs(4000),
    "module_exit": mostly_scs(4000),
    "hotplug": mostly_scs(500),
    "workqueue_rcu": mostly_scs(10000),
    "efi": mostly_scs(5000),
    # Its callback enables preemption, so that a task can be resumed in it, where
    # it frees the memory of the task that ran before it.
    "function": mostly_scs(4000, "no_push"),
    # The interrupted function is below the handler, which allocates nothing.
    "kprobe": mostly_scs(4000),
    "kretprobe": falls_back(4000, 50, no_push=1000),
    "bpf_classifier_jit": falls_back(1000, 30, not_text=BPF),
    "bpf_kprobe_jit": falls_back(2000, 70, not_text=BPF),
    "bpf_tracepoint_jit": falls_back(2000, 60, not_text=BPF),
    "bpf_trampoline": falls_back(600, 30, not_text=BPF),
    # The interpreter is made of ordinary functions; below it on the kprobe is
    # the exception that the kprobe is.
    "bpf_classifier_nojit": mostly_scs(1000),
    "bpf_kprobe_nojit": falls_back(2000, 70, exception=BPF),
    "bpf_tracepoint_nojit": mostly_scs(2000),
    # What is left are interrupts, and calls deeper than those that are traced.
    "function_graph": falls_back(1000, 0, no_push=800),
    # Kernel threads that were started meanwhile.
    "after_function_graph": mostly_scs(4000, "no_push"),
}
OPTIONAL = ("efi",)


def read_contexts(lines):
    """Return {name: {field: number}} and {name: what else was said}."""
    counts, said = {}, {}
    for line in lines:
        words = line.split()
        if words[:2] != ["out", "context"] or len(words) < 4:
            continue
        name, rest = words[2], words[3:]
        found = dict(w.split("=", 1) for w in rest if "=" in w)
        if len(found) == len(rest) and all(found.get(f, "").isdigit() for f in FIELDS):
            counts[name] = {f: int(found[f]) for f in FIELDS}
        else:
            said[name] = " ".join(rest)
    return counts, said


def violations(n, expected, verify):
    """Yield what is wrong with the numbers of one context."""
    percent = 100 * n["scs"] / n["saved"] if n["saved"] else 0
    if n["saved"] < expected.least:
        yield f"only {n['saved']} traces, at least {expected.least} were expected"
    if percent < expected.share:
        yield f"{percent:.2f} % from the SCS, at least {expected.share} % were expected"
    for reason, least in expected.must.items():
        if n[reason] < least:
            yield f"{reason}={n[reason]}, at least {least} were expected"
    rare = sum(n[r] for r in expected.rare)
    if rare > n["saved"] / 100:
        each = " ".join(f"{r}={n[r]}" for r in expected.rare)
        yield f"{each} of {n['saved']} traces, at most 1 % was expected"
    for reason in REASONS:
        if n[reason] and reason not in expected.must and reason not in expected.rare:
            yield f"{reason}={n[reason]}, none was expected"
    if n["different"]:
        yield f"different={n['different']}"
    # Not all: the counters are not read at one moment.
    if verify and n["equal"] < n["saved"] * 0.9:
        yield f"equal={n['equal']} of saved={n['saved']}: not all were compared"


def check(counts, said, efi, verify):
    """Return the lines to print."""
    bad = []
    for name, expected in EXPECTED.items():
        if name in said and (efi or name not in OPTIONAL):
            bad.append(f"{name}: {said[name]}")
        if name in counts:
            bad += [f"{name}: {v}" for v in violations(counts[name], expected, verify)]
        elif name not in said and (efi or name not in OPTIONAL):
            bad.append(f"{name}: missing")
    bad += [f"{name}: not known to contexts.py"
            for name in list(counts) + list(said) if name not in EXPECTED]
    return bad


def rst(counts):
    """Return the table's lines."""
    rows = [("context", "traces", "SCS, %", "fallbacks")]
    for name, n in counts.items():
        if n["saved"]:
            why = ", ".join(f"{r} {n[r]}" for r in REASONS if n[r])
            # Rounded down: 100 % are all of them.
            share = n["scs"] * 1000 // n["saved"] / 10
            rows.append((name, str(n["saved"]), f"{share:.1f}", why or "none"))
    width = [max(len(row[i]) for row in rows) for i in range(4)]
    rule = "  ".join("=" * w for w in width)
    text = ["  ".join(c.ljust(w) for c, w in zip(row, width)).rstrip() for row in rows]
    return [rule, text[0], rule] + text[1:] + [rule]


def main():
    args = sys.argv[1:]
    options = {a for a in args if a.startswith("-")}
    files = [a for a in args if not a.startswith("-")]
    if len(files) != 1 or options - {"--efi", "--entry", "--verify", "--rst"}:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(files[0], encoding="utf-8", errors="replace") as f:
        counts, said = read_contexts(f)
    if "--rst" in options:
        print("\n".join(rst(counts)))
        return not counts
    if "--entry" in options:
        # But for the breakpoint that a kprobe is.
        EXPECTED["usercopy"] = mostly_scs(20000)
    bad = check(counts, said, "--efi" in options, "--verify" in options)
    for line in bad:
        print(line)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
