#!/usr/bin/env python3
"""Are the recorder's Python frames those that the interpreter tells of itself?

    tests/recorder/python_frames.py MEMDUEL PYTHON...

Each interpreter runs parsing, closures, generators, classes, recursion and threads. A profile function allocates a block at every call that is sampled and
notes what sys._getframe says: function, file and line of each frame. The recorded stacks must hold the same frames with the same bytes.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

EVERY, BLOCK = 41, 20_000

WORK = r'''
import ast, contextlib, dataclasses, functools, json, re, sys, threading

EVERY, BLOCK = %d, %d
notes, kept, calls = [], [], [0]


def profile(frame, event, argument):
    if event != "call":
        return
    calls[0] += 1
    if calls[0] %% EVERY:
        return
    chain = []
    own = sys._getframe()
    while frame is not None:
        code = frame.f_code
        chain.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno or 0])
        frame = frame.f_back
    kept.append(bytearray(BLOCK))
    notes.append(chain)


@dataclasses.dataclass
class Größe:
    value: int

    def verdoppelt(self):
        return Größe(self.value * 2)

    @functools.lru_cache(maxsize=None)
    def tief(self, n):
        return self.tief(n - 1) + 1 if n else 0

    def __hash__(self):
        return hash(self.value)


@contextlib.contextmanager
def around(n):
    yield [Größe(i).verdoppelt() for i in range(n)]


def chained(n):
    if n == 0:
        yield from (Größe(i) for i in range(10))
    else:
        yield from chained(
            n - 1
        )


def work(rounds):
    for _ in range(rounds):
        ast.parse("def f(x, *, y=1):\n    return [x + y for _ in range(3)]\n" * 5)
        re.purge()
        re.compile(r"(a|b)*[^c-f]{2,5}(?P<x>\d+)$").match("abab12")
        json.loads(json.dumps({"a": [1, 2, {"b": None}]}, indent=2))
        with around(30) as sizes:
            sorted(sizes, key=lambda one: -one.value)
        list(chained(12))
        Größe(1).tief(60)
        exec(compile("def ü(n):\n  return ü(n - 1) if n else sorted([3, 1], key=lambda x: x)\nü(20)", "<ünicode>", "exec"), {})


def watched(rounds):
    sys.setprofile(profile)
    work(rounds)
    sys.setprofile(None)


watched(20)
threads = [threading.Thread(target=watched, args=(10,)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
json.dump(notes, open(sys.argv[1], "w"))
''' % (EVERY, BLOCK)


def recorded(profile):
    """Allocated bytes by the Python frames below `profile`, innermost first."""
    stacks, locations = profile["stacks"], profile["locations"]
    found = collections.Counter()
    for site in profile["sites"]:
        at, frames = site["stack"], []
        while at:
            parent, location = stacks[at]
            frames.append(locations[location])
            at = parent
        names = [(name["function"], name["file"], name["line"]) for frame in frames if frame["kind"] == "python" for name in frame["names"]]
        if names and names[0][0] == "profile":
            found[tuple(names[1:])] += site["allocated"]["bytes"]
    return found


def check(memduel, python, folder):
    script, notes, profile = folder / "work.py", folder / "notes.json", folder / "p.mdp"
    script.write_text(WORK)
    environment = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
    subprocess.run([memduel, "record", "--exact", "--alone", "-o", profile, "--", python, script, notes], check=True, stderr=subprocess.DEVNULL, env=environment)
    profile_json = pathlib.Path(memduel).parents[1] / "tests/memduel-profile-json"
    exported = subprocess.run([profile_json, profile], check=True, capture_output=True).stdout
    expected = collections.Counter()
    for chain in json.loads(notes.read_text()):
        expected[tuple(tuple(frame) for frame in chain)] += BLOCK
    found = recorded(json.loads(exported))
    # Lists that the profile function appends to grow in its stacks, too.
    wrong = [chain for chain, size in expected.items() if found[chain] < size]
    others = sum(found.values()) / sum(expected.values())
    frames = sum(len(chain) for chain in expected)
    print(f"{python}: {len(expected) - len(wrong)} of {len(expected)} stacks of {frames} frames agree, {others:.2f} times the bytes")
    for chain in wrong[:3]:
        nearest = max(found, key=lambda other: sum(a == b for a, b in zip(reversed(chain), reversed(other))), default=())
        print(f"  expected {expected[chain]} bytes at {chain[:6]}\n  nearest  {found[nearest]} bytes at {nearest[:6]}")
    return not wrong and len(expected) > 100 and others < 1.5


def main():
    memduel = os.path.abspath(sys.argv[1])
    good = True
    for python in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            good &= check(memduel, python, pathlib.Path(folder))
    return 0 if good and len(sys.argv) > 2 else 1


if __name__ == "__main__":
    sys.exit(main())
