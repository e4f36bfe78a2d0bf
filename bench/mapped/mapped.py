#!/usr/bin/env python3
"""Memory that programs map themselves: what memduel counts, beside the kernel's own account.

    mapped.py MEMDUEL [DIR] [--blocks N] [--only PROGRAM...]

Each program keeps N objects, and then 20 % more. memduel compares the two with --gate default. Beside that, the program runs alone N times while
this script reads smaps_rollup of its processes: the largest sum of anonymous pages. Prints the table of docs/method.md. Programs that are not
installed are named and left out. Compiles the Java and the Go program in DIR.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
METRICS = ["peak_heap_bytes", "peak_mapped_bytes", "peak_heap_and_mapped_bytes", "peak_rss_bytes"]

# Name, command, objects.
PROGRAMS = [
    ("CPython", ["/usr/bin/python3", HERE / "objects.py"], 300_000),
    ("node", ["node", HERE / "objects.js"], 400_000),
    ("Java", ["java", "-cp", "{dir}", "Objects"], 800_000),
    ("PHP", ["php", HERE / "objects.php"], 400_000),
    ("Go", ["{dir}/objects"], 6_000_000),
    ("Ruby", ["ruby", HERE / "objects.rb"], 400_000),
    ("R", ["Rscript", HERE / "objects.R"], 300_000),
]


def build(directory):
    """The programs that are compiled, where there is a compiler."""
    if shutil.which("javac"):
        subprocess.run(["javac", "-d", directory, HERE / "Objects.java"], check=True)
    if shutil.which("go"):
        subprocess.run(["go", "build", "-o", directory / "objects", HERE / "objects.go"], check=True)


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


def anonymous_bytes(pid):
    """Private anonymous pages of a process, as smaps_rollup has them."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))


def sampled_peak(command):
    """The largest sum of anonymous pages while the command runs, read without a pause."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(anonymous_bytes, descendants(process.pid))))
    return peak


def compare(memduel, directory, name, command, count, blocks):
    """The rows of the whole job and the exit code."""
    words = [" ".join(map(str, [*command, n])) for n in (count, count * 12 // 10)]
    out = directory / name
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([memduel, "compare", "--a", words[0], "--b", words[1], "--out", out, "--repeats", str(blocks), "--gate", "default",
                           "--set", "profile.trials=0", "--quiet"], capture_output=True, text=True)
    if not (out / "results.json").exists():
        raise SystemExit(f"{name}: {done.stderr}")
    results = json.loads((out / "results.json").read_text())
    rows = {row["metric"]: row for row in results["comparisons"] if row["role"] == "tree"}
    return {metric: rows[metric] for metric in METRICS if metric in rows}, done.returncode


def mib(value):
    return f"{value / MIB:.1f}"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("memduel", type=pathlib.Path)
    options.add_argument("directory", type=pathlib.Path, nargs="?")
    options.add_argument("--blocks", type=int, default=6)
    options.add_argument("--only", nargs="*")
    asked = options.parse_args()
    directory = (asked.directory or pathlib.Path(tempfile.mkdtemp(prefix="memduel-mapped-"))).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    build(directory)
    print("| program, N and 1.2 N objects | heap | mapped | heap and mapped | RSS | anonymous pages, smaps_rollup | `--gate default` |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, words, count in PROGRAMS:
        command = [str(word).format(dir=directory) for word in words]
        if not shutil.which(command[0]):
            print(f"| {name} | not installed |")
            continue
        if asked.only and name not in asked.only:
            continue
        rows, status = compare(asked.memduel.resolve(), directory, name, command, count, asked.blocks)
        cells = []
        for metric in METRICS:
            row = rows.get(metric)
            cells.append(f"{mib(row['baseline_median'])} → {mib(row['candidate_median'])}, {row['verdict']}" if row else "–")
        beside = [statistics.median(sampled_peak([*command, n]) for _ in range(asked.blocks)) for n in (count, count * 12 // 10)]
        print(f"| {name} | {' | '.join(cells)} | {mib(beside[0])} → {mib(beside[1])} | {'fails' if status == 1 else f'exit {status}'} |", flush=True)


if __name__ == "__main__":
    main()
