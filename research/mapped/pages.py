#!/usr/bin/env python3
"""What memduel counts as heap and mapped memory, beside the private anonymous pages that the kernel has in smaps, of the same processes.

    pages.py MEMDUEL [DIR] [--trials N] [--only PROGRAM...]

memduel measures each command against itself. Beside that, this script reads smaps of the command's processes without a pause and keeps what it was
at its largest. Where both differ, the difference is split into parts that are known: pages of a program's and its libraries' data, stacks, pages
that malloc keeps beside its live blocks, and the recorder's own. The rest is printed. Prints the second table of results.md.
"""
import dataclasses
import functools
import json
import pathlib
import re
import shutil
import sqlite3
import statistics
import struct
import subprocess
import time

import programs
from mapped import descendants

MIB = 1 << 20
SNAPSHOTS = 5  # collectors leave more or less of malloc's pages from run to run
MORE_PROGRAMS = {
    "sqlite3": ["sqlite3", ":memory:", "CREATE TABLE t(a, b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) "
                "INSERT INTO t SELECT i, 'row ' || i FROM n; SELECT sum(b LIKE '%9%9%') + sum(b LIKE '%8%8%') + sum(b LIKE '%7%7%') FROM t;"],
    "gcc -O2": ["g++", "-std=c++17", "-O2", "-c", "-o", "/dev/null", "{dir}/unit.cpp"],
    "jq": ["jq", "length", "{dir}/rows.json"],
    "perl": ["perl", "-e", "my %kept; $kept{$_} = \"x$_\" for 1 .. 300000; print scalar(keys %kept), \"\\n\""],
    "xz -9": ["xz", "-9", "--keep", "--stdout", "{dir}/rows.json"],
    "sort": ["sort", "--parallel=2", "-S", "100M", "-o", "/dev/null", "{dir}/rows.json"],
    "numpy": ["/usr/bin/python3", "-c", "import numpy as n; a = n.random.rand(2000, 2000); print((a @ a).sum() > 0)"],
}
HOLD = "200"  # milliseconds for which the seven programs wait with all their objects, so that no peak is too short to be seen
UNIT = """#include <map>
#include <regex>
#include <string>
#include <vector>
std::map<std::string, std::vector<std::regex>> kept;
int main(int count, char** words) {
  for (int i = 0; i < count; ++i) kept[words[i]].emplace_back(words[i]);
}
"""


class Pages:
    """Private anonymous pages of some processes at one moment, by what they are, in bytes."""

    def __init__(self, processes):
        self.sizes = {"data of files": 0, "stacks": 0, "other": 0}
        for text, stack_pointers in processes:
            self._add(text, stack_pointers)

    def total(self):
        return sum(self.sizes.values())

    def _add(self, text, stack_pointers):
        before = None
        for one in mappings(text):
            size = one.fields["Anonymous"] if one.inode else one.fields["Private_Dirty"] + one.fields["Private_Clean"]
            data = size if one.inode else 0
            if not one.inode and before and before.inode and before.end == one.begin:
                data = min(size, zeroed_bytes(before.name))
            is_stack = one.name == "[stack]" or (before and before.is_guard_of(one) and any(one.begin <= pointer < one.end for pointer in stack_pointers))
            self.sizes["data of files"] += data
            self.sizes["stacks" if is_stack else "other"] += size - data
            before = one


@dataclasses.dataclass
class Mapping:
    begin: int
    end: int
    access: str
    inode: int
    name: str
    fields: dict  # of smaps, in bytes

    def is_guard_of(self, other):
        return self.access == "---p" and self.end == other.begin


def mappings(text):
    """The mappings in smaps."""
    for part in re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", text)[1:]:
        head, _, rest = part.partition("\n")
        words = head.split(maxsplit=5)
        begin, end = (int(word, 16) for word in words[0].split("-"))
        fields = {name: int(size) * 1024 for name, size in re.findall(r"(?m)^(\w+): +(\d+) kB", rest)}
        yield Mapping(begin, end, words[1], int(words[4]), words[5] if len(words) > 5 else "", fields)


@functools.cache
def zeroed_bytes(path):
    """Whole pages that a 64-bit ELF file has after its last segment: variables that begin as zeros (.bss). The kernel maps them beside the file."""
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError:  # a file of the trial, which is gone
        return 0
    if content[:5] != b"\x7fELF\x02":
        return 0
    place, = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    found = 0
    for i in range(count):
        kind, _, _, address, _, in_file, in_memory, _ = struct.unpack_from("<IIQQQQQQ", content, place + i * size)
        if kind == 1:  # PT_LOAD
            found = max(found, (address + in_memory + 4095) // 4096 - (address + in_file + 4095) // 4096)
    return found * 4096


def private_bytes(text):
    """The same sum as Pages.total, but of a text that may be thrown away: much faster."""
    return sum(map(int, re.findall(r"(?m)^Anonymous: +(\d+) kB", text))) * 1024


class Watch:
    """Reads smaps of what memduel starts, until memduel ends."""

    def __init__(self, memduel):
        self.memduel = memduel
        self.largest = []  # (time in ns, bytes, the smaps and stack pointers of each process), each larger than the one before or much later
        self.pointers = {}

    def until_end_of(self, process):
        while process.poll() is None:
            texts = {pid: text for pid in descendants(process.pid)[1:] if (text := self._smaps(pid))}
            size = sum(map(private_bytes, texts.values()))
            last = self.largest[-1] if self.largest else None
            if size and (last is None or set(texts) != set(last[2]) or size > last[1]):
                self.largest.append((time.monotonic_ns(), size, {pid: (text, self._stack_pointers(pid)) for pid, text in texts.items()}))

    def peak_between(self, begin, end):
        """Pages at the largest moment of a trial; None without any."""
        within = [one for one in self.largest if begin <= one[0] <= end]
        return Pages(max(within, key=lambda one: one[1])[2].values()) if within else None

    def _smaps(self, pid):
        try:
            link = pathlib.Path(f"/proc/{pid}/exe").readlink()
            return "" if link.name.startswith("memduel") else pathlib.Path(f"/proc/{pid}/smaps").read_text()
        except OSError:  # it ended
            return ""

    def _stack_pointers(self, pid):
        """Where the threads are: of one that runs just now, where it was before."""
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
            try:
                words = (task / "syscall").read_text().split()
            except OSError:
                continue
            if len(words) > 2:
                self.pointers[pid, task.name] = int(words[-2], 16)
        return [pointer for (one, _), pointer in self.pointers.items() if one == pid]


def prepare(directory):
    (directory / "unit.cpp").write_text(UNIT)
    rows = [{"number": i, "name": f"row {i}", "values": [i / 7, i * 31 % 97]} for i in range(150_000)]
    (directory / "rows.json").write_text(json.dumps(rows, indent=0))


def commands(directory, only):
    yield from ((one.name, [*one.command, str(one.count), HOLD]) for one in programs.installed(directory, only))
    for name, words in MORE_PROGRAMS.items():
        if not only or name in only:
            if shutil.which(words[0]):
                yield name, [word.format(dir=directory) if "{dir}" in word else word for word in words]
            else:
                print(f"{name} is not installed and left out", flush=True)


def quoted(words):
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def measured(memduel, out, words, trials):
    """For each trial: metrics of the whole job, and Pages."""
    shutil.rmtree(out, ignore_errors=True)
    process = subprocess.Popen([memduel, "compare", "--a", quoted(words), "--b", quoted(words), "--calibrate", "--out", out, "--repeats",
                                str(trials // 2), "--set", "profile.trials=0", "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    watch = Watch(memduel)
    watch.until_end_of(process)
    if not (out / "run.sqlite").exists():
        raise SystemExit(process.stderr.read())
    base = sqlite3.connect(out / "run.sqlite")
    for trial, begin, end in base.execute("SELECT id, begin_ns, end_ns FROM trial WHERE kind = 'measure' AND status = 'ok'").fetchall():
        metrics = dict(base.execute("SELECT metric, value FROM role_metric JOIN role ON role.id = role_metric.role WHERE role.role = 'all' AND trial = ?", (trial,)))
        pages = watch.peak_between(begin, end)
        if pages:
            yield metrics, pages


@dataclasses.dataclass
class Snapshot:
    """Of a run of its own near its peak, in bytes: live blocks that nobody touched, mappings below 2 MiB that nobody touched, and what malloc keeps."""
    blocks: float = 0
    mappings: float = 0
    kept: float = 0


def snapshot(memduel, out, words):
    """As `memduel record` and `summary` have it; zeros of a program that the recorder cannot enter."""
    for left in out.parent.glob(out.stem + ".*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    subprocess.run([memduel, "record", "--snapshot-at", "rss=97%", "-o", out, "--", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    found = Snapshot()
    if not out.exists():
        return found
    summary = subprocess.run([memduel, "summary", out, "--stacks", "1000000", "--frames", "1000000", "--all-frames"],
                             capture_output=True, text=True, check=True).stdout
    # Of larger mappings memduel counts what is touched.
    large = {frames for size, frames in entries(summary, "Top stacks: mappings, peak") if in_bytes(size) / blocks_in(size) >= 2 * MIB}
    for size, frames in entries(summary, "Allocated but never touched"):
        if "live" in frames:
            found.blocks += in_bytes(size)
        elif in_bytes(size) < 2 * MIB and tuple(frame for frame in frames if frame != "mapped") not in large:
            found.mappings += in_bytes(size)
    found.kept = sum(in_bytes(size) for size in re.findall(r"(?m)^  (?:fragmentation|free) +(\S+ \w+) ", summary))
    return found


def entries(summary, title):
    """Size and frames of each stack in a section of `memduel summary`."""
    for entry in re.split(r"(?m)^ +\d+\. ", summary.partition("\n" + title)[2].partition("\n\n")[0])[1:]:
        size, *frames = entry.splitlines()
        yield size, tuple(frame.strip() for frame in frames)


def blocks_in(size):
    """2 in "14.0 MiB (57.9%) in 2 allocations"."""
    return int(re.search(r" in (\d+) allocation", size)[1])


def in_bytes(words):
    number, unit = words.split()[:2]
    return float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]


def middle(values):
    return statistics.median(values) / MIB


def main():
    options = programs.parser(__doc__)
    options.add_argument("--trials", type=int, default=6)
    asked = programs.asked_of(options, "pages")
    memduel, directory = asked.memduel, asked.directory
    directory.mkdir(parents=True, exist_ok=True)
    prepare(directory)
    print("| program | anonymous pages, smaps | heap and mapped | more in smaps | data of files | stacks | malloc keeps | live blocks never touched | "
          "small mappings never touched | rest | allowed: 1% + 1 MiB |")
    print("| --- |" + " --- |" * 10)
    for name, words in commands(directory, asked.only):
        trials = list(measured(memduel, directory / "pages", words, asked.trials))
        snapshots = [snapshot(memduel, directory / "pages.mdp", words) for _ in range(SNAPSHOTS)]
        kernel = middle(pages.total() for _, pages in trials)
        counted = middle(metrics["peak_heap_and_mapped_bytes"] for metrics, _ in trials)
        difference = middle(pages.total() - metrics["peak_heap_and_mapped_bytes"] for metrics, pages in trials)
        # A process that the recorder cannot enter is counted by the same pages.
        is_entered = any("peak_heap_bytes" in metrics for metrics, _ in trials)
        parts = [middle(pages.sizes[kind] if is_entered else 0 for _, pages in trials) for kind in ("data of files", "stacks")]
        parts += [middle(one.kept for one in snapshots), -middle(one.blocks for one in snapshots), -middle(one.mappings for one in snapshots)]
        rest, allowed = difference - sum(parts), kernel * 0.01 + 1
        cells = (kernel, counted, difference, *parts, rest, allowed)
        print(f"| {name} | {' | '.join(f'{cell:.1f}' for cell in cells)}{'' if abs(rest) <= allowed else ' (missed)'} |", flush=True)


if __name__ == "__main__":
    main()
