#!/usr/bin/env python3
"""Runs without --out: they are in the state directory, are found by name from anywhere, listed, and pruned, and the directory in which they were measured
stays empty.
    runs.py MEMDUEL"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

MEMDUEL = os.path.abspath(sys.argv[1])
QUICK = ["--repeats", "1", "--warmup", "0", "--set", "profile.trials=0", "--quiet"]
SMALL = ["compare", "--a", "true", "--b", "sort /dev/null", *QUICK]
SUITE = {"name": "both", "experiments": [{"name": "first", "config": "t.json"}, {"name": "second", "config": "t.json"}]}
CONFIG = {"name": "t", "workload": {"kind": "command", "processes": [{"role": "server", "argv": ["true"]}]},
          "variants": [{"name": "x"}, {"name": "y", "argv": {"server": ["sort", "/dev/null"]}}], "baseline": "x", "profile": {"trials": 0},
          "measure": {"repeats": 1, "warmups": 0}, "default_gates": False}


class Place:
    def __init__(self, root):
        self.root = root
        self.empty = root / "empty"
        self.empty.mkdir()
        self.runs = root / "state/memduel/runs"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(root / "cache"), "XDG_STATE_HOME": str(root / "state"), "NO_COLOR": "1"}

    def call(self, *words, status=0, **changes):
        done = subprocess.run([MEMDUEL, *map(str, words)], cwd=self.empty, env={**self.environment, **changes}, capture_output=True, text=True, check=False)
        assert done.returncode == status, f"memduel {words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout if status == 0 else done.stderr

    def start(self, *words):
        return subprocess.Popen([MEMDUEL, *words], cwd=self.empty, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def listed(self):
        return {run["name"]: run for run in json.loads(self.call("runs", "--json"))["runs"]}

    def messages(self, *words):
        """What it prints on standard error."""
        return subprocess.run([MEMDUEL, *words], cwd=self.empty, env=self.environment, capture_output=True, text=True, check=True).stderr

    def names(self):
        return sorted(path.name for path in self.runs.iterdir())


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it took longer than a minute"
        time.sleep(0.02)


def check_first_run(place):
    """All that is printed works from another directory."""
    assert place.call("runs").startswith("no runs in "), "an empty list"
    out = place.call(*[word for word in SMALL if word != "--quiet"])
    (name,) = place.names()
    assert re.fullmatch(r"compare-\d{8}-\d{6}", name), name
    report = re.search(r"^Report: (.*)$", out, re.M).group(1)
    assert report == str(place.runs / name / "report.html") and os.path.isfile(report), out
    (line,) = place.call("runs").splitlines()
    assert re.match(rf"{name}  \d{{4}}-\d\d-\d\d  NO GATES +[0-9.]+ [KM]iB  peak RSS .*: true vs\. sort /dev/null$", line), line
    return name


def check_names(place, name):
    assert "Exit code 0: no gate was set." in place.call("report", name, "--format", "text")
    assert place.call("report", name) == f"{place.runs / name / 'report.html'}\n"
    assert "all.peak_rss_bytes" in place.call("explain", name, "all.peak_rss_bytes")
    place.call("check", name, "--gate", "all.peak_rss_bytes<=1GiB", "--on-inconclusive", "pass")
    place.call("compare", name, name)
    assert "not a run" in place.call("report", "no-such-run", status=4)
    other = place.call("compare", name, "true", status=2)
    assert "is a directory" in other, other


def check_unfinished(place):
    """Interrupted runs are listed, and the printed command resumes them."""
    slow = place.start("compare", "--a", "sleep 0.2", "--b", "sleep 0.201", "--repeats", "40", "--set", "profile.trials=0")
    wait_for(lambda: "running" in {run["answer"] for run in place.listed().values()})
    (name,) = [name for name, run in place.listed().items() if run["answer"] == "running"]
    assert f"kept {name}, which is in use" in place.messages("runs", "prune", "--keep", "0", "--dry-run")
    time.sleep(1)
    slow.send_signal(signal.SIGINT)
    _, said = slow.communicate(timeout=60)
    assert place.listed()[name]["answer"] == "unfinished", place.listed()
    command = re.search(r"^ *memduel (.*--resume.*)$", said, re.M).group(1)
    assert f"--out {place.runs / name} --resume" in command, said
    ended = place.start("compare", "--a", "sleep 0.2", "--b", "sleep 0.201", "--repeats", "40", "--set", "profile.trials=0", "--out", name, "--resume")
    wait_for(lambda: place.listed()[name]["answer"] == "running")
    ended.send_signal(signal.SIGINT)
    ended.communicate(timeout=60)
    assert place.listed()[name]["answer"] == "unfinished", "--out takes a name that memduel runs lists"
    return name


def check_damaged(place):
    broken = place.runs / "broken-1"
    broken.mkdir()
    (broken / "run.sqlite").write_bytes(b"no database" * 100)
    assert place.listed()["broken-1"]["answer"] == "damaged"
    (line,) = [line for line in place.call("runs").splitlines() if line.startswith("broken-1 ")]
    assert "cannot be read: " in line, line


def check_suite(place):
    (place.root / "t.json").write_text(json.dumps(CONFIG))
    (place.root / "suite.json").write_text(json.dumps(SUITE))
    place.call("run", place.root / "suite.json", "--quiet")
    names = [name for name in place.listed() if "/" in name]
    assert [name.split("/")[1] for name in sorted(names)] == ["first", "second"], names
    assert "y" in place.call("report", names[0], "--format", "text")


def check_prune(place, unfinished):
    """Only runs go, the oldest first, and what is no run stays."""
    outside = place.root / "outside"
    outside.mkdir()
    (outside / "run.sqlite").write_text("")
    (place.runs / "link").symlink_to(outside)
    (place.runs / "folder").mkdir()
    (place.runs / "file").write_text("")
    os.utime(place.runs / "broken-1/run.sqlite", (1e9, 1e9))
    before = place.names()
    assert "would delete broken-1" in place.call("runs", "prune", "--older-than", "30d", "--dry-run")
    assert place.names() == before
    out = place.call("runs", "prune", "--older-than", "30d")
    assert re.match(r"deleted broken-1 \(.*\)\ndeleted 1 run, ", out), out
    assert place.names() == [name for name in before if name != "broken-1"]
    running = place.start("compare", "--a", "sleep 0.2", "--b", "sleep 0.201", "--repeats", "40", *QUICK[2:])
    wait_for(lambda: "running" in {run["answer"] for run in place.listed().values()})
    (name,) = [name for name, run in place.listed().items() if run["answer"] == "running"]
    place.call("runs", "prune", "--keep", "0")
    assert place.names() == sorted(["file", "folder", "link", name]), place.names()
    assert (outside / "run.sqlite").exists() and unfinished not in place.names()
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert place.listed()[name]["answer"] == "unfinished"
    assert "--keep N or --older-than AGE" in place.call("runs", "prune", status=2)
    assert "90m, 12h, 30d or 8w" in place.call("runs", "prune", "--older-than", "soon", status=2)


def check_together(place):
    """Runs that begin in one second, while another memduel prunes without a pause."""
    before = set(place.names())
    several = [place.start(*SMALL) for _ in range(3)]
    while any(one.poll() is None for one in several):
        place.call("runs", "prune", "--older-than", "1d")
        place.call("runs")
    assert [one.wait() for one in several] == [0, 0, 0], [one.communicate() for one in several]
    made = set(place.names()) - before
    assert len(made) == 3 and all((place.runs / name / "report.html").exists() for name in made), made


def check_prune_beside_a_run(place):
    """From its first trial to its report, no moment is one at which prune takes a run away."""
    one = place.start(*SMALL)
    while one.poll() is None:
        place.call("runs", "prune", "--keep", "0")
    assert one.wait() == 0, one.communicate()


def check_places(place):
    """The variables, and what to do if they name no directory that can be written."""
    home = place.root / "home"
    home.mkdir()
    without = {name: value for name, value in place.environment.items() if name not in ("HOME", "XDG_STATE_HOME")}
    place.environment = {**without, "HOME": str(home), "XDG_STATE_HOME": "relative"}
    place.call(*SMALL)
    assert len(list((home / ".local/state/memduel/runs").iterdir())) == 1
    place.environment = without
    assert "--out DIR" in place.call(*SMALL, status=2)
    assert "--out DIR" in place.call(*SMALL, status=4, XDG_STATE_HOME="/proc/none")
    assert "--out DIR" in place.call("runs", status=2)


def main():
    with tempfile.TemporaryDirectory(prefix="memduel-runs-") as folder:
        place = Place(pathlib.Path(folder).resolve())
        name = check_first_run(place)
        check_names(place, name)
        check_damaged(place)
        unfinished = check_unfinished(place)
        check_suite(place)
        check_prune(place, unfinished)
        check_together(place)
        check_prune_beside_a_run(place)
        check_places(place)
        assert not list(place.empty.iterdir()), list(place.empty.iterdir())
    print("runs: all as documented")


if __name__ == "__main__":
    main()
