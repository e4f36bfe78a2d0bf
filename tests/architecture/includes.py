#!/usr/bin/env python3
"""Every include between rooms, against the table of docs/architecture.md: does the code go the ways that the page draws?

    tests/architecture/includes.py

The table is read as it stands: a room in the first column, what it may use in the last. `folder/part` there allows that part alone. Tests may use
any room; so may bench/ and tests/, which are no rooms. A room uses those above it alone, so that there is no way back. Prints each include that the table
does not have, and what the table allows in vain.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/architecture.md"
TEST = re.compile(r"(_test|_fuzz)\.cpp$|(^|/)test_[^/]*\.h$|_test\.h$|/testing/")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def rooms_of_page():
    """Room -> what it may use, in the order of the page."""
    rows = re.findall(r"^\| `([\w/]+)/` \|.*\|([^|]*)\|$", PAGE.read_text(), re.MULTILINE)
    rooms = {}
    for room, uses in rows:
        uses = re.sub(r"\(.*?\)", "", uses).strip()
        if uses == "everything above":
            allowed = set(rooms)
        elif uses in ("", "nothing", "nothing of ours"):
            allowed = set()
        else:
            allowed = {use.strip() for use in uses.split(",")}
        rooms[room] = allowed
    return rooms


def room_of(path, rooms):
    """The innermost room that holds the file of an include or a source; None outside rooms."""
    if path.startswith("memduel/"):
        path = "include/" + path
    return max((room for room in rooms if path.startswith(room + "/")), key=len, default=None)


def allowed(target, path, uses, rooms):
    """What of `uses` allows an include of `path` in the room `target`: that room, or a part of it."""
    return next((use for use in uses if use == target or (use not in rooms and path.startswith(use + "/"))), None)


def main():
    rooms = rooms_of_page()
    if len(rooms) < 10:
        sys.exit(f"includes: {PAGE} has a table of {len(rooms)} rooms only")
    order = list(rooms)
    upwards = [f"{room} may use {use}, which stands below it" for room, uses in rooms.items() for use in uses if use in rooms and order.index(use) > order.index(room)]
    unknown = [f"{room} may use {use}" for room, uses in rooms.items() for use in uses if room_of(use + "/", rooms) is None]
    used = {room: set() for room in rooms}
    broken = []
    for room in rooms:
        for source in sorted((ROOT / room).rglob("*")):
            name = str(source.relative_to(ROOT))
            if source.suffix not in (".cpp", ".h", ".c") or TEST.search(name) or "node_modules" in name or room_of(name, rooms) != room:
                continue
            for path in INCLUDE.findall(source.read_text(errors="replace")):
                target = room_of(path, rooms)
                if target is None or target == room:
                    continue
                use = allowed(target, path, rooms[room], rooms)
                if use is None:
                    broken.append(f"{name} includes {path}: {room} may not use {target}")
                else:
                    used[room].add(use)
    in_vain = [f"{room} may use {use}, and does not" for room, uses in rooms.items() for use in uses - used[room] if room != "cli"]
    for line in unknown + upwards + broken + in_vain:
        print(f"{PAGE.name}: {line}")
    print(f"{len(rooms)} rooms, {sum(map(len, used.values()))} ways between them, {len(unknown + upwards + broken + in_vain)} differences")
    return 1 if unknown + upwards + broken + in_vain else 0


sys.exit(main())
