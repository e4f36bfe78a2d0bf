#!/usr/bin/env python3
"""Runs clang-tidy-19 over every module, but for files that include LibTorch.

    scripts/check-tidy.py BUILD_DIR               the checks of .clang-tidy
    scripts/check-tidy.py BUILD_DIR FILE...       of these files alone
    scripts/check-tidy.py BUILD_DIR --analyze     clang's static analyzer

Files that are compiled as one are checked as one, which takes a fourth of the time: their headers are read once. Files named on the command line,
and what is compiled into tests alone, are checked by themselves; tests are not. What passed is checked again when it or any header of these modules changed; it is remembered for
every checkout, as compiled files are by ccache, in ~/.cache/memduel/tidy.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ("util", "model", "memory", "profilers", "bench", "reports", "cli", "workloads/budget", "workloads/cbramod", "workloads/data", "workloads/kdgat", "workloads/provider")
TEST = re.compile(r"/\w+_(test|fuzz)\.dir/")  # in a compile command: the target's folder


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name]


def members(entry):
    """The sources of one compile command: those that a unity file includes, or the one it names."""
    file = pathlib.Path(entry["file"])
    return [pathlib.Path(one) for one in re.findall(r'^#include "(.+)"$', file.read_text(), re.MULTILINE)] if "/Unity/" in entry["file"] else [file]


def unused_names(file):
    """Names that a using declaration brings and nothing else in the file says: misc-unused-using-decls looks at no file that another includes."""
    text = re.sub(r"^#.*|//.*", "", file.read_text(), flags=re.MULTILINE)
    return [name for name in re.findall(r"^\s*using (?:\w+::)+(\w+);", text, re.MULTILINE) if len(re.findall(rf"\b{name}\b", text)) == 1]


def digest(files):
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD_DIR")
    parser.add_argument("files", type=pathlib.Path, nargs="*", metavar="FILE")
    parser.add_argument("--analyze", action="store_true")
    arguments = parser.parse_args()

    kind = "tidy-analyze" if arguments.analyze else "tidy"
    database = arguments.build.resolve() / kind
    database.mkdir(exist_ok=True)
    stamps = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "memduel" / kind
    stamps.mkdir(parents=True, exist_ok=True)
    # GCC's parameters, which clang does not know.
    commands = [
        dict(entry, command=re.sub(r" --param \S+", "", entry["command"]))
        for entry in json.loads((arguments.build / "compile_commands.json").read_text())
        if "/torch/csrc" not in entry["command"]
    ]
    singles = [dict(entry, file=str(one), command=entry["command"].replace(entry["file"], str(one))) for entry in commands for one in members(entry)]
    (database / "compile_commands.json").write_text(json.dumps(commands + singles, indent=1))

    named = {file.resolve() for file in arguments.files}
    in_modules = set(tracked(*(module + "/*.cpp" for module in MODULES)))
    units = {}
    if not named:
        of_programs = [(entry["file"], members(entry)) for entry in commands if not TEST.search(entry["command"])]
        units = {unit: files for unit, files in of_programs if in_modules.intersection(files)}
    left = named or {file for file in in_modules.difference(*units.values()) if not re.search(r"_(test|fuzz)\.cpp$", file.name)}
    units |= {str(file): [file] for entry in commands for file in left.intersection(members(entry))}
    if not units:
        sys.exit(f"check-tidy: {arguments.build} compiles none of these files")

    headers = digest([*tracked("*.h"), ROOT / ".clang-tidy"]).digest()
    checks = ["--checks=clang-analyzer-*"] if arguments.analyze else []

    def passes(unit):
        stamp = stamps / hashlib.sha256(digest(units[unit]).digest() + headers + os.path.relpath(unit, ROOT).encode()).hexdigest()[:32]
        if stamp.exists():
            return True
        run = subprocess.run(["clang-tidy-19", "-p", database, "--quiet", *checks, unit], capture_output=True, text=True, cwd=ROOT)
        unused = "".join(f"{file}: unused using declaration of {name}\n" for file in units[unit] for name in unused_names(file))
        if run.returncode == 0 and not unused:
            stamp.touch()
            return True
        print(f"{run.stdout}{unused}clang-tidy: {' '.join(os.path.relpath(one, ROOT) for one in units[unit])}", flush=True)
        return False

    largest_first = sorted(units, key=lambda unit: -sum(one.stat().st_size for one in units[unit]))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return 0 if all(list(pool.map(passes, largest_first))) else 1


if __name__ == "__main__":
    sys.exit(main())
