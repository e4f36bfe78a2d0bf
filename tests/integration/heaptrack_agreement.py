#!/usr/bin/env python3
"""One client of a ResNet18 round under heaptrack and under `memduel record --exact`: do they agree?

    tests/integration/heaptrack_agreement.py --build build/release
    tests/integration/heaptrack_agreement.py --build build/release --transport grpc --runs 3

Compares the peak of requested bytes (medians of the runs) and heaptrack's ten largest stacks at its
peak, frame by frame on the frames that the symbol tables of their files name. Fails when the peaks
are more than 1% apart or fewer than nine stacks have their bytes, within 1%, in the recorder's
profile. Over gRPC the peak itself differs by 1% from run to run, with what lies in the transport;
over a Unix socket it repeats to the byte.
"""

import argparse
import collections
import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STACKS = 10
NEEDED = 9
TOLERANCE = 0.01
PATIENCE_SECONDS = 240


def write_config(place, transport):
    switches = json.loads((ROOT / "configs/switches.json").read_text())["switches"]
    original = {one["name"]: one["values"][0]["value"] for one in switches if "federated" in one["applies_to"]}
    config = {
        "workload": {
            "kind": "federated", "model": "resnet18", "device": "cpu", "threads": 1,
            "dataset": {"name": "dummy-cifar10", "train_samples": 16, "test_samples": 16, "seed": 42},
            "clients": 1, "rounds": 1, "local_steps": 1, "batch_size": 16,
            "optimizer": {"name": "adam", "learning_rate": 0.01},
            "transport": {"kind": transport, "max_message_bytes": 10485760}, "deadline_seconds": PATIENCE_SECONDS,
        },
        "switches": original, "seed": 1, "meters": [], "trial_dir": str(place), "data_dir": str(place),
        "address_file": str(place / "server.address"), "model_file": str(place / "final_model.bin"),
    }
    (place / "worker.json").write_text(json.dumps(config))


def run_round(build, place, wrapper):
    """One round whose client runs under `wrapper`, its server plain."""
    worker = [str(build / "bin/memduel-worker"), "--config", str(place / "worker.json")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "XDG_CACHE_HOME": str(place / "cache")}
    address = place / "server.address"
    address.unlink(missing_ok=True)
    server = subprocess.Popen([*worker, "--role", "server"], env=environment, stdout=subprocess.DEVNULL)
    try:
        give_up = time.monotonic() + PATIENCE_SECONDS
        while not address.exists():
            if server.poll() is not None or time.monotonic() > give_up:
                raise SystemExit("the server of the round never listened")
            time.sleep(0.05)
        client = subprocess.run([*wrapper, *worker, "--role", "client", "--index", "1"], env=environment, cwd=place,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if client.returncode != 0:
            raise SystemExit(f"{' '.join(wrapper)} ended with {client.returncode}:\n{client.stdout}")
        if server.wait(PATIENCE_SECONDS) != 0:
            raise SystemExit(f"the server of the round ended with {server.returncode}")
    finally:
        if server.poll() is None:
            server.kill()


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, errors="replace").stdout


def bytes_from(text):
    number, unit = re.fullmatch(r"([\d.]+)([BKMG])", text).groups()
    return float(number) * {"B": 1, "K": 1e3, "M": 1e6, "G": 1e9}[unit]


Stack = collections.namedtuple("Stack", "bytes frames")  # frames: function names, innermost first


def heaptrack_profile(build, place, heaptrack):
    """(peak, stacks at the peak, files of their frames) as heaptrack_print says."""
    run_round(build, place, [heaptrack, "-o", str(place / "heaptrack")])
    text = output_of(f"{heaptrack}_print", "-f", place / "heaptrack.zst", "--merge-backtraces=0", "--shorten-templates=0",
                     "--peak-limit=1000", "--print-allocators=0", "--print-temporary=0")
    (place / "heaptrack.zst").unlink()
    peak = bytes_from(re.search(r"^peak heap memory consumption: (\S+)$", text, re.MULTILINE).group(1))
    stacks, files = [], set()
    for line in text.splitlines():
        if found := re.fullmatch(r"(\S+) peak memory consumed over \d+ calls from", line):
            stacks.append(Stack(bytes_from(found.group(1)), []))
        elif found := re.fullmatch(r"    in (/.*)", line):
            files.add(os.path.realpath(found.group(1)))
        elif stacks and re.match(r"  \S", line):
            stacks[-1].frames.append(line.strip())
    return peak, stacks, files


def recorder_profile(build, place):
    """(peak, stacks at the peak), in requested bytes."""
    memduel = build / "bin/memduel"
    run_round(build, place, [str(memduel), "record", "--exact", "-o", str(place / "client.mdp"), "--"])
    stacks = []
    for line in output_of(memduel, "export", place / "client.mdp", "--format", "folded", "--kind", "peak").splitlines():
        frames, amount = line.rsplit(" ", 1)
        stacks.append(Stack(int(amount), frames.split(";")[::-1]))
    return sum(stack.bytes for stack in stacks), stacks


@functools.cache
def symbols_of(file):
    """Without the local ones of a file with debug information, of which heaptrack says no scope and no parameters."""
    kinds = "A-Zu-w" if ".debug_info" in output_of("readelf", "-SW", file) else "A-Za-z"
    names = set()
    for table in ([], ["-D"]):
        text = subprocess.run(["nm", "-C", "--defined-only", *table, file], capture_output=True, text=True, errors="replace").stdout
        names.update(line.split(" ", 2)[2] for line in text.splitlines() if re.match(rf"[0-9a-f]+ [{kinds}] ", line))
    return names


def named(stack, symbols):
    """Up to main, below which the tools stop at different frames; the tools name inlined functions differently."""
    frames = stack.frames[: stack.frames.index("main") + 1] if "main" in stack.frames else stack.frames
    return tuple(frame for frame in frames if frame in symbols)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="a build directory")
    parser.add_argument("--heaptrack", default="heaptrack", help="the program; NAME_print is looked for beside it")
    parser.add_argument("--transport", choices=["unix", "grpc"], default="unix")
    parser.add_argument("--runs", type=int, default=1, help="of each tool, interleaved")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    theirs, ours = [], []
    with tempfile.TemporaryDirectory(prefix="memduel-heaptrack-") as directory:
        place = Path(directory)
        write_config(place, arguments.transport)
        for _ in range(arguments.runs):
            peak, their_stacks, files = heaptrack_profile(build, place, arguments.heaptrack)
            theirs.append(peak)
            peak, our_stacks = recorder_profile(build, place)
            ours.append(peak)
            print(f"peak of requested bytes: heaptrack {theirs[-1] / 2**20:.2f} MiB, memduel {ours[-1] / 2**20:.2f} MiB")

    apart = statistics.median(ours) / statistics.median(theirs) - 1
    print(f"apart: {100 * apart:+.2f}%")
    symbols = set().union(*(symbols_of(file) for file in files))
    sums = []
    for stacks in (their_stacks, our_stacks):
        sums.append(collections.Counter())
        for stack in stacks:
            sums[-1][named(stack, symbols)] += stack.bytes
    matched = 0
    for number, stack in enumerate(their_stacks[:STACKS], 1):
        frames = named(stack, symbols)
        wanted, found = (each[frames] for each in sums)
        same = len(frames) > 2 and abs(found / wanted - 1) <= TOLERANCE
        matched += same
        print(f"{number:3}. {stack.bytes / 2**20:6.2f} MiB, {len(frames)} named frames; all stacks with these: heaptrack "
              f"{wanted / 2**20:.2f} MiB, memduel {found / 2**20:.2f} MiB: {'matched' if same else 'NOT MATCHED'}")
        for frame in frames[:3]:
            print(f"       {frame[:110]}")
    print(f"{matched} of heaptrack's {STACKS} largest stacks matched, {NEEDED} needed")
    return 0 if abs(apart) <= TOLERANCE and matched >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
