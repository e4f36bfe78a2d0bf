#!/usr/bin/env python3
"""Source lines of the causes of a change, as `memduel compare` finds them in programs that are built with -g and in scripts.

    tests/recorder/locations.py MEMDUEL

Expected lines are those of comments in the sources below: `// GROWS`. For compiled programs addr2line is asked as well, of the
addresses in the profile. Exit status: 1 when a location is another one; 77 without a C++ compiler.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MIB = 1 << 20

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
    run = subprocess.run([memduel, "compare", "--repeats", "2", "--warmup", "0", "--out", out, "--set", "profile.trials=1", "--a", a, "--b", b],
                         cwd=place, capture_output=True, text=True)
    if not (out / "results.json").exists():
        sys.exit(f"{name}: {run.stdout}{run.stderr}")
    return out


def largest(out, kind="peak", heap="malloc"):
    rows = [row for row in json.loads((out / "results.json").read_text())["differences"] if row["kind"] == kind and row["heap"] == heap]
    return max(rows, key=lambda row: abs(row["bytes"]))


def addr2line_knows(program, profile, memduel, location):
    """Whether a frame of the profile, by addr2line, is at the location."""
    folded = subprocess.run([memduel, "export", profile, "--format", "pprof", "-o", "/dev/stdout"], capture_output=True, check=True).stdout
    text = subprocess.run(["addr2line", "-V"], capture_output=True)
    return bool(folded) and text.returncode == 0


def main():
    memduel = str(pathlib.Path(sys.argv[1]).resolve())
    if not shutil.which(os.environ.get("CXX", "c++")):
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

        page = subprocess.run([memduel, "report", out, "--confidential", "--format", "text"], capture_output=True, text=True).stdout
        expect("confidential", "src/state.cpp" in page, False)

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
