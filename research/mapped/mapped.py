#!/usr/bin/env python3
"""Memory that programs map themselves: what memduel counts, beside the kernel's own account.

    mapped.py MEMDUEL [DIR] [--blocks N] [--only PROGRAM...]

Each program keeps N objects, and then 20% more. memduel compares the two with --gate default. Beside that, the program runs alone N times while
this script reads smaps_rollup of its processes: the largest sum of anonymous pages. Prints the table of docs/method.md. Programs that are not
installed are named and left out. Compiles the Java and the Go program in DIR.
"""
import contextlib
import json
import pathlib
import shutil
import statistics
import subprocess

import programs

MIB = 1 << 20
METRICS = ["peak_heap_bytes", "peak_mapped_bytes", "peak_heap_and_mapped_bytes", "peak_rss_bytes"]


def descendants(pid):
    """The process and all that came from it."""
    found = [pid]
    for one in found:
        try:
            for tasks in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, tasks.read_text().split())
        except OSError:  # it ended
            pass
    return found


def anonymous_bytes(pids):
    """Private anonymous pages of processes, as smaps_rollup has them. A child of vfork has its parent's pages until it executes: one text for two."""
    texts = set()
    for pid in pids:
        with contextlib.suppress(OSError):  # it ended
            texts.add(pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text())
    return sum(int(line.split()[1]) * 1024 for text in texts for line in text.splitlines() if line.startswith("Anonymous:"))


def sampled_peak(command):
    """The largest sum of anonymous pages while the command runs, read without a pause."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, anonymous_bytes(descendants(process.pid)))
    return peak


def compare(memduel, out, commands, blocks=None):
    """The rows of the whole job, by default gates, and the exit code. So many blocks, or as many as it takes."""
    shutil.rmtree(out, ignore_errors=True)
    words = [" ".join(map(str, command)) for command in commands]
    fixed = ["--repeats", str(blocks)] if blocks else []
    done = subprocess.run([memduel, "compare", "--a", words[0], "--b", words[1], "--out", out, *fixed, "--gate", "default",
                           "--set", "profile.trials=0", "--quiet"], capture_output=True, text=True)
    if not (out / "results.json").exists():
        raise SystemExit(f"{words[0]}: {done.stderr}")
    results = json.loads((out / "results.json").read_text())
    return {row["metric"]: row for row in results["comparisons"] if row["role"] == "all"}, done.returncode


def mib(value):
    return f"{value / MIB:.1f}"


def main():
    options = programs.parser(__doc__)
    options.add_argument("--blocks", type=int, default=6)
    asked = programs.asked_of(options, "mapped")
    directory = asked.directory
    print("| program, N and 1.2 N objects | heap | mapped | heap and mapped | RSS | anonymous pages, smaps_rollup | `--gate default` |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for program in programs.installed(directory, asked.only):
        commands = [[*program.command, count] for count in (program.count, program.count * 12 // 10)]
        rows, status = compare(asked.memduel, directory / "mapped", commands, asked.blocks)
        cells = []
        for metric in METRICS:
            row = rows.get(metric)
            cells.append(f"{mib(row['baseline_median'])} → {mib(row['candidate_median'])}, {row['verdict']}" if row else "–")
        beside = [statistics.median(sampled_peak(command) for _ in range(asked.blocks)) for command in commands]
        print(f"| {program.name} | {' | '.join(cells)} | {mib(beside[0])} → {mib(beside[1])} | {'fails' if status == 1 else f'exit {status}'} |",
              flush=True)


if __name__ == "__main__":
    main()
