#!/usr/bin/env python3
"""Kills programs at random moments while `memduel record` records them, and holds each profile to the program's own ledger.

    tests/recorder/kills.py MEMDUEL PROFILE_JSON PROGRAMS [--kills N] [--seed N]

The programs note in a shared file mapping what they allocate in the function keep(): before and after each call. What is in the stacks of a
profile below keep() must lie between the two, in exact mode and in sampled mode with an interval of a byte, which samples every block.
PROGRAMS has killed and, where gRPC is, killed_grpc_server. Exit status: 1 when a profile differs or cannot be read.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

SLOT = struct.Struct("<4q32x")

PYTHON = '''
import mmap, os, random, struct, sys

file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
os.ftruncate(file, 64 * 1024)
ledger = mmap.mmap(file, 64 * 1024)


def add(field, size):
    struct.pack_into("<q", ledger, 8 * field, struct.unpack_from("<q", ledger, 8 * field)[0] + size)


def keep(size):
    add(0, size + 1)
    block = bytearray(size)  # and a zero at its end
    add(1, size + 1)
    return block


def main():
    blocks = [None] * 64
    chance = random.Random(int(sys.argv[2]))
    while True:
        i = chance.randrange(64)
        if blocks[i] is not None:
            size = len(blocks[i]) + 1
            add(2, size)
            blocks[i] = None
            add(3, size)
        blocks[i] = keep(chance.randrange(2000, 6000))


main()
'''

ENDING = (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS)


class Program:
    def __init__(self, name, command, signals=ENDING, has_children=False):
        self.name, self.command, self.signals, self.has_children = name, command, signals, has_children


def ledger_of(path):
    """(bytes begun, done, freeing, freed) of all threads and processes."""
    return [sum(column) for column in zip(*SLOT.iter_unpack(path.read_bytes()))]


def kept(profile):
    """(allocated, live) requested bytes of malloc with keep() in their stack."""
    below = [False] * len(profile["stacks"])
    is_keep = [any(name["function"].split("(")[0] == "keep" for name in location["names"]) for location in profile["locations"]]
    for number, (parent, location) in enumerate(profile["stacks"]):
        below[number] = (number > 0 and below[parent]) or (number > 0 and is_keep[location])
    sites = [site for site in profile["sites"] if below[site["stack"]] and site["heap"] == "malloc"]
    return sum(site["allocated"]["bytes"] for site in sites), sum(site["live"]["bytes"] for site in sites)


def recorded_process(recorder):
    """The program that memduel started."""
    children = f"/proc/{recorder.pid}/task/{recorder.pid}/children"
    while recorder.poll() is None:
        pids = pathlib.Path(children).read_text().split()
        if pids:
            return int(pids[0])
        time.sleep(0.001)
    sys.exit(f"kills.py: memduel ended before its program: {recorder.stderr.read()}")


def kill_once(memduel, profile_json, program, mode, chance, place):
    ledger, profile = place / "ledger", place / "profile.mdp"
    command = [memduel, "record", *mode, "-o", str(profile), "--", *(word.format(ledger=ledger, seed=chance.randrange(1 << 16)) for word in program.command)]
    recorder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    pid = recorded_process(recorder)
    began = time.monotonic()
    while not ledger.exists() or not any(ledger.read_bytes()):
        if time.monotonic() - began > 30:
            sys.exit(f"kills.py: {program.name} allocates nothing within 30 s")
        time.sleep(0.002)
    time.sleep(chance.uniform(0, 0.25))
    number = chance.choice(program.signals)
    if program.has_children:
        # First those that it forked, which nobody else would end; it is stopped, so that no more of them come.
        os.kill(pid, signal.SIGSTOP)
        while stat_of(pid)[0] not in "TtZX":
            time.sleep(0.001)
        for member in [int(p) for p in os.listdir("/proc") if p.isdigit() and int(stat_of(p)[3]) == recorder.pid]:
            if member not in (pid, recorder.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(member, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    else:
        os.kill(pid, number)
    try:
        errors = recorder.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait()
        return f"it does not end by {signal.Signals(number).name} within 60 s"
    begun, done, freeing, freed = ledger_of(ledger)
    allocated = live = 0
    profiles = [profile, *sorted(place.glob("profile.*.mdp")), *sorted(place.glob("profile.images/*.mdp"))]
    for file in profiles:
        shown = subprocess.run([profile_json, file], capture_output=True, text=True)
        if shown.returncode:
            return f"{file.name} cannot be read: {shown.stderr.strip()}; memduel record: {errors.strip()}"
        one = kept(json.loads(shown.stdout))
        allocated, live = allocated + one[0], live + one[1]
    if not done <= allocated <= begun:
        return f"allocated {allocated:,} B in stacks, {done:,} to {begun:,} B in the ledger"
    if not program.has_children and not done - freeing <= live <= begun - freed:
        return f"live {live:,} B in stacks, {done - freeing:,} to {begun - freed:,} B in the ledger"
    return None


def stat_of(pid):
    """The fields of /proc/PID/stat behind the name: state, parent, group, session …"""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["X", "0", "0", "0"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memduel")
    parser.add_argument("profile_json")
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    killed = str(options.programs / "killed")
    programs = [
        Program("64 threads", [killed, "{ledger}", "threads", "64"]),
        Program("Python", [sys.executable, "-c", PYTHON, "{ledger}", "{seed}"]),
        Program("forks", [killed, "{ledger}", "forks"], has_children=True),
        Program("signal handler", [killed, "{ledger}", "handler"], (*ENDING, signal.SIGUSR1)),
    ]
    server = options.programs / "killed_grpc_server"
    if server.exists():
        programs.append(Program("gRPC server", [str(server), "{ledger}"]))
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    wrong = 0
    for number in range(options.kills):
        program = programs[number % len(programs)]
        mode = (["--exact"], ["--interval", "1"])[number // len(programs) % 2]
        with tempfile.TemporaryDirectory() as place:
            problem = kill_once(options.memduel, options.profile_json, program, mode, chance, pathlib.Path(place))
        if problem:
            wrong += 1
            print(f"kill {number + 1}, {program.name}, {' '.join(mode)}: {problem}", flush=True)
    print(f"{options.kills} kills of {len(programs)} programs: {wrong} profiles differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
