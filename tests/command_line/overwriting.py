#!/usr/bin/env python3
"""Draws command lines that report, check, export and compare, and looks at every file of every run after each: none is changed, replaced or removed,
whatever an output is called. The same seed draws the same lines.
    overwriting.py MEMDUEL [--calls N] [--seed S]"""
import argparse
import hashlib
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

FORMATS = ["text", "markdown", "json", "csv", "junit", "github", "bencher", "benchmark-action", "benchstat"]
GATES = ["all.peak_rss_bytes<=+2%", "all.peak_rss_bytes<=1KiB", "*.peak_rss_bytes<=900MiB", "all.peak_rss_bytes<=+1%:advisory", "all.nothing<=1", "x"]
# Names that a run has or is going to have.
OF_RUNS = ["run.sqlite", "run.sqlite-wal", "config.json", "results.json", "report.html", "run.lock", "calibration.json", "suite.json", "index.html",
           "logs/1-command.stdout", "profiles/new.mdp", "trials/x", "models/m", "files/f", "worktrees/a"]
RUNS = ["run-1", "run-2", "shard-1", "shard-2", "suite/one", "watched"]
FOLDERS = [*RUNS, "suite", "compared"]
CONFIG = """{"name": "t", "workload": {"kind": "command", "processes": [{"role": "server", "argv": ["true"]}]}, "variants": [{"name": "x"},
{"name": "y", "env": {"A": "1"}}], "baseline": "x", "profile": {"trials": 0}, "measure": {"repeats": 4, "meters": ["procfs"]}}"""


class Place:
    """A folder with runs, what belongs to them, and links to both."""

    def __init__(self, memduel, root):
        self.memduel, self.root = memduel, root
        (root / "t.json").write_text(CONFIG)
        (root / "suite.in").write_text('{"name": "s", "experiments": [{"config": "t.json", "name": "one"}]}')
        for name, b in (("run-1", "sort -r"), ("run-2", "sort -u")):
            self.must("compare", "--a", "sort /etc/services", "--b", f"{b} /etc/services", "--repeats", "2", "--set", "profile.trials=1", "--out", name)
        for number in ("1", "2"):
            self.must("run", "t.json", "--shard", f"{number}/2", "--seed", "1", "--out", f"shard-{number}")
        self.must("run", "suite.in", "--out", "suite")
        self.must("compare", "run-1", "run-2", "--out", "compared")
        self.must("watch", "--out", "watched", "--", "sleep", "0.1")
        for name in ("a.mdp", "b.mdp"):
            self.must("record", "--exact", "-o", name, "--", "sort", "/etc/services")
        for folder in FOLDERS:
            (root / f"link-{folder.replace('/', '-')}").symlink_to(folder)
        self.files = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file() and not path.is_symlink())
        self.inputs = [root / name for name in ("t.json", "suite.in", "a.mdp", "b.mdp")]
        self.links = []
        for number, path in enumerate(self.files):
            soft, hard = root / f"soft-{number}", root / f"hard-{number}"
            soft.symlink_to(path)
            os.link(path, hard)
            self.links += [soft, hard]
        (root / "dangling").symlink_to("run-1/calibration.json")
        self.links.append(root / "dangling")
        self.kept = {path: self.look(path) for path in self.files + self.inputs}
        self.sums = {path: self.sha(path) for path in self.kept}

    def must(self, *words):
        done = self.call(words)
        assert done.returncode in (0, 1, 5), f"{shlex.join(words)}: exit {done.returncode}\n{done.stderr}"

    def call(self, words):
        return subprocess.run([self.memduel, *words], cwd=self.root, capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.root / "cache"), "XDG_STATE_HOME": str(self.root / "state"), "NO_COLOR": "1"}, text=True, errors="replace")

    @staticmethod
    def look(path):
        """Nobody writes a file without a trace here: in place there is another time, by renaming another inode."""
        found = os.stat(path, follow_symlinks=False)
        return found.st_ino, found.st_size, found.st_mtime_ns

    @staticmethod
    def sha(path):
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def changed(self, words, allowed):
        """Files of runs and inputs of the command that are no longer what they were; those of `allowed` may have been written anew."""
        read = [word for at, word in enumerate(words) if words[at - 1] not in ("-o", "--junit") and words[max(0, at - 2)] != "--export"]
        allowed = [*allowed, *(path for path in self.inputs if path.name not in read)]
        gone = []
        for path in self.kept:
            if not os.path.lexists(path):
                gone.append(path)
            elif self.look(path) != self.kept[path]:
                if path not in allowed:
                    gone.append(path)
                self.kept[path], self.sums[path] = self.look(path), self.sha(path)
        return gone

    def damaged(self):
        return [path for path, before in self.sums.items() if self.sha(path) != before]


class Draw:
    def __init__(self, place, seed):
        self.place, self.random, self.number = place, random.Random(seed), 0

    def one(self, *choices):
        return self.random.choice(choices)

    def written(self, path):
        """One of the ways to write the path of a file below the root."""
        inside = os.path.relpath(path, self.place.root)
        way = self.random.randrange(5)
        if way == 1:
            return str(self.place.root / inside)
        if way == 2:
            return "./" + inside
        if way == 3:
            return f"{self.one('run-1', 'shard-1', 'compared')}/../{inside}"
        head, _, tail = inside.partition("/")
        return f"link-{head}/{tail}" if way == 4 and tail and head in FOLDERS else inside

    def output(self, out=None):
        self.number += 1
        return self.one(
            lambda: self.written(self.random.choice(self.place.files)),
            lambda: self.written(self.random.choice(self.place.links)),
            lambda: self.written(self.random.choice(self.place.inputs)),
            lambda: f"{self.one(*FOLDERS)}/{self.one(*OF_RUNS)}",
            lambda: f"{out or 'absent'}/{self.one(*OF_RUNS, 'own.xml')}",
            lambda: f"{self.one(*FOLDERS)}/own-{self.number}.xml",
            lambda: f"new-{self.number}.xml",
            lambda: self.one("/dev/null", ".", "run-1", "absent/x.xml", "t.json/x"))()

    def exports(self, out=None):
        words = []
        for _ in range(self.one(0, 1, 1, 2)):
            words += ["--export", self.one(*FORMATS), self.output(out)]
        return words

    def directory(self):
        self.number += 1
        return self.one(f"out-{self.number}", f"out-{self.number}", *FOLDERS, ".", "link-run-1", "compared")

    def run(self):
        return self.one(*RUNS, "compared", "link-run-2")

    def profile(self):
        profiles = [str(path) for path in self.place.files if path.suffix == ".mdp"]
        return self.one("a.mdp", "b.mdp", *profiles)

    def gates(self):
        words = []
        for _ in range(self.one(0, 0, 1, 2)):
            words += ["--gate", self.one(*GATES)]
        return words + self.one([], [], ["--on-inconclusive", "fail"], ["--gate-strict"], ["--no-default-gates"], ["--verbose"], ["--bisect"])

    def line(self):
        """A command line, and the files that it may write anew."""
        return self.one(self.report, self.check, self.check, self.compare, self.compare, self.commands, self.experiment, self.export, self.flamegraph,
                        self.summary, self.explain, self.merge, self.record)()

    def report(self):
        words = self.one([], ["--format", self.one("html", *FORMATS)], ["--confidential"])
        run = self.run()
        writes = "--format" not in words or "html" in words
        return ["report", run, *words], [(self.place.root / run).resolve() / "report.html"] if writes else []

    def check(self):
        return ["check", self.run(), *self.gates(), *self.exports(), *self.one([], ["--junit", self.output()])], []

    def compare(self):
        out = self.one(None, self.directory())
        sides = [self.one(self.run(), f"{self.run()}/results.json") for _ in range(2)]
        words = ["compare", *sides, *self.gates(), *self.exports(out), *(["--out", out] if out else [])]
        # A comparison of two measured runs measures nothing, and another one may take its place.
        ours = self.place.root / "compared"
        return words, [ours / "results.json", ours / "report.html"] if out == "compared" else []

    def commands(self):
        out = self.directory()
        return ["compare", "--a", "true", "--b", "true x", "--repeats", "1", "--set", "profile.trials=0", "--out", out, *self.exports(out)], []

    def experiment(self):
        out = self.directory()
        resume = self.one([], [], ["--resume"])
        # Who goes on with a run takes its lock, and finds only then that it is another run.
        locks = [(self.place.root / out).resolve() / "run.lock"] if resume else []
        return ["run", self.one("t.json", "suite.in"), "--repeats", "1", "--out", out, *resume, *self.exports(out)], locks

    def export(self):
        return ["export", self.profile(), "--format", self.one("pprof", "folded"), *self.one([], ["--kind", "live"]), "-o", self.output()], []

    def flamegraph(self):
        diff = self.one([], ["--diff", self.profile()])
        return ["flamegraph", self.profile(), *diff, *self.one([], ["-o", self.output()])], []

    def summary(self):
        diff = self.one([], ["--diff", self.profile()])
        return ["summary", self.one(self.profile(), self.run()), *diff], []

    def explain(self):
        return ["explain", self.run(), *self.one([], ["all.peak_rss_bytes"])], []

    def merge(self):
        out = self.directory()
        shares = self.one(["shard-1", "shard-2"], ["shard-1"], ["shard-1", "shard-1"], ["shard-2", "run-1"])
        return ["merge", *shares, "--out", out, *self.exports(out)], []

    def record(self):
        return ["record", "-o", self.output(), *self.one([], ["--count"]), "--", "true"], []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("memduel")
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    faults = []
    codes = {}
    with tempfile.TemporaryDirectory(prefix="memduel-overwriting-") as folder:
        place = Place(os.path.abspath(arguments.memduel), pathlib.Path(folder))
        draw = Draw(place, arguments.seed)
        for number in range(arguments.calls):
            words, allowed = draw.line()
            done = place.call(words)
            codes[done.returncode] = codes.get(done.returncode, 0) + 1
            if done.returncode not in (0, 1, 2, 3, 4, 5, 125, 128):
                faults.append(f"call {number}: memduel {shlex.join(words)}: exit {done.returncode}\n{done.stderr}")
            for path in place.changed(words, allowed):
                faults.append(f"call {number}: memduel {shlex.join(words)}: exit {done.returncode}, changed {path}")
        faults += [f"changed without another time: {path}" for path in place.damaged()]
    print(f"seed {arguments.seed}: {arguments.calls} calls, exit codes {dict(sorted(codes.items()))}")
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
