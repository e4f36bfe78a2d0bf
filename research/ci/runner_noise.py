#!/usr/bin/env python3
"""How often memduel cries wolf on this machine, and the smallest change it sees: idle, with busy cores, in a small cgroup.

    research/ci/runner_noise.py [--build build/release] [--minutes 0.33] [--write docs/ci.md]

Duels each program with itself (memduel calibrate, duels of 8 blocks) under each condition and prints the table of docs/ci.md; --write
puts it there, between its two marks. Takes 8 times --minutes and a little. The cgroup needs root; without it its rows are left out and named.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from datetime import date
from pathlib import Path

JOBS = {
    "one thread": ["memduel-peer-churn", "150000"],
    "eight threads": ["memduel-peer-cross_free", "15000"],
}
METRICS = {
    "allocation_count": "allocations",
    "peak_heap_bytes": "heap at its peak",
    "peak_rss_bytes": "RSS at its peak",
    "cpu_seconds": "CPU time",
    "round_seconds": "wall time",
}
LIMIT_BYTES = 2 << 30
MARK = "<!-- runner noise: {} -->"


@contextmanager
def busy_cores(count):
    """So many processes that do nothing but compute."""
    spinning = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield None
    finally:
        for process in spinning:
            process.kill()
            process.wait()


@contextmanager
def small_cgroup():
    """A memory cgroup of 2 GiB; yields what makes a process join it."""
    for root, limit in ((Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (Path("/sys/fs/cgroup"), "memory.max")):
        group = root / f"memduel-noise-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(LIMIT_BYTES))
        except OSError:
            group.rmdir()
            continue
        break
    else:
        raise PermissionError("no memory cgroup may be made here")
    try:
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    finally:
        group.rmdir()


def conditions():
    return {
        "idle": lambda: busy_cores(0),
        "one busy core": lambda: busy_cores(1),
        "two busy cores": lambda: busy_cores(2),
        "2 GiB cgroup": small_cgroup,
    }


def experiment(build, words):
    program = str((build / "bin" / words[0]).resolve())
    return {
        "name": "runner-noise",
        "baseline": "a",
        "workload": {"kind": "command", "processes": [{"role": "command", "argv": [program, *words[1:]]}]},
        "variants": [{"name": "a"}, {"name": "b", "env": {"UNUSED": "1"}}],
        "gates": [f"tree.{metric}<=+1%" for metric in METRICS],
        "measure": {"interval_ms": 2},
    }


def calibrate(build, words, minutes, join):
    """The calibration of a program under what is going on now."""
    with tempfile.TemporaryDirectory() as place:
        config = Path(place) / "job.json"
        config.write_text(json.dumps(experiment(build, words)))
        environment = {**os.environ, "XDG_CACHE_HOME": place}
        command = [build / "bin/memduel", "calibrate", config, "--repeats", "160", "--max-minutes", str(minutes), "--quiet",
                   "--out", Path(place) / "run"]
        subprocess.run(command, env=environment, preexec_fn=join, check=True)
        files = list(Path(place).glob("memduel/calibrations/*/*.json"))
        if len(files) != 1:
            raise RuntimeError(f"expected one calibration, found {files}")
        return json.loads(files[0].read_text())


def size(value):
    if value is None:
        return "–"
    return f"{100 * value:.0f}%" if value >= 0.1 else f"{100 * value:.2g}%"


def cell(metric, calibration):
    """The change that 80 of 100 duels find there; "–" where the metric was not measured."""
    found = [r for r in calibration["metrics"] if r["role"] == "all" and r["metric"] == metric]
    return size(found[0]["minimum_detectable"]) if found else "–"


def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return f"{cpu}, {len(os.sched_getaffinity(0))} cores, Linux {os.uname().release}"


def measure(build, minutes):
    cells = {(job, metric): [] for job in JOBS for metric in METRICS}
    columns, left_out = [], []
    flagged = rows = 0
    for name, condition in conditions().items():
        try:
            with condition() as join:
                for job, words in JOBS.items():
                    print(f"{name}: {job}", file=sys.stderr)
                    calibration = calibrate(build, words, minutes, join)
                    flagged += calibration["flagged_gate_rows"]
                    rows += calibration["gate_rows"]
                    for metric in METRICS:
                        cells[job, metric].append(cell(metric, calibration))
        except PermissionError as problem:
            left_out.append(f"{name}: {problem}")
            continue
        columns.append(name)
    lines = [f"| program, metric | {' | '.join(columns)} |", f"| --- | {' | '.join('---:' for _ in columns)} |"]
    lines += [f"| {job}, {METRICS[metric]} | {' | '.join(values)} |" for (job, metric), values in cells.items()]
    lines += ["", f"Measured on {date.today().isoformat()}, {machine()}. Both sides were the same program, in duels of 8 blocks."]
    lines += [f"{flagged} of {rows} gate rows were called improved or regressed."]
    return "\n".join(lines) + "\n" + "".join(f"\nLeft out: {reason}.\n" for reason in left_out)


def write(file, table):
    text = file.read_text()
    begin, end = MARK.format("begin"), MARK.format("end")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    file.write_text(f"{before}{begin}\n{table}{end}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--minutes", type=float, default=0.33, help="of each program under each condition (default 0.33)")
    parser.add_argument("--write", type=Path, help="a page with the table's two marks")
    arguments = parser.parse_args()
    table = measure(arguments.build, arguments.minutes)
    print(table)
    if arguments.write:
        write(arguments.write, table)


if __name__ == "__main__":
    main()
