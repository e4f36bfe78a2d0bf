#!/usr/bin/env python3
"""Runs small jobs, takes each command that any of their screens recommends, and runs it as it is printed, where the reader stands: it must get further,
which is another exit code than 2 and 4, and a result that was not there before. A screen is what is printed, and the Markdown and the page's data of a run.
    advice.py MEMDUEL"""
import base64
import gzip
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

MEMDUEL = os.path.abspath(sys.argv[1])
LIMIT_S = 240

# No two runs alike, as in most programs; the second argument doubles it.
TWO = "import random, sys\nx = bytearray(20_000_000 * int(sys.argv[1]) + random.randrange(200_000))\nprint(len(x) > 0)\n"
# 8 MB more or less from run to run.
NOISY = "import random, sys\nx = bytearray(20_000_000 + int(sys.argv[1]) + random.randrange(8_000_000))\n"
SLOW = "import sys, time\nx = bytearray(1_000_000 * int(sys.argv[1]))\ntime.sleep(0.4)\n"
# A line for each round, which keeps 100 kB.
ROUNDS = """import sys, time
kept = []
for i in range(int(sys.argv[1])):
    kept.append(bytes([1]) * 100_000)
    print("round", i, flush=True)
    time.sleep(0.005)
"""
# Frees 40 MB below a block that stays, so that the allocator keeps them.
HOLDS = """#include <malloc.h>
#include <cstdlib>
#include <vector>
#include "memduel/annotate.h"
int main() {
  for (int round = 1; round <= 3; ++round) {
    memduel_round_begin(round);
    std::vector<void*> all;
    for (int i = 0; i < 40000; ++i) all.push_back(std::calloc(1, 1000));
    for (std::size_t i = 0; i + 1 < all.size(); ++i) std::free(all[i]);
    memduel_gauge("heap_free_bytes", static_cast<double>(mallinfo2().fordblks));
    memduel_gauge("allocator_arena_count", 1);
    memduel_round_end(round);
  }
}
"""


def config(**changes):
    whole = {"name": "t", "workload": {"kind": "command", "processes": [{"role": "server", "argv": ["python3", "two.py", "1"]}]},
             "variants": [{"name": "x"}, {"name": "y", "argv": {"server": ["python3", "two.py", "2"]}}], "baseline": "x", "profile": {"trials": 0},
             "measure": {"meters": ["procfs", "heap"]}, "gates": ["server.peak_rss_bytes<=+1%"]}
    whole.update(changes)
    return json.dumps(whole)


class Place:
    def __init__(self, root):
        self.root = root
        for name, text in (("two.py", TWO), ("noisy.py", NOISY), ("slow.py", SLOW), ("rounds.py", ROUNDS), ("t.json", config())):
            (root / name).write_text(text)
        marks = [{"role": "server", "from": "stdout", "pattern": r"round (?<round>\d+)"}]
        workload = {"kind": "command", "marks": marks, "processes": [{"role": "server", "argv": ["python3", "rounds.py", "60"]}]}
        (root / "growth.json").write_text(config(workload=workload, variants=[{"name": "x"}, {"name": "y", "env": {"A": "1"}}],
                                                 gates=["server.rss_growth_bytes_per_round<=1KiB"]))
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(root / "cache"), "XDG_STATE_HOME": str(root / "state"), "NO_COLOR": "1", "PATH": f"{root}:{os.environ['PATH']}"}
        (root / "memduel").symlink_to(MEMDUEL)

    def call(self, command, ended_after=None):
        """As a shell reads it; what it prints on both descriptors. `ended_after`: seconds to an interrupt."""
        running = subprocess.Popen(["/bin/sh", "-c", "exec env " + command], cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        if ended_after is not None:
            time.sleep(ended_after)
            running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=LIMIT_S)
        return running.returncode, out, err

    def files(self):
        """Every file with its size and time."""
        return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in self.root.rglob("*") if path.is_file() and not path.is_symlink()}


def commands_in(text):
    """Those on a line of their own and those in backticks: what a reader copies."""
    found = re.findall(r"^[ \t]*((?:[A-Z_]+=\S+ )*memduel .+?)[ \t]*$", text, re.M) + re.findall(r"`(memduel [^`\n]+)`", text)
    # Sentences that begin with the program's name are no commands; neither are headings of the terminal.
    verbs = subprocess.run([MEMDUEL, "--help"], capture_output=True, text=True, check=True).stdout
    return [one for one in found if re.search(rf"^ +{re.escape(one.partition('memduel ')[2].split()[0])}\b", verbs, re.M)]


def page_of(report):
    """The text of the data in a report's page."""
    packed = re.search(r'<script[^>]*id="memduel-data"[^>]*>([^<]+)<', report.read_text())
    return gzip.decompress(base64.b64decode(packed.group(1))).decode() if packed else ""


def page_commands(report):
    text = page_of(report)
    assert text, f"{report}: no data"
    document = json.loads(text)["document"]
    return [document["reproduce"]] + [one for section in document["first_screen"] + document["details"] for one in commands_of(section["parts"])]


def commands_of(parts):
    """Those that a document's parts have, those in folds, too."""
    for part in parts:
        if part["kind"] == "Command":
            yield part["command"]
        yield from commands_of(part.get("parts", []))


# What is run, whether an interrupt comes after so many seconds, and whether the screen itself must recommend a command. (All reports do.)
COMPARE = "memduel compare --a 'python3 two.py 1' --b 'python3 two.py 2'"
SLOW_PAIR = "memduel compare --a 'python3 slow.py 1' --b 'python3 slow.py 2' --set profile.trials=0"
NOISY_PAIR = "memduel compare --a 'python3 noisy.py 0' --b 'python3 noisy.py 1000000' --set profile.trials=0"
JOBS = {
    "too few trials": (f"{COMPARE} --repeats 4 --set profile.trials=0 --out few", None, True),
    "too few trials, gates": (f"{COMPARE} --repeats 4 --gate default --set profile.trials=0 --out few-gates", None, True),
    "failed gate": (f"{COMPARE} --repeats 6 --gate default --out failed", None, False),
    "inconclusive": (f"{NOISY_PAIR} --repeats 6 --out 'not clear'", None, False),
    "an end on the way": (f"{SLOW_PAIR} --repeats 10 --out ended", 3, True),
    "no time": (f"{SLOW_PAIR} --max-minutes 0.05 --out short", None, True),
    "too little time": (f"{SLOW_PAIR} --repeats 24 --max-minutes 0.25 --out cut", None, True),
    "config": ("memduel run t.json --repeats 4 --out config", None, True),
    "growth": ("memduel run growth.json --repeats 3 --out growth", None, False),
    "first share": ("memduel run t.json --repeats 6 --seed 1 --shard 1/2 --out shard-1", None, True),
    "second share": ("memduel run t.json --repeats 6 --seed 1 --shard 2/2 --out shard-2", None, True),
    "watch": ("memduel watch --out watched -- python3 rounds.py 5", None, False),
    "record": ("memduel record -o one.mdp -- python3 two.py 1", None, False),
    "record again": ("memduel record -o two.mdp -- python3 two.py 2", None, False),
    "summary": ("memduel summary one.mdp", None, False),
    "summary of a run": ("memduel summary failed", None, False),
    "two runs": ("memduel compare few failed", None, False),
    "two watched": ("memduel compare watched watched --out twice", None, False),
    "explain": ("memduel explain failed", None, False),
    "plan": ("memduel plan t.json --detect 5%", None, False),
    "all tables": ("memduel report failed --format text", None, True),
    "doctor": ("memduel doctor", None, False),
}
RUNS = ["few", "few-gates", "failed", "not clear", "cut", "config", "growth", "watched", "twice"]
# What is refused, with what the message must hold, and how many trials may have run.
REFUSED = {
    "memduel run growth.json --set workload.stop_after_round=5 --out planned": ("expected at least 50 rounds, found 5 in the config", 0),
    "memduel run growth.json --set 'workload.processes.0.argv.2=\"5\"' --out warmed": ("expected at least 51 rounds, found 5 in the warm-up trial", 2),
    f"{SLOW_PAIR} --max-minutes 0.05 --out tight": ("expected at least 0.", 2),
}


def check_refusals(place):
    for command, (words, most) in REFUSED.items():
        code, out, err = place.call(command)
        trials = err.count("warm-up:") + err.count("block ")
        if code != 2 or words not in err or trials > most:
            yield f"{command}: exit {code} after {trials} trials, expected 2 after {most} or fewer and \"{words}\"\n{out}{err}"


def has_held_memory(place):
    """Whether there is a compiler for the program that leaves memory with its allocator."""
    (place.root / "holds.cpp").write_text(HOLDS)
    include = pathlib.Path(__file__).resolve().parents[2] / "include"
    built = subprocess.run(["c++", "-I", include, "holds.cpp", "-o", "holds"], cwd=place.root, check=False)
    return built.returncode == 0


def recommended_by_all(place, wrong):
    """Each command with the screen that recommends it first."""
    recommended = {}
    jobs, runs = dict(JOBS), list(RUNS)
    if has_held_memory(place):
        meters = "'measure.meters=[\"procfs\",\"heap\",\"allocator\"]'"
        jobs["held memory"] = (f"memduel compare --a ./holds --b 'A=1 ./holds' --calibrate --repeats 6 --set {meters} --out held", None, True)
        runs.append("held")
    for name, (command, ended_after, recommends) in jobs.items():
        _, out, err = place.call(command, ended_after)
        found = commands_in(out) + commands_in(err)
        for one in found:
            recommended.setdefault(one, name)
        if recommends and not found:
            wrong.append(f"{name}: recommends no command\n{out}{err}")
    for run in runs:
        _, markdown, _ = place.call(f"memduel report {shlex.quote(run)} --format markdown")
        for one in commands_in(markdown) + page_commands(place.root / run / "report.html"):
            recommended.setdefault(one, f"report of {run}")
    return recommended


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="memduel-advice-") as folder:
        place = Place(pathlib.Path(folder))
        wrong.extend(check_refusals(place))
        recommended = recommended_by_all(place, wrong)
        for command, name in recommended.items():
            before = place.files()
            code, out, err = place.call(command)
            changed = {path for path, state in place.files().items() if before.get(path) != state}
            if code in (2, 4) or code < 0:
                wrong.append(f"{name} recommends: {command}\n  exit {code}\n{err}")
            elif not changed and not out:
                wrong.append(f"{name} recommends: {command}\n  no new result")
            # The number of trials that would do does.
            if name.startswith("too few trials") and "regressed" not in out:
                wrong.append(f"{name} recommends: {command}\n  it decides nothing\n{out}{err}")
    print("\n".join(wrong) if wrong else f"{len(recommended)} recommended commands get further")
    return 1 if wrong else 0


sys.exit(main())
