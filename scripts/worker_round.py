#!/usr/bin/env python3
"""Runs the arms of a federated config with memduel-worker alone and prints what its probes say of each
round: for machines that have the worker (docs/gpu.md) but not memduel. One trial per arm, no
statistics. Needs Python 3.8 and nothing else; asks NVIDIA's driver too, where there is one.

    scripts/worker_round.py configs/resnet-dummy-gpu.json
    scripts/worker_round.py configs/resnet-state-quick.json --device cuda --check
    scripts/worker_round.py configs/resnet-dummy-gpu.json --device cpu --variants original --set local_steps=1
"""

import argparse
import ctypes
import json
import math
import os
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIB = 1 << 20
# Of the design: what LibTorch reserves and what the driver counts agree to 2% and 2 MiB.
SHARE, SLACK = 0.02, 2 * MIB


def read_json(path):
    """JSON with // comments, as configs have them."""
    return json.loads(re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', lambda found: found.group(1) or "", path.read_text()))


class Driver:
    """Device memory by process, from libnvidia-ml.so.1; None where there is no driver."""

    class ProcessInfo(ctypes.Structure):
        _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gpu", ctypes.c_uint), ("compute", ctypes.c_uint)]

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        code = self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device))
        if code != 0:
            raise OSError(f"NVML gave {code}")

    def used(self, pid):
        infos = (self.ProcessInfo * 256)()
        count = ctypes.c_uint(len(infos))
        if self.nvml.nvmlDeviceGetComputeRunningProcesses_v3(self.device, ctypes.byref(count), infos) != 0:
            return None
        found = [info.used for info in infos[: count.value] if info.pid == pid and info.used != 2**64 - 1]
        return found[0] if found else None


def find_driver():
    try:
        return Driver()
    except (OSError, AttributeError) as error:
        print(f"no GPU: {error}", file=sys.stderr)
        return None


class Role:
    """A worker process, and the listener at the other end of its marks."""

    def __init__(self, worker, name, index, config, driver, log):
        self.name, self.driver, self.buffer = (f"{name}-{index}" if index else name), driver, b""
        self.gauges, self.rounds, self.idle_used = {}, [], None
        ours, theirs = socket.socketpair()
        env = dict(os.environ, MEMDUEL_MARKS_FD=str(theirs.fileno()), OMP_NUM_THREADS="1")
        env.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        self.log = open(log / f"{self.name}.log", "w+")
        words = [str(worker), "--role", name, "--index", str(index), "--config", str(config)]
        self.process = subprocess.Popen(words, env=env, pass_fds=[theirs.fileno()], stdout=self.log, stderr=self.log)
        theirs.close()
        self.marks = ours

    def read_marks(self):
        """False at the end of the process's marks."""
        received = self.marks.recv(65536)
        *lines, self.buffer = (self.buffer + received).split(b"\n")
        for line in lines:
            self.take(line.decode().split())
        return bool(received)

    def take(self, words):
        if words[0] == "gauge":
            mantissa, _, exponent = words[3].partition("p")
            self.gauges[words[2]] = math.ldexp(int(mantissa, 0), int(exponent or 0))
        elif words[0] == "idle":
            self.idle_used = self.driver and self.driver.used(self.process.pid)
        elif words[0] == "round_end":
            self.gauges["gpu_used_bytes"] = self.driver and self.driver.used(self.process.pid)
            self.rounds.append((int(words[2]), dict(self.gauges)))

    def disagreement(self, gauges):
        """By how much used and reserved, both above idle, differ beyond what is allowed; None where one is not known."""
        used, reserved = gauges.get("gpu_used_bytes"), gauges.get("gpu_reserved_bytes")
        if None in (used, reserved, self.idle_used):
            return None
        reserved -= gauges.get("idle_gpu_reserved_bytes", 0)
        return abs(used - self.idle_used - reserved) - SHARE * reserved - SLACK


def run_arm(worker, document, clients, driver, seconds):
    with tempfile.TemporaryDirectory() as directory:
        here = Path(directory)
        document = dict(document, trial_dir=directory, address_file=str(here / "address"), model_file=str(here / "model"))
        (here / "worker.json").write_text(json.dumps(document))
        roles = [Role(worker, "server", 0, here / "worker.json", driver, here)]
        roles += [Role(worker, "client", i + 1, here / "worker.json", driver, here) for i in range(clients)]
        try:
            listen(roles, time.monotonic() + seconds)
        finally:
            for role in roles:
                role.process.kill()
        for role in roles:
            if role.process.returncode != 0:
                role.log.seek(0)
                sys.exit(f"{role.name} ended with {role.process.returncode}: {role.log.read().strip()}")
    return roles


def listen(roles, give_up):
    selector = selectors.DefaultSelector()
    for role in roles:
        selector.register(role.marks, selectors.EVENT_READ, role)
    while selector.get_map():
        if time.monotonic() > give_up:
            sys.exit("the round did not end in time")
        for key, _ in selector.select(timeout=1):
            if not key.data.read_marks():
                selector.unregister(key.fileobj)
    for role in roles:
        role.process.wait(timeout=max(1, give_up - time.monotonic()))


def switches_of(arm):
    """Every switch of the arm's preset: its first value where neither the preset nor the arm sets one."""
    table = read_json(ROOT / "configs/switches.json")
    presets = {preset["name"]: preset for preset in table["presets"]}
    preset = presets[arm["preset"]]
    kind = preset["workload_kinds"][0]
    values = {**preset["switches"], **arm.get("switches", {})}
    while "base" in preset:
        preset = presets[preset["base"]]
        values = {**preset["switches"], **values}
    return {**{one["name"]: one["values"][0]["value"] for one in table["switches"] if kind in one["applies_to"]}, **values}


def worker_document(config, arm, options):
    workload = dict(config["workload"], device=options.device or config["workload"].get("device", "cpu"))
    for name, value in options.set:
        workload[name] = json.loads(value)
    workload.setdefault("threads", 1)
    workload.setdefault("clients", 2)
    workload.setdefault("deadline_seconds", 600)
    workload["transport"] = {"kind": "unix", "max_message_bytes": workload.get("transport", {}).get("max_message_bytes", 10485760)}
    return {"workload": workload, "switches": switches_of(arm), "seed": config.get("measure", {}).get("seed", 1),
            "meters": ["allocator", "torch", "cuda"], "data_dir": str(options.data_dir)}


def in_mib(value):
    return "-" if value is None else f"{value / MIB:.1f}"


def print_rounds(arm, role):
    columns = ["gpu_allocated_bytes", "peak_gpu_allocated_bytes", "gpu_reserved_bytes", "peak_gpu_reserved_bytes",
               "gpu_inactive_split_bytes", "gpu_used_bytes", "peak_torch_cpu_bytes"]
    for number, gauges in role.rounds:
        cells = "".join(f"{in_mib(gauges.get(name)):>11}" for name in columns)
        print(f"{arm:<20} {role.name:<10} {number:>5}{cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("--worker", type=Path, default=ROOT / "build/worker/bin/memduel-worker")
    parser.add_argument("--variants", help="comma-separated; default: all")
    parser.add_argument("--device", choices=["cpu", "cuda"], help="instead of the config's")
    parser.add_argument("--set", action="append", default=[], type=lambda word: word.split("=", 1), help="NAME=JSON of the workload")
    parser.add_argument("--data-dir", type=Path, default=ROOT / "workloads/data/datasets")
    parser.add_argument("--check", action="store_true",
                        help="exit 1 where used and reserved, above idle, differ by more than 2%% + 2 MiB")
    options = parser.parse_args()
    if not options.worker.exists():
        sys.exit(f"there is no worker at {options.worker}: build it as docs/gpu.md says, or give --worker")
    config = read_json(options.config)
    driver = find_driver()
    wrong = checked = 0
    print(f"{'MiB':<20} {'role':<10} round{'allocated':>11}{'peak':>11}{'reserved':>11}{'peak':>11}{'split':>11}{'used':>11}{'cpu peak':>11}")
    for arm in config["variants"]:
        if options.variants and arm["name"] not in options.variants.split(","):
            continue
        document = worker_document(config, arm, options)
        workload = document["workload"]
        for role in run_arm(options.worker, document, workload["clients"], driver, workload["deadline_seconds"] + 60):
            print_rounds(arm["name"], role)
            for number, gauges in role.rounds:
                beyond = role.disagreement(gauges)
                checked += beyond is not None
                if beyond is not None and beyond > 0:
                    wrong += 1
                    print(f"{arm['name']} {role.name} round {number}: used and reserved differ by {in_mib(beyond)} MiB more than allowed")
    if options.check:
        print(f"{checked} round ends checked, {wrong} beyond 2% + 2 MiB")
        sys.exit(wrong > 0 or checked == 0)


if __name__ == "__main__":
    main()
