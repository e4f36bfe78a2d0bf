#!/usr/bin/env python3
"""Prints a build's compile commands with one entry per source file, also of files that are compiled together.

    scripts/plain_commands.py BUILD_DIR > compile_commands.json

Tools such as clang-tidy look up single files.
"""
import json
import pathlib
import re
import sys


def plain(entry):
    file = pathlib.Path(entry["file"])
    if "/Unity/" not in entry["file"]:
        return [entry]
    sources = re.findall(r'^#include "(.+)"$', file.read_text(), re.MULTILINE)
    return [dict(entry, file=source, command=entry["command"].replace(entry["file"], source)) for source in sources]


commands = json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
json.dump([one for entry in commands for one in plain(entry)], sys.stdout, indent=1)
