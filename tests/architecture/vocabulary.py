#!/usr/bin/env python3
"""Does the tool know the laboratory's roles or kinds of workload by name?

    tests/architecture/vocabulary.py

Reads the string literals of the tool's rooms, without tests and what is written to be read as an example. Prints each that is the name of a replay's role or
kind.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("base", "analysis", "experiment", "profilers", "reports", "cli", "templates/src")
TEST = re.compile(r"(_test|_fuzz)\.(cpp|ts|mjs)$|\.test\.|(^|/)test_[^/]*\.h$|/testing/|/testdata/|/node_modules/")
LITERAL = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]{2,}'|`[^`]*`")
NAME = re.compile(r"(server|client|simulator|trainer|federated|state-dict|simulation|graph|eeg|(server|client)([-_.]|_max|_median).*)")
COMMENT = re.compile(r"(?<!:)//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r"^\s*#\s*include.*$|^import .*$", re.MULTILINE)
# An example in a help text, where a gate or a command is shown whole.
EXAMPLE = re.compile(r"memduel \w|ROLE\.METRIC")

def names_in(text):
    """(line, name) of every literal that is one."""
    for literal in LITERAL.finditer(text):
        inside = literal.group()[1:-1]
        if NAME.fullmatch(inside) and not EXAMPLE.search(inside):
            yield text.count("\n", 0, literal.start()) + 1, inside


def main():
    found = 0
    read = 0
    for room in ROOMS:
        for source in sorted((ROOT / room).rglob("*")):
            name = str(source.relative_to(ROOT))
            if source.suffix not in (".cpp", ".h", ".ts") or TEST.search(name):
                continue
            read += 1
            blank = lambda match: re.sub(r"[^\n]", " ", match.group())
            text = INCLUDE.sub(blank, COMMENT.sub(blank, source.read_text()))
            for line, inside in names_in(text):
                found += 1
                print(f'{name}:{line}: "{inside}" is a name of the laboratory')
    print(f"{read} files, {found} names of the laboratory")
    return 1 if found or read < 100 else 0


sys.exit(main())
