#!/usr/bin/env python3
"""What a trial costs as a job grows: seconds of the job, seconds that memduel adds, disk, rows of the store. The tables of docs/scale.md.

    research/harness/scale.py MEMDUEL [clients|rounds|state]…

Dummy rounds of two arms, two blocks each, without profiles. Each cell is a run of its own: seconds are means over its trials, what memduel adds is the run's wall
time less its trials', disk is all that the run leaves, by trial, and so are rows of run.sqlite.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
TABLES = {
    "clients": [dict(clients=n) for n in (2, 8, 32, 64)],
    "rounds": [dict(rounds=n) for n in (2, 20, 200)],
    "state": [dict(mib=n) for n in (1, 64, 256, 1024)],
}


def config(clients=2, rounds=2, mib=1):
    return {
        "name": "scale",
        "workload": {
            "kind": "state-dict", "model": "tensors", "tensors": {f"layer{i}": [mib * MIB // 4 // 8] for i in range(8)}, "clients": clients, "rounds": rounds,
            "transport": {"max_message_bytes": 10 * MIB}, "deadline_seconds": 1200,
        },
        "variants": [{"name": "optimized", "preset": "appfl-optimized"}, {"name": "minimal", "preset": "appfl-minimal"}],
        "baseline": "optimized",
        "measure": {"repeats": 2},
        "profile": {"trials": 0},
    }


def measure(memduel, **size):
    with tempfile.TemporaryDirectory(prefix="memduel-scale-") as place:
        place = pathlib.Path(place)
        (place / "scale.json").write_text(json.dumps(config(**size)))
        begin = time.monotonic()
        done = subprocess.run([memduel, "run", place / "scale.json", "--out", place / "run", "--no-default-gates", "--quiet"], capture_output=True, text=True)
        wall = time.monotonic() - begin
        if done.returncode != 0:
            sys.exit(f"scale: {size}: exit {done.returncode}: {done.stderr}")
        store = sqlite3.connect(place / "run/run.sqlite")
        trials, seconds, peak = store.execute("SELECT count(*), sum(end_ns - begin_ns) / 1e9, 0 FROM trial").fetchone()
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = sum(store.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for table in tables)
        [peak] = store.execute("SELECT max(value) FROM role_metric JOIN role ON role.id = role_metric.role WHERE role.role = 'all' AND metric = 'peak_rss_bytes'").fetchone()
        disk = sum(file.stat().st_size for file in (place / "run").rglob("*") if file.is_file())
        return seconds / trials, (wall - seconds) / trials, disk / trials / MIB, rows / trials, peak / (1 << 30)


def main():
    memduel = pathlib.Path(sys.argv[1]).resolve()
    for table in sys.argv[2:] or TABLES:
        print(f"| {table} | trial, s | memduel beside it, s | disk, MiB | rows | whole job's peak, GiB |\n| ---: | ---: | ---: | ---: | ---: | ---: |")
        for size in TABLES[table]:
            job, added, disk, rows, peak = measure(memduel, **size)
            print(f"| {next(iter(size.values())):,} | {job:.2f} | {added:.2f} | {disk:.2f} | {rows:,.0f} | {peak:.2f} |", flush=True)
        print()


main()
