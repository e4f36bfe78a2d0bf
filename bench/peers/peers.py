#!/usr/bin/env python3
"""The same work plain and under each memory profiler: CPU time, peak RSS, bytes of trace.

    bench/peers/peers.py --build build/release --pairs 16 > table.md

Runs of one program are interleaved: each pair is all tools once, in random order. Every tool is
preloaded into the program itself, without a collecting process beside it, and the CPU time is the
program's own (user and system, from wait4). The ratio to plain is the Hodges-Lehmann estimate of
the paired log ratios, with the interval that the exact Wilcoxon signed-rank distribution gives.
gperftools and jemalloc replace the allocator: their ratio is of allocator and profiler together.
"""

import argparse
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")


def tools(build):
    """name -> (library, environment); {out} is an empty directory for what the tool leaves."""
    recorder = build / "lib/libmemduel_recorder.so"
    memduel = {"MEMDUEL_RECORDER_DIR": "{out}"}
    return {
        "plain": (None, {}),
        "memduel count": (recorder, {**memduel, "MEMDUEL_RECORDER_MODE": "count"}),
        "memduel sampled": (recorder, {**memduel, "MEMDUEL_RECORDER_MODE": "sampled"}),
        "memduel exact": (recorder, {**memduel, "MEMDUEL_RECORDER_MODE": "exact"}),
        "heaptrack": (Path("/usr/lib/heaptrack/libheaptrack_preload.so"), {"DUMP_HEAPTRACK_OUTPUT": "{out}/trace"}),
        "gperftools heap": (LIBRARIES / "libtcmalloc.so.4", {"HEAPPROFILE": "{out}/heap"}),
        "gperftools sampling": (LIBRARIES / "libtcmalloc.so.4", {"TCMALLOC_SAMPLE_PARAMETER": "524288"}),
        "jemalloc prof": (
            LIBRARIES / "libjemalloc.so.2",
            {"MALLOC_CONF": "prof:true,prof_final:true,lg_prof_sample:19,prof_prefix:{out}/je"},
        ),
    }


class Client:
    """The client of one federated round on dummy data; its server runs plain beside it."""

    def __init__(self, build, data, model, dataset, steps):
        self.build, self.data, self.model, self.dataset, self.steps = build, data, model, dataset, steps

    def prepare(self, place):
        config = {
            "name": "peers",
            "workload": {
                "kind": "federated", "model": self.model, "device": "cpu", "threads": 1,
                "dataset": self.dataset, "clients": 1, "rounds": 1, "local_steps": self.steps,
                "batch_size": 16, "optimizer": {"name": "adam", "learning_rate": 0.01},
                "transport": {"kind": "grpc", "max_message_bytes": 10485760}, "deadline_seconds": 600,
            },
            "arms": [{"name": "original", "preset": "appfl-original"}, {"name": "optimized", "preset": "appfl-optimized"}],
            "baseline": "original",
        }
        (place / "config.json").write_text(json.dumps(config))
        # The planner knows what a worker has to be told: one short run leaves it resolved.
        subprocess.run(
            [self.build / "bin/memduel", "run", place / "config.json", "--out", place / "run", "--repeats", "1",
             "--data-dir", self.data, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        resolved = json.loads((place / "run/config.json").read_text())
        trial = place / "trial"
        trial.mkdir()
        worker = {
            "workload": resolved["workload"], "optimizations": resolved["arms"][0]["optimizations"], "seed": 1, "meters": [],
            "trial_dir": str(trial), "data_dir": str(self.data), "address_file": str(trial / "server.address"),
            "model_file": str(trial / "final_model.bin"),
        }
        (trial / "worker.json").write_text(json.dumps(worker))
        self.trial = trial

    def argv(self, role):
        index = "0" if role == "server" else "1"
        return [str(self.build / "bin/memduel-worker"), "--role", role, "--index", index, "--config", str(self.trial / "worker.json")]

    def beside(self):
        address = self.trial / "server.address"
        address.unlink(missing_ok=True)
        server = subprocess.Popen(self.argv("server"), stdout=subprocess.DEVNULL)
        for _ in range(1200):
            if address.exists():
                return server
            if server.poll() is not None:
                break
            time.sleep(0.05)
        server.kill()
        raise SystemExit("the server of the round never listened")

    def command(self):
        return self.argv("client")


class Program:
    def __init__(self, *argv):
        self.words = [str(word) for word in argv]

    def prepare(self, place):
        pass

    def beside(self):
        return None

    def command(self):
        return self.words


def programs(build, data, small):
    """`small`: seconds instead of an hour, to see that everything runs."""
    bin = build / "bin"
    found = {
        "churn": Program(bin / "memduel-peer-churn", 200_000 if small else 5_000_000),
        "cross-thread churn": Program(bin / "memduel-peer-cross_free", 50_000 if small else 1_000_000),
        "python3 import json": Program("/usr/bin/python3", "-c", "import json"),
    }
    if (bin / "memduel-worker").exists():
        cifar = {"name": "dummy-cifar10", "train_samples": 64, "test_samples": 32, "seed": 42}
        found["ResNet18 round"] = Client(build, data, "resnet18", cifar, 2 if small else 20)
        found["MNIST round"] = Client(build, data, "mnist-cnn", {"name": "mnist"}, 2 if small else 50)
    return found


def run_once(build, program, library, environment):
    """(CPU seconds, peak RSS bytes, bytes left behind) of one run."""
    out = Path(tempfile.mkdtemp(prefix="memduel-peers-"))
    try:
        beside = program.beside()
        variables = {key: value.replace("{out}", str(out)) for key, value in environment.items()}
        if library is not None:
            variables["PEER_PRELOAD"] = str(library)
        run = subprocess.run([build / "bin/memduel-peer-measure", *program.command()], env={**os.environ, **variables},
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", check=True)
        if beside is not None:
            beside.wait(600)
        cpu, rss, status = re.search(r"\nmeasured (\S+) (\d+) (\d+)\n$", run.stderr).groups()
        if status != "0":
            raise SystemExit(f"{program.command()[0]} under {library} ended with {status}:\n{run.stderr}")
        left = sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
        return float(cpu), int(rss), left
    finally:
        shutil.rmtree(out)


def signed_rank_quantile(n, alpha=0.05):
    """The largest k for which P(W <= k - 1) <= alpha / 2, W the signed-rank statistic of n pairs."""
    ways = [1]
    for rank in range(1, n + 1):
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    below, k = 0, 0
    while below + ways[k] <= alpha / 2 * 2**n:
        below += ways[k]
        k += 1
    return k


def hodges_lehmann(ratios):
    """(estimate, low, high) of the ratio; low and high are None for too few pairs."""
    logs = [math.log(ratio) for ratio in ratios]
    n = len(logs)
    walsh = sorted((logs[i] + logs[j]) / 2 for i in range(n) for j in range(i, n))
    middle = (walsh[(len(walsh) - 1) // 2] + walsh[len(walsh) // 2]) / 2
    k = signed_rank_quantile(n)
    if k == 0:
        return math.exp(middle), None, None
    return math.exp(middle), math.exp(walsh[k - 1]), math.exp(walsh[len(walsh) - k])


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def measure(build, name, program, available, pairs, seed):
    results = {tool: [] for tool in available}
    order = random.Random(seed)
    for pair in range(pairs):
        for tool in order.sample(sorted(available), len(available)):
            results[tool].append(run_once(build, program, *available[tool]))
        print(f"{name}: {pair + 1} of {pairs}", file=sys.stderr)
    return results


def print_table(name, results):
    plain = results["plain"]
    print(f"\n### {name}\n\nplain: {median([r[0] for r in plain]):.2f} s CPU, {median([r[1] for r in plain]) / 2**20:.1f} MiB peak RSS, {len(plain)} pairs\n")
    print("| tool | CPU time ratio | 95 % interval | extra peak RSS | trace |\n| --- | --- | --- | --- | --- |")
    for tool, runs in results.items():
        if tool == "plain":
            continue
        ratio, low, high = hodges_lehmann([r[0] / p[0] for r, p in zip(runs, plain)])
        interval = "too few pairs" if low is None else f"{low:.3f}–{high:.3f}"
        extra = median([r[1] - p[1] for r, p in zip(runs, plain)]) / 2**20
        print(f"| {tool} | {ratio:.3f} | {interval} | {extra:+.1f} MiB | {median([r[2] for r in runs]) / 1e6:.2f} MB |")


def instructions(build, library, environment, count):
    with tempfile.TemporaryDirectory() as out:
        variables = {key: value.replace("{out}", out) for key, value in environment.items()}
        if library is not None:
            variables["LD_PRELOAD"] = str(library)
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}/callgrind", str(build / "bin/memduel-peer-pairs"), str(count)],
            env={**os.environ, **variables}, capture_output=True, text=True, check=True)
        return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def print_instructions(build, available):
    """Of two runs the difference: what starting and ending costs is in both."""
    def per_pair(tool):
        few, many = 100_000, 300_000
        return (instructions(build, *available[tool], many) - instructions(build, *available[tool], few)) / (many - few)
    print("\n### instructions per malloc and free\n\n| tool | instructions | extra |\n| --- | --- | --- |")
    plain = per_pair("plain")
    print(f"| plain | {plain:.1f} | |")
    for tool in ("memduel count", "memduel sampled"):
        print(f"| {tool} | {per_pair(tool):.1f} | {per_pair(tool) - plain:+.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"), help="a build directory")
    parser.add_argument("--data-dir", type=Path, default=Path(__file__).parents[2] / "datasets", help="where mnist/ is")
    parser.add_argument("--pairs", type=int, default=16, help="how often each tool runs each program")
    parser.add_argument("--only", action="append", help="one of the programs; may be repeated")
    parser.add_argument("--small", action="store_true", help="small programs: to see that all of it runs")
    parser.add_argument("--seed", type=int, default=1, help="of the order of runs")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # as the planner sets them for workers
    available = {}
    for tool, (library, environment) in tools(build).items():
        if library is None or library.exists():
            available[tool] = (library, environment)
        else:
            print(f"{tool} is left out: {library} is missing", file=sys.stderr)
    known = programs(build, arguments.data_dir.resolve(), arguments.small)
    for name in arguments.only or known:
        if name not in known:
            parser.error(f"found {name!r}, expected one of {', '.join(known)}")
        with tempfile.TemporaryDirectory(prefix="memduel-peers-") as place:
            known[name].prepare(Path(place))
            print_table(name, measure(build, name, known[name], available, arguments.pairs, arguments.seed))
    print_instructions(build, available)


if __name__ == "__main__":
    main()
