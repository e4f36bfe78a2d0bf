#!/usr/bin/env python3
"""How often the default gates are wrong, and how often they find 5% more, on programs that map their memory themselves.

    deals.py MEMDUEL [DIR] [--dealer PROGRAM] [--trials N] [--deals N] [--only PROGRAM...]

1. Stores 60 trials of each program, as it is, with 5% more objects, and with as many more as make its heap 5% larger, interleaved; beside that, reads
   how much larger the kernel counts its anonymous pages. Programs whose trials lie in DIR are not measured again.
2. Deals 1,000 comparisons of 6, 10 or 16 blocks from them, plain against plain and plain against each of the others, and judges them by the
   verdict code (memduel-bench-deals, beside MEMDUEL in a build directory).
3. Measures fresh comparisons, two each: plain against plain, against 5% more heap, and against 20% more objects.

Prints the tables of results.md and how long each step took. Exits 1 when a target is missed: false verdicts in at most 5% (no one-sided 99.9%
bound above it), and 5% more found in at least 80% of all deals.
"""
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import programs
from mapped import compare, sampled_peak

KERNEL_RUNS = 9
FRESH = 2
HOLD = 200  # milliseconds for which the programs wait with all their objects, for the kernel's count


def counts_of(program):
    return {"plain": program.count, "objects": program.count * 105 // 100, "heap": program.five_percent}


def store(memduel, out, program, trials):
    """So many trials of each of the three, in the order that compare draws; and the kernel's count of each."""
    counts = counts_of(program)
    words = [" ".join([*program.command, str(count)]) for count in counts.values()]
    subprocess.run([memduel, "compare", "--a", words[0], "--b", words[1], "--b", words[2], *(word for name in counts for word in ("--name", name)),
                    "--out", out, "--repeats", str(trials), "--set", "profile.trials=0", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    peaks = {name: [] for name in counts}
    for _ in range(KERNEL_RUNS):
        for name, count in counts.items():
            peaks[name].append(sampled_peak([*program.command, count, HOLD]))
    (out / "kernel.json").write_text(json.dumps({name: statistics.median(found) for name, found in peaks.items()}))


def deal(dealer, out, deals, seed):
    """What memduel-bench-deals counts, by candidate."""
    lines = subprocess.run([dealer, str(deals), str(seed), out], check=True, capture_output=True, text=True).stdout.splitlines()
    return {one["candidate"]: one for one in map(json.loads, lines)}


def percent(share):
    return f"{100 * share:.1f}%"


def table_of_false_verdicts(dealt):
    print("\n| program, plain against plain | a default gate fails | a gate row is called | another row is called | exit 5 | blocks, mean |")
    print("| --- |" + " --- |" * 5)
    for name, found in dealt.items():
        one = found["plain"]
        print(f"| {name} | {percent(one['fails'])}{'' if one['may_be_5_percent'] else ' (missed)'} | {percent(one['gate row called'])} | "
              f"{percent(one['other row called'])} | {percent(one['inconclusive'])} | {one['blocks']:.1f} |")
    return all(found["plain"]["may_be_5_percent"] for found in dealt.values())


def table_of_found_changes(dealt, kernel, candidate, title):
    gates = sorted({gate for found in dealt.values() for gate in found[candidate]["gates"]})
    print(f"\n| program, {title} | the kernel counts | fails | {' | '.join(f'by `{gate}`' for gate in gates)} | exit 5 | blocks, mean |")
    print("| --- |" + " --- |" * (4 + len(gates)))
    for name, found in dealt.items():
        one = found[candidate]
        print(f"| {name} | {100 * (kernel[name][candidate] / kernel[name]['plain'] - 1):+.1f}% | {percent(one['fails'])} | "
              f"{' | '.join(percent(one['gates'].get(gate, 0)) for gate in gates)} | {percent(one['inconclusive'])} | {one['blocks']:.1f} |")
    overall = statistics.mean(found[candidate]["fails"] for found in dealt.values())
    print(f"| all | | {percent(overall)} |" + " |" * (len(gates) + 2), flush=True)
    return overall


def table_of_fresh_comparisons(memduel, directory, found):
    """Whole comparisons, measured now. Plain against plain are two commands that wait for 0 and for 00 milliseconds."""
    print("\n| program, `compare --gate default` | plain against plain | against 5% more heap | against 20% more objects |")
    print("| --- |" + " --- |" * 3)
    for program in found:
        cells = []
        for count in (program.count, program.five_percent, program.count * 12 // 10):
            commands = [[*program.command, program.count, "0"], [*program.command, count, "00"]]
            statuses = [compare(memduel, directory / "fresh", commands)[1] for _ in range(FRESH)]
            cells.append(", ".join({0: "passes", 1: "fails", 5: "exit 5"}[status] for status in statuses))
        print(f"| {program.name} | {' | '.join(cells)} |", flush=True)


def timed(what, start):
    print(f"\n{what}: {time.monotonic() - start:.0f} s", flush=True)


def main():
    options = programs.parser(__doc__)
    options.add_argument("--dealer", type=pathlib.Path)
    options.add_argument("--trials", type=int, default=60)
    options.add_argument("--deals", type=int, default=1000)
    options.add_argument("--seed", type=int, default=53)
    options.add_argument("--steps", nargs="*", default=["store", "deal", "fresh"])
    asked = programs.asked_of(options, "deals")
    memduel = asked.memduel
    dealer = asked.dealer or memduel.parent / "memduel-bench-deals"
    directory = asked.directory
    found = list(programs.installed(directory, asked.only))
    good = True
    if "store" in asked.steps:
        start = time.monotonic()
        for program in found:
            if not (directory / "trials" / program.name / "kernel.json").exists():
                shutil.rmtree(directory / "trials" / program.name, ignore_errors=True)
                (directory / "trials").mkdir(exist_ok=True)
                store(memduel, directory / "trials" / program.name, program, asked.trials)
        timed("trials stored", start)
    if "deal" in asked.steps:
        start = time.monotonic()
        stored = {program.name: directory / "trials" / program.name for program in found}
        dealt = {name: deal(dealer, out, asked.deals, asked.seed) for name, out in stored.items()}
        kernel = {name: json.loads((out / "kernel.json").read_text()) for name, out in stored.items()}
        good = table_of_false_verdicts(dealt)
        table_of_found_changes(dealt, kernel, "objects", "5% more objects")
        good &= table_of_found_changes(dealt, kernel, "heap", "5% more heap") >= 0.8
        timed("comparisons dealt", start)
    if "fresh" in asked.steps:
        start = time.monotonic()
        table_of_fresh_comparisons(memduel, directory, found)
        timed("fresh comparisons", start)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
