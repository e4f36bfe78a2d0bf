#!/usr/bin/env python3
"""One program under every tracer: how far each is from the recorder's peak, live and allocated bytes.

    research/peers/tracers.py --build build/release -- sqlite3 :memory: 'CREATE TABLE t AS ...'

Each tracer records every allocation of a run of its own. The process image that allocated most counts. Prints a Markdown
table; docs/agreement.md explains the differences.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACERS = {"recorder": ["--exact"], "heaptrack": [], "gperftools": [], "jemalloc": ["--exact"]}
ENDINGS = {"recorder": ".mdp", "heaptrack": ".heaptrack.zst", "gperftools": ".gperftools.heap", "jemalloc": ".jemalloc.heap"}
KINDS = ("peak", "live", "allocated")


def total(memduel, profile, kind):
    """Bytes of all stacks of a kind; None if the profile has none: the tracer does not record the kind, or there were no bytes."""
    exported = subprocess.run([memduel, "export", profile, "--format", "folded", "--kind", kind], capture_output=True, text=True, errors="replace")
    if exported.returncode != 0:
        return None
    return sum(int(line.rsplit(" ", 1)[1]) for line in exported.stdout.splitlines())


def amounts(memduel, tracer, options, command):
    with tempfile.TemporaryDirectory(prefix="memduel-tracers-") as folder:
        ended = subprocess.run([memduel, "record", "--profiler", tracer, *options, "--", *command], cwd=folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
        if ended.returncode != 0:
            sys.exit(f"tracers: {tracer} ended with {ended.returncode}:\n{ended.stderr}")
        images = [file for file in pathlib.Path(folder).rglob("*") if file.name.endswith(ENDINGS[tracer]) and ".round" not in file.name]
        found = [{kind: total(memduel, image, kind) for kind in KINDS} for image in images]
    if not found:
        sys.exit(f"tracers: {tracer} left no profile:\n{ended.stderr}")
    return max(found, key=lambda image: image["allocated"] or 0)


def cell(value, reference):
    if value is None:
        return "–"
    if not reference or value == reference:
        return f"{value:,}"
    return f"{value:,} ({value - reference:+,}, {100 * (value / reference - 1):+.2f}%)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="a build directory")
    parser.add_argument("command", nargs="+", help="the program and its arguments")
    arguments = parser.parse_args()
    memduel = arguments.build.resolve() / "bin/memduel"
    reference = None
    print("| tracer | peak bytes | live bytes at the end | allocated bytes |\n| --- | --- | --- | --- |")
    for tracer, options in TRACERS.items():
        found = amounts(memduel, tracer, options, arguments.command)
        reference = reference or found
        print(f"| {tracer} | " + " | ".join(cell(found[kind], reference[kind]) for kind in KINDS) + " |")


if __name__ == "__main__":
    main()
