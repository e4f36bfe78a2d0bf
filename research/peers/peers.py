#!/usr/bin/env python3
"""The same work plain and under each memory profiler: CPU time, peak RSS, bytes of trace.

    research/peers/peers.py --out DIR > table.md                      everything: 50 minutes
    research/peers/peers.py --out DIR --programs churn,mnist > t.md   a part; what DIR holds already is not measured again

Runs of one program are interleaved: a pair is every tool once, in random order. Every tool is
preloaded into the program itself, without a collecting process beside it, and the CPU time is the
program's own (user and system, from wait4). The ratio to plain is the Hodges-Lehmann estimate of
the paired log ratios, with the interval that the exact Wilcoxon signed-rank distribution gives.
The trace is what the preloaded library leaves, before any packing. gperftools and jemalloc replace
the allocator: their ratio is of allocator and profiler together. DIR keeps the runs of each program
in a file, so that an interrupted bench goes on where it stopped.
"""

import argparse
import dataclasses
import hashlib
import json
import math
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
SLOW_PAIRS = 6  # the fewest for which a 95% interval exists
TRACING_PAIRS = 16
LONGEST_RUN_SECONDS = 300


@dataclasses.dataclass
class Tool:
    name: str
    library: Path | None
    environment: dict  # {out} is an empty directory for what the tool leaves
    package: str = ""  # Debian's
    most_pairs: int | None = None  # of tools whose runs take longer, and whose ratio is plain to see


def all_tools(build):
    recorder = build / "lib/libmemduel_recorder.so"

    def memduel(mode, most_pairs=None):
        return Tool(f"memduel {mode}", recorder, {"MEMDUEL_RECORDER_DIR": "{out}", "MEMDUEL_RECORDER_MODE": mode}, most_pairs=most_pairs)

    return [
        Tool("plain", None, {}),
        memduel("count"),
        memduel("sampled"),
        memduel("exact", TRACING_PAIRS),
        Tool("heaptrack", Path("/usr/lib/heaptrack/libheaptrack_preload.so"), {"DUMP_HEAPTRACK_OUTPUT": "{out}/trace"}, "heaptrack",
             TRACING_PAIRS),
        Tool("gperftools heap", LIBRARIES / "libtcmalloc.so.4", {"HEAPPROFILE": "{out}/heap"}, "libgoogle-perftools4", most_pairs=SLOW_PAIRS),
        Tool("gperftools sampling", LIBRARIES / "libtcmalloc.so.4", {"TCMALLOC_SAMPLE_PARAMETER": "524288"}, "libgoogle-perftools4"),
        Tool("jemalloc prof", LIBRARIES / "libjemalloc.so.2",
             {"MALLOC_CONF": "prof:true,prof_final:true,lg_prof_sample:19,prof_prefix:{out}/je"}, "libjemalloc2"),
    ]


# ---- programs -------------------------------------------------------------------------------------


class Program:
    """A command that needs nobody."""

    def __init__(self, title, *argv, more_pairs=1):
        self.title, self.words, self.more_pairs = title, [str(word) for word in argv], more_pairs

    def prepare(self, place):
        pass

    def beside(self):
        return None

    def command(self):
        return self.words


class Client:
    """The client of one federated round on dummy data; its server runs plain beside it."""

    more_pairs = 1

    def __init__(self, title, build, data, model, dataset, steps):
        self.title, self.build, self.data, self.model, self.dataset, self.steps = title, build, data, model, dataset, steps

    def prepare(self, place):
        config = {
            "name": "peers",
            "workload": {
                "kind": "federated", "model": self.model, "device": "cpu", "threads": 1,
                "dataset": self.dataset, "clients": 1, "rounds": 1, "local_steps": 1,
                "batch_size": 16, "optimizer": {"name": "adam", "learning_rate": 0.01},
                "transport": {"kind": "grpc", "max_message_bytes": 10485760}, "deadline_seconds": 600,
            },
            "variants": [{"name": "original", "preset": "appfl-original"}, {"name": "optimized", "preset": "appfl-optimized"}],
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
            "workload": {**resolved["workload"], "local_steps": self.steps},
            "switches": resolved["variants"][0]["switches"], "seed": 1, "meters": [],
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


def all_programs(build, data, small):
    """`small`: seconds instead of minutes, to see that everything runs."""
    bin = build / "bin"
    cifar = {"name": "dummy-cifar10", "train_samples": 64, "test_samples": 32, "seed": 42}
    return {
        "resnet18": Client("ResNet18 round, 10 local steps", build, data, "resnet18", cifar, 1 if small else 10),
        "mnist": Client("MNIST round, 50 local steps", build, data, "mnist-cnn", {"name": "mnist"}, 2 if small else 50),
        "churn": Program("churn: 5 million small strings in a map", bin / "memduel-peer-churn", 200_000 if small else 5_000_000, more_pairs=4),
        "cross-thread": Program("8 threads that free each other's blocks", bin / "memduel-peer-cross_free", 20_000 if small else 500_000, more_pairs=6),
        "python": Program("python3 -c 'import json'", "/usr/bin/python3", "-c", "import json", more_pairs=4),
    }


# ---- runs -----------------------------------------------------------------------------------------


def variables(tool, out):
    return {key: value.replace("{out}", str(out)) for key, value in tool.environment.items()}


def run_once(build, program, tool):
    """(CPU seconds, peak RSS bytes, bytes left behind) of one run, or why there is none."""
    out = Path(tempfile.mkdtemp(prefix="memduel-peers-"))
    beside = program.beside()
    try:
        environment = {**os.environ, **variables(tool, out)}
        if tool.library is not None:
            environment["PEER_PRELOAD"] = str(tool.library)
        run = subprocess.run([build / "bin/memduel-peer-measure", *program.command()], env=environment, timeout=LONGEST_RUN_SECONDS,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", check=True)
        if beside is not None:
            beside.wait(60)
        cpu, rss, status = re.search(r"\nmeasured (\S+) (\d+) (\d+)\n$", run.stderr).groups()
        if status != "0":
            print(run.stderr[-2000:], file=sys.stderr)
            return f"ended with status {status}"
        return float(cpu), int(rss), sum(f.stat().st_size for f in out.rglob("*") if f.is_file())
    except subprocess.TimeoutExpired:
        return f"did not finish in {LONGEST_RUN_SECONDS} s"
    finally:
        if beside is not None and beside.poll() is None:
            beside.kill()
            beside.wait()
        shutil.rmtree(out)


def measure(build, name, program, tools, pairs, seed):
    """tool -> runs in the order of the pairs, or why there are none."""
    results = {tool.name: [] for tool in tools}
    order = random.Random(seed)
    begin = time.monotonic()
    wanted = pairs * program.more_pairs
    for pair in range(wanted):
        running = [tool for tool in tools if isinstance(results[tool.name], list) and pair < (tool.most_pairs or wanted)]
        for tool in order.sample(running, len(running)):
            run = run_once(build, program, tool)
            if isinstance(run, str):
                if tool.name == "plain":
                    raise SystemExit(f"{name}: plain {run}")
                print(f"{name}: {tool.name} {run}", file=sys.stderr)
                results[tool.name] = run
            else:
                results[tool.name].append(run)
        left = (time.monotonic() - begin) / (pair + 1) * (wanted - pair - 1)
        print(f"{name}: {pair + 1} of {wanted} pairs, at most {left:.0f} s left", file=sys.stderr)
    return results


def instructions_of(build, tool, count):
    with tempfile.TemporaryDirectory(prefix="memduel-peers-") as out:
        environment = {**os.environ, **variables(tool, out)}
        if tool.library is not None:
            environment["LD_PRELOAD"] = str(tool.library)
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}/callgrind", str(build / "bin/memduel-peer-pairs"), str(count)],
            env=environment, capture_output=True, text=True, errors="replace", check=True)
        return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def instructions_per_pair(build, tools):
    """Of two runs the difference: what starting and ending costs is in both."""
    few, many = 100_000, 300_000
    result = {}
    for tool in tools:
        if tool.library is None or "memduel" in tool.name:
            result[tool.name] = (instructions_of(build, tool, many) - instructions_of(build, tool, few)) / (many - few)
            print(f"instructions: {tool.name} {result[tool.name]:.1f}", file=sys.stderr)
    return result


# ---- statistics -----------------------------------------------------------------------------------


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


# ---- Markdown -------------------------------------------------------------------------------------


def print_program(title, results):
    plain = results["plain"]
    print(f"\n### {title}\n\nplain: {median([r[0] for r in plain]):.2f} s of CPU time, {median([r[1] for r in plain]) / 2**20:.1f} MiB peak RSS\n")
    print("| tool | CPU time ratio | 95% interval | pairs | extra peak RSS | trace |\n| --- | --- | --- | --- | --- | --- |")
    for tool, runs in results.items():
        if tool == "plain":
            continue
        if isinstance(runs, str):
            print(f"| {tool} | {runs} | | | | |")
            continue
        ratio, low, high = hodges_lehmann([r[0] / p[0] for r, p in zip(runs, plain)])
        interval = "too few pairs" if low is None else f"{low:.3f}–{high:.3f}"
        extra = median([r[1] - p[1] for r, p in zip(runs, plain)]) / 2**20
        print(f"| {tool} | {ratio:.3f} | {interval} | {len(runs)} | {extra:+.1f} MiB | {median([r[2] for r in runs]) / 1e6:.2f} MB |")


def print_instructions(counts):
    print("\n### Instructions of a malloc and its free, by callgrind\n\n| tool | instructions | extra |\n| --- | --- | --- |")
    for tool, count in counts.items():
        extra = "" if tool == "plain" else f"{count - counts['plain']:+.1f}"
        print(f"| {tool} | {count:.1f} | {extra} |")


def print_report(kept, programs):
    about = kept["about"]
    if about["small"]:
        print("Small programs: these numbers say only that everything runs.\n")
    print(f"{about['cpu']}, {about['cpus']} CPUs, Linux {about['kernel']}, glibc {about['glibc']}; {about['tools']}.")
    for name, program in programs.items():
        if name in kept["programs"]:
            print_program(program.title, kept["programs"][name])
    if "instructions" in kept["programs"]:
        print_instructions(kept["programs"]["instructions"])


# ---- what is kept ---------------------------------------------------------------------------------


def version_of(package):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return found.stdout if found.returncode == 0 else "of unknown version"


def about(build, tools, arguments):
    """What numbers must have in common to stand in one table."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    packages = sorted({tool.package for tool in tools if tool.package})
    return {
        "cpu": model.group(1) if model else platform.machine(), "cpus": os.cpu_count(), "kernel": platform.release(),
        "glibc": platform.libc_ver()[1], "tools": ", ".join(f"{package} {version_of(package)}" for package in packages),
        "recorder": hashlib.sha256((build / "lib/libmemduel_recorder.so").read_bytes()).hexdigest(),
        "pairs": arguments.pairs, "small": arguments.small,
    }


def load(out, wanted):
    path = out / "about.json"
    if not path.exists():
        out.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(wanted, indent=1))
    found = json.loads(path.read_text())
    for key, value in wanted.items():
        if found.get(key) != value:
            raise SystemExit(f"{path}: expected {key} {value!r}, found {found.get(key)!r}; numbers of one table come from the same build, "
                             "machine and options: give another --out")
    return {"about": found, "programs": {file.stem: json.loads(file.read_text()) for file in out.glob("*.json") if file != path}}


def keep(out, kept, name, results):
    kept["programs"][name] = results
    unfinished = out / f"{name}.json.part"
    unfinished.write_text(json.dumps(results))
    unfinished.rename(out / f"{name}.json")


# ---- requirements ---------------------------------------------------------------------------------


def refuse_missing(build, tools, programs, wanted):
    missing = [f"{tool.name}: {tool.library} (Debian package {tool.package})" for tool in tools
               if tool.package and not tool.library.exists()]
    if "instructions" in wanted and shutil.which("valgrind") is None:
        missing.append("instructions: valgrind (Debian package valgrind)")
    for file in ["lib/libmemduel_recorder.so", *(f"bin/memduel-peer-{name}" for name in ("churn", "cross_free", "measure", "pairs"))]:
        if not (build / file).exists():
            missing.append(f"{build / file}: build the target {Path(file).stem.removeprefix('lib')}")
    if any(isinstance(programs.get(name), Client) for name in wanted) and not (build / "bin/memduel-worker").exists():
        missing.append(f"the federated rounds: {build / 'bin/memduel-worker'} (preset release)")
    if missing:
        raise SystemExit("missing:\n  " + "\n  ".join(missing) + "\nscripts/setup.sh installs the packages")


def warn_when_busy():
    load_average = os.getloadavg()[0]
    if load_average > 0.5:
        print(f"the machine is busy (load {load_average:.1f}): ratios of a few per cent need a quiet one", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="a directory for the runs")
    parser.add_argument("--build", type=Path, default=Path("build/release"), help="a build directory")
    parser.add_argument("--data-dir", type=Path, default=Path(__file__).parents[2] / "workloads/data/datasets", help="where mnist/ is")
    parser.add_argument("--pairs", type=int, default=16, help=f"how often each tool runs each program (gperftools heap: {SLOW_PAIRS})")
    parser.add_argument("--programs", help="some of resnet18, mnist, churn, cross-thread, python, instructions, with commas between")
    parser.add_argument("--small", action="store_true", help="small programs: to see that all of it runs")
    parser.add_argument("--seed", type=int, default=1, help="of the order of runs")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # as the planner sets them for workers
    tools = all_tools(build)
    programs = all_programs(build, arguments.data_dir.resolve(), arguments.small)
    known = [*programs, "instructions"]
    wanted = arguments.programs.split(",") if arguments.programs else known
    for name in wanted:
        if name not in known:
            parser.error(f"--programs: expected one of {', '.join(known)}, found {name!r}")
    refuse_missing(build, tools, programs, wanted)
    kept = load(arguments.out, about(build, tools, arguments))
    warn_when_busy()
    for name in wanted:
        if name in kept["programs"]:
            print(f"{name}: measured already", file=sys.stderr)
        elif name == "instructions":
            keep(arguments.out, kept, name, instructions_per_pair(build, tools))
        else:
            with tempfile.TemporaryDirectory(prefix="memduel-peers-") as place:
                programs[name].prepare(Path(place))
                keep(arguments.out, kept, name, measure(build, name, programs[name], tools, arguments.pairs, arguments.seed))
    print_report(kept, programs)


if __name__ == "__main__":
    main()
