#!/usr/bin/env python3
"""Source lines of the causes of a change, as `memduel compare` finds them in programs that are built with -g and in scripts.

    tests/recorder/locations.py MEMDUEL PROFILE_JSON

Expected lines are those of comments in the sources below, `// RESERVES`, and those that addr2line has of the addresses in a profile.
PROFILE_JSON is memduel-profile-json. Exit status: 1 when a location is another one; 77 without a C++ compiler or binutils.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STATE_H = """#pragma once
#include <cstddef>
#include <string>
#include <vector>
struct State {
  std::vector<char> bytes;
  std::vector<std::string> names;
  static State copy_of(const State& other);
};
"""
STATE_CPP = """#include "state.h"
State State::copy_of(const State& other) {
  State copy;
  copy.bytes = other.bytes;  // COPIES
  copy.names.reserve(%d);  // RESERVES
  return copy;
}
"""
MAIN_CPP = """#include "state.h"
#include <cstdio>
int main() {
  State state;
  state.bytes.resize(20 << 20, 1);
  const State copy = State::copy_of(state);
  std::printf("%zu\\n", copy.bytes.size());
}
"""
ROWS_PY = """import sys


def read_rows(count):
    return [str(i) * 20 for i in range(count)]  # ROWS


def pack(count):
    small = bytearray(3_000_000)
    large = bytearray(count)  # LARGE
    return small, large


def main():
    kept = read_rows(20_000), pack(int(sys.argv[1]))
    print(len(kept))


main()
"""


def line_of(file, marker):
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if line.endswith(marker))


def build(directory, names, shift=0, flags=("-O2", "-g")):
    """In a directory of its own; `shift` lines of comment move everything."""
    (directory / "src").mkdir(parents=True)
    head, *tail = STATE_CPP.splitlines(keepends=True)
    (directory / "src/state.h").write_text(STATE_H)
    (directory / "src/state.cpp").write_text(head + "// moved\n" * shift + "".join(tail) % names)
    (directory / "src/main.cpp").write_text(MAIN_CPP)
    subprocess.run([os.environ.get("CXX", "c++"), *flags, "-o", directory / "program", directory / "src/main.cpp", directory / "src/state.cpp"],
                   check=True)
    return directory / "program"


def compared(memduel, place, name, a, b):
    out = place / name
    run = subprocess.run([memduel, "compare", "--repeats", "5", "--warmup", "0", "--out", out, "--set", "profile.trials=1", "--a", a, "--b", b],
                         cwd=place, capture_output=True, text=True)
    if not (out / "results.json").exists():
        sys.exit(f"{name}: {run.stdout}{run.stderr}")
    return out


def largest(out, kind="peak", heap="malloc"):
    rows = [row for row in json.loads((out / "results.json").read_text())["differences"] if row["kind"] == kind and row["heap"] == heap]
    return max(rows, key=lambda row: abs(row["bytes"]))


def lines_by_addr2line(program, address):
    """Of an address, innermost inlined function first."""
    out = subprocess.run(["addr2line", "-i", "-e", program, f"{address:#x}"], capture_output=True, text=True, check=True).stdout
    found = [re.match(r"(.*):(\d+)", line).groups() for line in out.splitlines() if not line.startswith("?")]
    return [(os.path.normpath(file), int(line)) for file, line in found]


def frames_unlike_addr2line(memduel, profile_json, place, program):
    """Places of the program in a profile whose lines addr2line has otherwise, and how many there are."""
    profile = place / "addr2line.mdp"
    subprocess.run([memduel, "record", "--exact", "-o", profile, "--", program], check=True, capture_output=True)
    recorded = json.loads(subprocess.run([profile_json, profile], check=True, capture_output=True, text=True).stdout)
    own = [at for at in recorded["locations"] if at["kind"] == "native" and "module" in at
           and recorded["modules"][at["module"]]["path"] == str(program) and at["names"] and at["names"][-1]["line"] > 0]
    unlike = []
    for at in own:
        ours = [(os.path.normpath(name["file"]), name["line"]) for name in at["names"]]
        theirs = lines_by_addr2line(program, at["address"])
        if ours != theirs:
            unlike.append((ours, theirs))
    return unlike, len(own)


def main():
    memduel, profile_json = (str(pathlib.Path(program).resolve()) for program in sys.argv[1:3])
    if not all(shutil.which(program) for program in (os.environ.get("CXX", "c++"), "addr2line", "objcopy", "strip")):
        sys.exit(77)
    wrong = []

    def expect(what, found, wanted):
        print(f"{what}: {found}")
        if found != wanted:
            wrong.append(f"{what}: {found!r}, expected {wanted!r}")

    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        few, many = build(place / "few", 100_000), build(place / "many", 400_000, shift=7)
        unlike, asked = frames_unlike_addr2line(memduel, profile_json, place, many)
        expect(f"places unlike addr2line's, of {asked}", unlike, [])
        expect("places that addr2line was asked of", asked > 3, True)
        reserves = line_of(place / "many/src/state.cpp", "// RESERVES")
        out = compared(memduel, place, "more", few, many)
        row = largest(out)
        expect("more", row.get("location"), f"many/src/state.cpp:{reserves}")
        if abs(row["bytes"] - 300_000 * 32) > 1024 or not any(name.startswith("State::copy_of") for name in row["stack"]):
            wrong.append(f"two builds in different directories do not match: {row}")
        shown = [cause for shown in json.loads((out / "results.json").read_text())["first_screen"]["rows"] for cause in shown["causes"]]
        expect("cause", (shown[0]["location"], shown[0]["name"].split(" (")[0]), (row["location"], "State::copy_of, called from main"))
        expect("share", 0.9 < shown[0]["share"] <= 1, True)
        out = compared(memduel, place, "less", many, few)
        expect("less", largest(out).get("location"), f"many/src/state.cpp:{reserves}")

        closed = subprocess.run([memduel, "report", out, "--confidential", "--format", "json"], capture_output=True, text=True, check=True).stdout
        expect("directories in a confidential report", re.findall(r'"location": ?"[^"]*/[^"]*"', closed), [])
        expect("file in a confidential report", f"state.cpp:{reserves}" in closed, True)

        stripped = [build(place / f"stripped{names}", names, flags=("-O2", "-s")) for names in (100_000, 400_000)]
        expect("stripped", largest(compared(memduel, place, "stripped", *stripped)).get("location"), None)
        no_lines = [build(place / f"names{names}", names, flags=("-O2",)) for names in (100_000, 400_000)]
        expect("without -g", largest(compared(memduel, place, "names", *no_lines)).get("location"), None)
        separate = build(place / "separate", 400_000)
        subprocess.run(["objcopy", "--only-keep-debug", separate, f"{separate}.debug"], check=True)
        subprocess.run(["strip", "--strip-all", separate], check=True)
        subprocess.run(["objcopy", f"--add-gnu-debuglink={separate}.debug", separate], check=True, cwd=separate.parent)
        expect("separate debug file", largest(compared(memduel, place, "separate-out", few, separate)).get("location"),
               f"separate/src/state.cpp:{line_of(place / 'separate/src/state.cpp', '// RESERVES')}")

        (place / "jobs").mkdir()
        script = place / "jobs/rows.py"
        script.write_text(ROWS_PY)
        out = compared(memduel, place, "python", f"{sys.executable} jobs/rows.py 4000000", f"{sys.executable} jobs/rows.py 9000000")
        row = largest(out, heap="heap_and_mapped")
        expect("python", row.get("location"), f"jobs/rows.py:{line_of(script, '# LARGE')}")
    if wrong:
        sys.exit("\n".join(wrong))


main()
