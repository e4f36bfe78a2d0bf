#!/usr/bin/env python3
"""A trace of heaptrack, raw and interpreted, to a page of memduel and to the text of heaptrack_print.

    research/peers/heaptrack_page.py --build build/release              # records the client of a ResNet18 round first
    research/peers/heaptrack_page.py --build build/release --raw TRACE.raw.zst

Runs alternate. A line per tool and trace: medians of the wall and CPU seconds, the largest RSS. The first page of the raw trace looks
every symbol up and is a line of its own; the others have the cache that it left.
"""

import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import peers

INTERPRET = "/usr/lib/heaptrack/libexec/heaptrack_interpret"


def record(build, data, place):
    client = peers.Client("ResNet18 round", build, data, "resnet18", {"name": "dummy-cifar10", "train_samples": 64, "test_samples": 32, "seed": 42}, 20)
    client.prepare(place)
    server = client.beside()
    subprocess.run(["heaptrack", "--raw", "-o", str(place / "trace"), *client.command()], check=True, stdout=subprocess.DEVNULL)
    server.wait(600)
    return place / "trace.raw.zst"


def interpret(raw, interpreted):
    """Writes the interpreted trace. Returns what heaptrack says of it."""
    with open(interpreted, "wb") as out:
        unpack = subprocess.Popen(["zstd", "-dc", raw], stdout=subprocess.PIPE)
        names = subprocess.Popen([INTERPRET], stdin=unpack.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        pack = subprocess.Popen(["zstd", "-q"], stdin=names.stdout, stdout=out)
        told = names.stderr.read().decode(errors="replace")
        for stage in (unpack, names, pack):
            if stage.wait() != 0:
                raise SystemExit(f"{stage.args} failed: {told}")
    return told


def measured(command, environment):
    """(wall seconds, CPU seconds, peak RSS in MiB)"""
    begin = time.monotonic()
    run = subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {run.returncode}")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def line(name, runs):
    wall, cpu, rss = zip(*runs)
    print(f"| {name} | {statistics.median(wall):.2f} | {statistics.median(cpu):.2f} | {max(rss):.0f} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=Path, default=Path("build/release"))
    arguments.add_argument("--data", type=Path, default=Path("workloads/data/datasets"))
    arguments.add_argument("--raw", type=Path, help="a trace that is there already")
    arguments.add_argument("--runs", type=int, default=5)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="memduel-heaptrack-") as directory:
        place = Path(directory)
        build = options.build.resolve()
        raw = options.raw or record(build, options.data.resolve(), place)
        interpreted = place / "interpreted.zst"
        told = interpret(raw, interpreted)
        count = re.search(r"allocations:\s*(\d+)", told).group(1)
        print(f"{count} allocations, {raw.stat().st_size / 2**20:.1f} MiB\n")
        environment = {**os.environ, "XDG_CACHE_HOME": str(place / "cache")}

        def page(trace):
            return measured([build / "bin/memduel", "flamegraph", trace, "-o", place / "page.html"], environment)

        print("| | wall s | CPU s | RSS MiB |\n| --- | --- | --- | --- |")
        line("memduel flamegraph, raw, no symbols known", [page(raw)])
        runs = {"memduel flamegraph, raw": [], "memduel flamegraph, interpreted": [], "heaptrack_print, interpreted": []}
        for _ in range(options.runs):
            runs["memduel flamegraph, raw"].append(page(raw))
            runs["memduel flamegraph, interpreted"].append(page(interpreted))
            runs["heaptrack_print, interpreted"].append(measured(["heaptrack_print", "-f", interpreted], environment))
        for name, found in runs.items():
            line(name, found)


if __name__ == "__main__":
    main()
