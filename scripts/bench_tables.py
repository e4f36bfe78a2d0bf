#!/usr/bin/env python3
"""Puts Google Benchmark's numbers into the marked tables of the docs.

    scripts/bench_tables.py --how COMMAND FILE.json...    writes each table anew
    scripts/bench_tables.py --check                       fails where a table of numbers does not say how it was made

A table stands between `<!-- bench PATTERN -->` and `<!-- end bench -->`: PATTERN says which benchmarks are in it. With the numbers three lines are written into
the comment, by which command, at which commit and on which machine they came to be. Every other table of numbers stands below a heading, or one above that,
whose text names a command, a config or a test that gives them.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MARK = re.compile(r"<!-- bench (\S+)(?:\n  by ([^\n]*)\n  at ([^\n]*)\n  on ([^\n]*?))? -->\n(.*?)<!-- end bench -->\n", re.DOTALL)
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def seconds(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def size(value):
    for unit, bytes_ in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= bytes_:
            return f"{value / bytes_:.3g} {unit}"
    return f"{value:.0f} B"


def measured(files):
    """Name -> (seconds, peak bytes or None, allocations or None); of repetitions the median."""
    rows = {}
    for file in files:
        for one in json.loads(pathlib.Path(file).read_text())["benchmarks"]:
            if one.get("error_occurred"):
                sys.exit(f"bench: {one['name']}: {one['error_message']}")
            if one["run_type"] == "aggregate" and one.get("aggregate_name") != "median":
                continue
            known = rows.get(one["run_name"], (None, None, None))
            rows[one["run_name"]] = (one["real_time"] * UNITS[one["time_unit"]], one.get("max_bytes_used", known[1]), one.get("allocs_per_iter", known[2]))
    return rows


def table(rows):
    lines = ["| benchmark | time | peak | allocations |", "| --- | ---: | ---: | ---: |"]
    for name, (time, peak, allocations) in rows.items():
        lines.append(f"| `{name}` | {seconds(time)} | {'' if peak is None else size(peak)} | {'' if allocations is None else f'{allocations:.0f}'} |")
    return "\n".join(lines) + "\n"


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{cpu[1] if cpu else 'unknown processor'}, Linux {pathlib.Path('/proc/sys/kernel/osrelease').read_text().strip()}"


# A program, a config, a script or a test, as a page names it.
SOURCE = re.compile(r"`[^`\n]*(memduel[ -]|scripts/|research/|configs/|examples/|\.json|\.py|_test|ctest|build/|--measured)[^`\n]*`|^    (memduel|scripts/|research/|build/|python3)", re.M)
NUMBER = re.compile(r"^[*`+−~≤<\-\s]*\d[\d,.]*\s*(%|[KMG]i?B|B|ms|s|µs|ns|min|×)?\b")


def is_of_numbers(rows):
    cells = [cell for row in rows for cell in row.strip("|").split("|")[1:]]
    return sum(bool(NUMBER.match(cell)) for cell in cells) >= max(4, len(cells) / 3)


def tables_without_source(text):
    """The headings of tables of numbers that nobody can make again."""
    above = []  # (level, heading, what stands below it before the next heading)
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        heading = re.match(r"(#+) (.*)", lines[at])
        if heading:
            above = [one for one in above if one[0] < len(heading[1])] + [[len(heading[1]), heading[2], ""]]
        elif lines[at].startswith("|") and at + 2 < len(lines) and re.match(r"\|[\s:|-]+\|$", lines[at + 1]):
            end = at
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            below = "\n".join(lines[end:end + 4])
            if is_of_numbers(lines[at + 2:end]) and not any(SOURCE.search(one[2]) for one in above) and not SOURCE.search("\n".join(lines[at:end]) + below):
                yield above[-1][1]
            above[-1][2] += "\n".join(lines[at:end]) + "\n"
            at = end - 1
        elif above:
            above[-1][2] += lines[at] + "\n"
        at += 1


def check():
    bad = 0
    for page in PAGES:
        for heading in tables_without_source(page.read_text()):
            print(f"{page.relative_to(ROOT)}: a table of numbers below \"{heading}\": no command, config or test is named that gives them")
            bad += 1
        for match in MARK.finditer(page.read_text()):
            if not all(match[i] for i in (2, 3, 4)):
                print(f"{page.relative_to(ROOT)}: the table of {match[1]} says no command, commit and machine")
                bad += 1
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--how")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        return check()
    if not options.how or not options.files:
        parser.error("expected --how COMMAND and the files")
    rows = measured(options.files)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    for page in PAGES:
        def fresh(match):
            chosen = {name: row for name, row in rows.items() if re.match(match[1], name)}
            if not chosen:
                sys.exit(f"bench: {page.name}: no benchmark is called like {match[1]}")
            return f"<!-- bench {match[1]}\n  by {options.how}\n  at {commit}\n  on {machine()} -->\n{table(chosen)}<!-- end bench -->\n"
        text = page.read_text()
        written = MARK.sub(fresh, text)
        if written != text:
            page.write_text(written)
            print(f"bench: {page.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
