#!/usr/bin/env python3
"""Whole commands: a program plain, under `memduel record` and under heaptrack, with all that a user waits and pays for.

    research/peers/commands.py --build build/release                       every program, 15 runs of each tool: an hour
    research/peers/commands.py --build build/release --programs json --pairs 5

Unlike peers.py, which preloads the libraries alone, this runs the tools as people do: packing, symbols, heaptrack's interpreter
and its compressor are in. Runs of a program are interleaved, in random order. CPU seconds are those of every process of the
command, also of one that outlives its parent. Ratios to plain are Hodges-Lehmann estimates of the paired log ratios with their
95% interval. A program that is not installed is said and left out.
"""

import argparse
import contextlib
import ctypes
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import peers

ROOT = Path(__file__).resolve().parents[2]
PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None)


class Program:
    """A command. `make` prepares it in a folder and gives its words; `beside` runs while it does."""

    def __init__(self, title, needs, make, beside=contextlib.nullcontext):
        self.title, self.needs, self.make, self.beside = title, needs, make, beside


def churn(build, _):
    return [build / "bin/memduel-peer-churn", "2000000"]


def threads(build, _):
    return [build / "bin/memduel-peer-cross_free", "200000"]


def many_threads(build, _):
    return [build / "bin/memduel-peer-cross_free", "25000", "64"]


def forks(*_):
    """Four children, without another program in them, which work as much as their parent did."""
    work = "import json, os\ntext = json.dumps([{'number': n, 'name': str(n)} for n in range(300_000)])\n"
    return ["/usr/bin/python3", "-c", work + "for _ in range(4):\n    if os.fork() == 0:\n        json.loads(text)\n        raise SystemExit\n"
            "for _ in range(4):\n    assert os.wait()[1] == 0"]


def json_driver(_, place):
    program = place / "json_user"
    subprocess.run(["g++", "-O2", "-g", "-o", program, ROOT / "tests/revisions/json_user.cpp"], check=True)
    return [program]


def sqlite(_, place):
    rows = place / "rows.csv"
    generator = random.Random(1)
    rows.write_text("".join(f"{i},name {generator.random()},{'x' * (i % 90)}\n" for i in range(300_000)))
    return ["sqlite3", ":memory:", "create table t(a integer primary key, b text, c text)", ".mode csv", f".import {rows} t",
            "create index u on t(b)", "select count(*), max(length(b || c)) from t order by b"]


def compiler(_, place):
    source = place / "unit.cpp"
    source.write_text("#include <map>\n#include <regex>\n#include <string>\nint main() { return std::regex_match(\"a\", std::regex(\"a+\")); }\n")
    return ["clang++-19", "-O1", "-c", source, "-o", place / "unit.o"]


def training(*_):
    return ["/usr/bin/python3", ROOT / "tests/foreign/jobs/train.py", "5"]


REDIS_PORT = 17379


def redis(*_):
    return ["redis-server", "--port", str(REDIS_PORT), "--save", "", "--appendonly", "no"]


@contextlib.contextmanager
def load_on_redis():
    """Waits for the server, gives it 200,000 commands and ends it well."""
    words = ["-p", str(REDIS_PORT)]

    def drive():
        for _ in range(600):
            if subprocess.run(["redis-cli", *words, "ping"], capture_output=True, text=True).stdout == "PONG\n":
                break
            time.sleep(0.05)
        subprocess.run(["redis-benchmark", *words, "-q", "-n", "50000", "-r", "100000", "-d", "64", "-t", "set,get,lpush,hset"],
                       stdout=subprocess.DEVNULL, check=True)
        subprocess.run(["redis-cli", *words, "shutdown", "nosave"], check=True, stdout=subprocess.DEVNULL)

    driver = os.fork()
    if driver == 0:
        try:
            drive()
        finally:
            os._exit(0)
    yield
    os.waitpid(driver, 0)


PROGRAMS = {
    "churn": Program("churn: 2 million small strings in a map", [], churn),
    "threads": Program("8 threads that free each other's blocks", [], threads),
    "threads-64": Program("64 threads that free each other's blocks", [], many_threads),
    "forks": Program("python3 that forks four times", [], forks),
    "json": Program("nlohmann/json: 20,000 objects written, parsed, flattened", ["g++"], json_driver),
    "sqlite3": Program("sqlite3: 300,000 rows imported, indexed and read", ["sqlite3"], sqlite),
    "clang": Program("clang++-19 -O1 of a unit with <regex>", ["clang++-19"], compiler),
    "redis": Program("redis-server under 200,000 commands", ["redis-server", "redis-benchmark"], redis, load_on_redis),
    "torch": Program("a PyTorch training, 5 epochs", ["/usr/lib/python3/dist-packages/torch"], training),
}


def tools(build, place):
    record = [build / "bin/memduel", "record", "-o", place / "profile.mdp"]
    return {
        "plain": [],
        "memduel record --count": [build / "bin/memduel", "record", "--count", "--"],
        "memduel record": [*record, "--"],
        "memduel record --exact": [*record, "--exact", "--"],
        "heaptrack": ["heaptrack", "-o", place / "trace"],
    }


def whole_cost(command, place):
    """(CPU seconds of all its processes, wall seconds, bytes left)."""
    before = {file: file.stat().st_size for file in place.rglob("*") if file.is_file()}
    read_end, write_end = os.pipe()
    begin = time.monotonic()
    helper = os.fork()
    if helper == 0:
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        with open(os.devnull, "r+b") as null:
            run = subprocess.Popen(list(map(str, command)), cwd=place, stdin=null, stdout=null, stderr=null)
        status = run.wait()
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()
        os.write(write_end, str(time.monotonic()).encode())
        os._exit(0 if status == 0 else 1)
    os.close(write_end)
    _, status, used = os.wait4(helper, 0)
    wall = float(os.read(read_end, 100)) - begin
    os.close(read_end)
    if status != 0:
        raise SystemExit(f"{command[0]} ended badly: {' '.join(map(str, command))}")
    left = [file for file in place.rglob("*") if file.is_file() and before.get(file) is None]
    size = sum(file.stat().st_size for file in left)
    for file in left:
        file.unlink()
    return used.ru_utime + used.ru_stime, wall, size


def measure(program, build, pairs, seed):
    """tool -> runs, in the order of the pairs."""
    order = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="memduel-commands-") as folder:
        place = Path(folder)
        words = program.make(build, place)
        all_tools = tools(build, place)
        runs = {tool: [] for tool in all_tools}
        for pair in range(-1, pairs):  # the first, which warms caches, is left out
            for tool in order.sample(list(all_tools), len(all_tools)):
                with program.beside():
                    cost = whole_cost([*all_tools[tool], *words], place)
                if pair >= 0:
                    runs[tool].append(cost)
            print(f"{program.title}: {pair + 1} of {pairs}", file=sys.stderr)
    return runs


def print_table(title, runs):
    plain = runs["plain"]
    cpu, wall = (statistics.median(run[part] for run in plain) for part in (0, 1))
    print(f"\n#### {title}\n\nplain: {cpu:.2f} s of CPU time, {wall:.2f} s\n")
    print("| command | CPU time ratio | 95% interval | wall ratio | 95% interval | pairs | left |\n| --- | --- | --- | --- | --- | --- | --- |")
    for tool, own in runs.items():
        if tool == "plain":
            continue
        cells = []
        for part in (0, 1):
            ratio, low, high = peers.hodges_lehmann([run[part] / bare[part] for run, bare in zip(own, plain)])
            cells += [f"{ratio:.2f}", "too few pairs" if low is None else f"{low:.2f}–{high:.2f}"]
        print(f"| {tool} | {' | '.join(cells)} | {len(own)} | {statistics.median(run[2] for run in own) / 1e6:.2f} MB |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help=f"of {', '.join(PROGRAMS)}")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = options.programs.split(",")
    if unknown := set(names) - PROGRAMS.keys():
        parser.error(f"unknown program {', '.join(sorted(unknown))}; expected {', '.join(PROGRAMS)}")
    if shutil.which("heaptrack") is None:
        raise SystemExit("heaptrack is missing: install Debian's package heaptrack")
    for name in names:
        program = PROGRAMS[name]
        missing = [need for need in program.needs if not (os.path.exists(need) or shutil.which(need))]
        if missing:
            print(f"{name} is left out: {', '.join(missing)} is missing", file=sys.stderr)
            continue
        print_table(program.title, measure(program, options.build.resolve(), options.pairs, options.seed))


main()
