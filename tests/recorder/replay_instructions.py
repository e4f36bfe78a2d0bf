#!/usr/bin/env python3
"""Counts the instructions that the replay of an exact trace takes for each event, by callgrind: the difference of two recordings of one program with
100,000 allocations and as many frees between them. A time would depend on the machine.
    replay_instructions.py MEMDUEL PROFILE_JSON PROGRAMS      exit 77: valgrind is not installed"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MEMDUEL, PROFILE_JSON, PROGRAMS = sys.argv[1:]
BLOCKS = (20_000, 120_000)
MOST = 750  # of an event: unpacked, decoded, looked up among the live blocks, added to its site and to the peaks


def instructions_of(blocks, place):
    trace = place / f"{blocks}.mdp"
    subprocess.run([MEMDUEL, "record", "--exact", "-o", trace, "--", f"{PROGRAMS}/many_stacks", "1", "4", str(blocks)], check=True, capture_output=True)
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROFILE_JSON, trace], check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr)[1])


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        few, many = (instructions_of(blocks, pathlib.Path(folder)) for blocks in BLOCKS)
    each = (many - few) / (2 * (BLOCKS[1] - BLOCKS[0]))
    print(f"{each:.0f} instructions an event, at most {MOST}")
    return each > MOST


sys.exit(main())
