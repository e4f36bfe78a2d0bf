#!/usr/bin/env python3
"""What counting and sampling cost in wall time, and whether sampling became slower: medians of interleaved pairs.

    cost.py MEMDUEL [DIR] [--before MEMDUEL] [--pairs N] [--only PROGRAM...] [--parts count record compare]

count     the command's time in trials whose processes are counted, over that in trials with resident memory alone
record    `memduel record`, sampled, over that of the build before (--before), everything that a user waits for
compare   the command's time in trials of `compare`, over that of the build before

Times on a busy machine say nothing: the pairs of one program take the place of each other in random order, but run them alone.
"""
import pathlib
import random
import shutil
import sqlite3
import statistics
import subprocess
import time

import programs

RESIDENT_ALONE = ["--set", 'measure.meters=["procfs"]']
PROFILE = "record.mdp"


def seconds_in_trials(memduel, directory, command, options):
    """Of the command in two trials of a comparison, the mean. The two arms wait for 0 and for 00 milliseconds."""
    out = directory / "trials-of-cost"
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([memduel, "compare", "--a", " ".join([*command, "0"]), "--b", " ".join([*command, "00"]), "--repeats", "1", "--warmup", "0", "--out", out,
                    "--set", "profile.trials=0", "--quiet", *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = sqlite3.connect(out / "run.sqlite").execute(
        "SELECT value FROM round_metric JOIN round ON round.id = round_metric.round JOIN role ON role.id = round.role WHERE role.role = 'all' AND metric = 'round_seconds'")
    return statistics.mean(value for value, in rows)


def seconds_of_record(memduel, directory, command):
    for left in directory.glob("record.*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    start = time.perf_counter()
    subprocess.run([memduel, "record", "-o", directory / PROFILE, "--", *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def ratio(pairs, measured, beside):
    """The median of measured over beside, and a 95% interval of it by the order statistics of the pairs."""
    ratios = []
    for _ in range(pairs):
        both = [(measured, "measured"), (beside, "beside")]
        random.shuffle(both)
        found = {name: measure() for measure, name in both}
        ratios.append(found["measured"] / found["beside"])
    ratios.sort()
    below = max(0, int(pairs / 2 - 0.98 * pairs ** 0.5))  # of the sign test
    return f"{statistics.median(ratios):.3f} ({ratios[below]:.2f}–{ratios[-1 - below]:.2f})"


def main():
    options = programs.parser(__doc__)
    options.add_argument("--before", type=pathlib.Path)
    options.add_argument("--pairs", type=int, default=15)
    options.add_argument("--parts", nargs="*", default=["count", "record", "compare"])
    asked = programs.asked_of(options, "cost")
    before = asked.before.resolve() if asked.before else None
    memduel, directory = asked.memduel, asked.directory
    parts = [part for part in asked.parts if part == "count" or before]
    print(f"| program | {' | '.join(parts)} |")
    print("| --- |" + " --- |" * len(parts))
    for program in programs.installed(directory, asked.only):
        command = [*program.command, str(program.count)]
        measures = {
            "count": (lambda: seconds_in_trials(memduel, directory, command, []), lambda: seconds_in_trials(memduel, directory, command, RESIDENT_ALONE)),
            "record": (lambda: seconds_of_record(memduel, directory, command), lambda: seconds_of_record(before, directory, command)),
            "compare": (lambda: seconds_in_trials(memduel, directory, command, []), lambda: seconds_in_trials(before, directory, command, [])),
        }
        print(f"| {program.name} | {' | '.join(ratio(asked.pairs, *measures[part]) for part in parts)} |", flush=True)


if __name__ == "__main__":
    main()
