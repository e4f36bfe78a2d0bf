#!/usr/bin/env python3
"""Two real revisions each of other people's programs, built in two directories: does the difference of their profiles say what changed?

    tests/revisions/pairs.py [--work DIR] [NAME...]     (network, cmake, make, tclsh; some ten minutes of two cores)

Of each pair, recorded with --exact while both do the same work:
  matched   the chains of demangled functions, inlined calls expanded, that the exported profiles of both revisions have: what share of their bytes
            lies in boxes of the flame graph that both revisions fill, walked frame by frame. At least 99%.
  planted   the newer revision again, in a third directory, with 1 MiB more kept by one function: which boxes differ by more than the same
            build's runs do. That function, its callers, and no other.
The sources come from Debian's pool and are held to the checksums here. Exit 1 when a number misses its bound.
"""

import argparse
import base64
import gzip
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections import Counter, defaultdict

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMDUEL = os.environ.get("MEMDUEL", str(ROOT / "build/release/bin/memduel"))
PROFILE_JSON = os.environ.get("MEMDUEL_PROFILE_JSON", str(ROOT / "build/release/tests/memduel-profile-json"))
POOL = "http://deb.debian.org/debian/pool/main/"
HERE = pathlib.Path(__file__).resolve().parent
MEBI = 1 << 20
AGAIN = 8  # runs of one build, whose largest difference is the noise: a server's buffers depend on when its clients write
# What compilers append to a function that they specialised or split.
CLONE = re.compile(r"( \[clone [^\]]*\]|\.(constprop|isra|part|cold|lto_priv|localalias|llvm)(\.\d+)*)+$")
CMAKE = ["cmake", "-G", "Unix Makefiles", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]


def run(command, folder, **more):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, errors="replace", **more)
    if done.returncode != 0:
        sys.exit(f"pairs: {' '.join(map(str, command))} in {folder} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def profile_of(file):
    return json.loads(subprocess.run([PROFILE_JSON, file], check=True, capture_output=True, text=True).stdout)


def make(folder, *words):
    run(["make", f"-j{os.cpu_count()}", *words], folder)


def plant(file, function):
    """One line at the beginning of the body of a function that is called once."""
    text = file.read_text()
    line = "\n{ static volatile char *memduel_planted; memduel_planted = (volatile char *)__builtin_malloc(1048576); memduel_planted[0] = 1; }\n"
    changed, count = re.subn(function, lambda found: found.group(0) + line, text, count=1)
    if count != 1:
        sys.exit(f"pairs: {file} has no {function}")
    file.write_text(changed)


def build_leveldb(source, planted):
    if planted:
        plant(source / "db/version_set.cc", r"Status VersionSet::Recover\(bool\* save_manifest\) \{")
    run([*CMAKE, "-DLEVELDB_BUILD_TESTS=OFF", "-DLEVELDB_BUILD_BENCHMARKS=OFF", "-B", "build"], source)
    make(source / "build")
    run(["g++", "-O2", "-g", "-I", "include", HERE / "leveldb_user.cpp", "build/libleveldb.a", "-o", "user", "-lpthread"], source)
    return source / "user"


def build_json(source, planted):
    program = source / "user.cpp"
    program.write_text((HERE / "json_user.cpp").read_text())
    if planted:
        plant(program, r"json made_document\(int count\) \{")
    run(["g++", "-std=c++17", "-O2", "-g", "-I", "include", "user.cpp", "-o", "user"], source)
    return source / "user"


def build_fmt(source, planted):
    program = source / "user.cpp"
    program.write_text((HERE / "fmt_user.cpp").read_text())
    if planted:
        plant(program, r"std::vector<std::string> lines\(int count\) \{")
    run([*CMAKE, "-DFMT_TEST=OFF", "-DFMT_DOC=OFF", "-B", "build"], source)
    make(source / "build", "fmt")
    run(["g++", "-std=c++17", "-O2", "-g", "-I", "include", "user.cpp", "build/libfmt.a", "-o", "user"], source)
    return source / "user"


def build_sqlite(source, planted):
    if planted:
        plant(source / "src/func.c", r"void sqlite3RegisterBuiltinFunctions\(void\)\{")
    run(["./configure", "--disable-readline", "--disable-tcl", "CFLAGS=-O2 -g"], source)
    make(source, "sqlite3")
    return next(path for path in (source / ".libs/sqlite3", source / "sqlite3") if path.exists())


def build_redis(source, planted):
    if planted:
        plant(source / "src/server.c", r"void initServer\(void\) \{")
    make(source, "MALLOC=libc", "OPTIMIZATION=-O2", "redis-server", "redis-cli")
    return source / "src/redis-server"


SQL = """
CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT, length INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
  INSERT INTO words SELECT i, printf('word-%d-%d', i * 7919% 40009, i), i % 97 FROM n;
CREATE INDEX by_word ON words(word);
SELECT length, count(*), group_concat(word) FROM words GROUP BY length HAVING length < 5;
"""
CHECKSUMS = {
    "fmtlib_10.1.1+ds1.orig.tar.gz":
        "7000f214d2628f04174822f8048c573f1608194408d7931121595a03f1c18a17",
    "fmtlib_9.1.0+ds1.orig.tar.gz":
        "84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583",
    "leveldb_1.23.orig.tar.gz":
        "9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76",
    "nlohmann-json3_3.11.2.orig.tar.gz":
        "d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273",
    "nlohmann-json3_3.11.3.orig.tar.gz":
        "0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406",
    "redis_6.0.16.orig.tar.gz":
        "8bea58a468bb67bedc92d8c2e44c170e42e6ea02527cbc5d233e92e8d78d1b99",
    "redis_7.0.15.orig.tar.gz":
        "4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982",
    "sqlite3_3.40.1.orig.tar.xz":
        "aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655",
    "sqlite3_3.46.1.orig.tar.xz":
        "d0cdd2ece271b29e7ce18095745d892517ee26d0f270065b3a25c2e9eb11639c",
}
# name: (what builds it, the function that keeps 1 MiB, the older and the newer source in the pool, the command)
PAIRS = {
    "leveldb": (build_leveldb, "leveldb::VersionSet::Recover",
                ["l/leveldb/leveldb_1.23.orig.tar.gz"] * 2, lambda program, folder: [program, f"{folder}/db"]),
    "json": (build_json, "made_document",
             ["n/nlohmann-json3/nlohmann-json3_3.11.2.orig.tar.gz", "n/nlohmann-json3/nlohmann-json3_3.11.3.orig.tar.gz"],
             lambda program, folder: [program]),
    "fmt": (build_fmt, "lines",
            ["f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz", "f/fmtlib/fmtlib_10.1.1+ds1.orig.tar.gz"], lambda program, folder: [program]),
    "sqlite": (build_sqlite, "sqlite3RegisterBuiltinFunctions",
               ["s/sqlite3/sqlite3_3.40.1.orig.tar.xz", "s/sqlite3/sqlite3_3.46.1.orig.tar.xz"],
               lambda program, folder: [program, "-batch", ":memory:", SQL]),
    "redis": (build_redis, "initServer",
              ["r/redis/redis_6.0.16.orig.tar.gz", "r/redis/redis_7.0.15.orig.tar.gz"],
              lambda program, folder: ["sh", HERE / "redis_user.sh", program]),
}


def unpack(path, archives, folder):
    archive = archives / path.rsplit("/", 1)[1]
    if not archive.exists():
        archive.write_bytes(urllib.request.urlopen(POOL + path, timeout=60).read())
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != CHECKSUMS[archive.name]:
        sys.exit(f"pairs: {archive} has SHA-256 {found}, expected {CHECKSUMS[archive.name]}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    run(["tar", "-xf", archive, "-C", folder, "--strip-components=1"], folder)
    return folder


def record(words, program, profile, folder):
    """The profile of the image that is the program; a server's command has others before it."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        run([MEMDUEL, "record", "--exact", "-o", "one.mdp", "--", *words(program, scratch)], scratch)
        for file in sorted(pathlib.Path(scratch).rglob("*.mdp")):  # further images lie in a folder
            if profile_of(file)["info"]["program"] == str(program):
                file.rename(profile)
                return profile
        sys.exit(f"pairs: no profile of {program} among {[file.name for file in pathlib.Path(scratch).iterdir()]}")


def chains(profile, kind):
    text = run([MEMDUEL, "export", profile, "--format", "folded", "--kind", kind], profile.parent)
    found = Counter()
    for line in text.splitlines():
        stack, _, amount = line.rpartition(" ")
        if stack and amount.isdigit():
            found[tuple(CLONE.sub("", frame) for frame in stack.split(";"))] += int(amount)
    return found


class Page:
    """What the flame graph's page draws of two profiles: per box the bytes of both, without those of the boxes that it calls."""

    def __init__(self, before, after, kind):
        page = before.parent / f"{before.stem}-{after.stem}-{kind}.html"
        run([MEMDUEL, "flamegraph", before, "--diff", after, "--kind", kind, "-o", page], before.parent)
        packed = re.search(r'<script type="text/plain" id="memduel-data">([^<]+)</script>', page.read_text())
        self.bytes = gzip.decompress(base64.b64decode(packed.group(1)))
        self.at = 0
        size = self.number()
        head = json.loads(self.bytes[self.at:self.at + size])
        self.at += size
        names = head["frames"]["names"]
        self.parents, self.frames, depths = [None], [None], [0]
        last_of_depth = {0: 0}
        for node in range(1, head["nodes"]):
            depth = depths[-1] + 1 - self.number()
            depths.append(depth)
            self.parents.append(last_of_depth[depth - 1])
            self.frames.append(names[self.number()])
            last_of_depth[depth] = node
        sites = [self.sites(), self.sites()]
        self.own = [[0, 0] for _ in self.parents]
        for number, view in enumerate(head["views"]):
            for side in (0, 1):
                site = -1
                for _ in range(self.number()):
                    site += self.number()
                    amount = self.number()
                    self.number(), self.number()
                    if number == head["first"]:
                        self.own[sites[side][site]][side] += amount
        assert head["views"][head["first"]]["kind"] == kind and self.at == len(self.bytes)
        self.children = defaultdict(list)
        for node in range(1, len(self.parents)):
            self.children[self.parents[node], self.frames[node]].append(node)

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.bytes[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def sites(self):
        node, nodes = 0, []
        for _ in range(self.number()):
            step = self.number()
            node += (step >> 1) ^ -(step & 1)
            nodes.append(node)
            self.number(), self.number(), self.number()  # round, phase, thread
        return nodes

    def boxes_of(self, chain):
        nodes = [0]
        for name in chain:
            nodes = [child for node in nodes for child in self.children.get((node, name), [])]
        return nodes


def matched_share(before, after, kind):
    """Of the bytes of chains that both have: those in boxes that both fill. And of all bytes: those of such chains, those in such boxes."""
    page, sides = Page(before, after, kind), (chains(before, kind), chains(after, kind))
    common = sides[0].keys() & sides[1].keys()
    of_both = sum(side[chain] for side in sides for chain in common)
    matched = sum(side[chain] for side in sides for chain in common
                  if any(page.own[box][0] > 0 and page.own[box][1] > 0 for box in page.boxes_of(chain)))
    drawn = sum(a + b for a, b in page.own)
    return matched / of_both, of_both / sum(sum(side.values()) for side in sides), sum(a + b for a, b in page.own if a > 0 and b > 0) / drawn


def changed_boxes(before, after, kind, noise):
    page = Page(before, after, kind)
    largest = max(abs(b - a) for a, b in page.own)
    return [(page.frames[node], page.own[node][1] - page.own[node][0], ancestors(page, node)) for node in range(1, len(page.own))
            if abs(page.own[node][1] - page.own[node][0]) > noise], largest


def changed_rows(words, before, after, noise, folder):
    """What a duel of the two says in words: the rows of its differences at the peak, and whether the terminal has a MiB more."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        commands = [shlex.join(map(str, words(program, "{trial_dir}"))) for program in (before, after)]
        said = run([MEMDUEL, "compare", "--a", commands[0], "--b", commands[1], "--repeats", 2, "--set", "profile.trials=1",
                    "--out", "duel"], scratch)
        results = json.loads((pathlib.Path(scratch) / "duel/results.json").read_text())
        rows = [row for row in results["differences"] if row["kind"] == "peak" and row["heap"] == "malloc" and abs(row["bytes"]) > noise]
        return rows, "+1.00 MiB" in said


def ancestors(page, node):
    names = []
    while node:
        names.append(page.frames[node])
        node = page.parents[node]
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, help="keeps archives, builds and profiles (default: a folder that is removed)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PAIRS))
    arguments = parser.parse_args()
    if not os.path.exists(PROFILE_JSON):
        sys.exit(f"pairs: {PROFILE_JSON} is missing: build preset release, or set MEMDUEL_PROFILE_JSON")
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        work = (arguments.work or pathlib.Path(made)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        for name in arguments.names or PAIRS:
            build, function, (older, newer), words = PAIRS[name]
            profiles, programs = {}, {}
            for which, source, planted in (("old", older, False), ("new", newer, False), ("planted", newer, True)):
                folder = work / f"{name}-{which}"
                program = programs[which] = build(unpack(source, work, folder), planted)
                profiles[which] = record(words, program, work / f"{name}-{which}.mdp", work)
                if which == "new":
                    again = [record(words, program, work / f"{name}-again-{number}.mdp", work) for number in range(AGAIN)]
            for kind in ("peak", "allocated"):
                share, common, both = matched_share(profiles["old"], profiles["new"], kind)
                noise = max(changed_boxes(profiles["new"], run, kind, 0)[1] for run in again)
                boxes, _ = changed_boxes(profiles["new"], profiles["planted"], kind, noise)
                good = share >= 0.99 and len(boxes) == 1 and boxes[0][1] == MEBI and any(function in frame for frame in boxes[0][2])
                text = ""
                if kind == "peak":
                    rows, told = changed_rows(words, programs["new"], programs["planted"], noise, work)
                    good = good and told and len(rows) == 1 and rows[0]["bytes"] == MEBI and any(function in frame for frame in rows[0]["stack"])
                    text = f", in words: {[(row['stack'][-1], row['bytes']) for row in rows]}"
                failed += not good
                print(f"{name} {kind}: {share:.2%} of the bytes of common chains matched (these are {common:.1%} of all; {both:.1%} of all lies in boxes of both), "
                      f"noise {noise} bytes, planted: {[(frame, bytes) for frame, bytes, _ in boxes]}{text}{'' if good else '  MISSED'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
