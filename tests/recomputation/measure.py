#!/usr/bin/env python3
"""Measures the runs that recompute.py recomputes: real programs, by memduel.

    measure.py MEMDUEL DIR [NAME...]     each stored run (or those of these names) to DIR/NAME, and all runs in DIR to DIR/runs.tar.xz

A stored run is its run.sqlite, from which memduel makes every format anew. To measure in a directory like /tmp/runs keeps paths of a machine out of it.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PYTHON = "/usr/bin/python3"


class Place:
    """A directory in which runs are measured, and memduel with a cache of its own."""

    def __init__(self, memduel, directory):
        self.memduel = str(pathlib.Path(memduel).resolve())
        self.directory = pathlib.Path(directory).resolve()
        self.directory.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "program.py", self.directory / "program.py")
        shutil.copy(ROOT / "include/memduel/memduel_annotate.py", self.directory / "memduel_annotate.py")
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.directory / "cache"), XDG_STATE_HOME=str(self.directory / "state"), PYTHONHASHSEED="0", OMP_NUM_THREADS="1")

    def call(self, *words, expected=(0, 1, 5)):
        done = subprocess.run([self.memduel, *map(str, words)], cwd=self.directory, env=self.environment, capture_output=True, text=True)
        if done.returncode not in expected:
            raise SystemExit(f"memduel {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def file(self, name, text):
        (self.directory / name).write_text(text)
        return name

    def compare(self, out, commands, *more):
        words = ["compare", "--a", commands[0]]
        for command in commands[1:]:
            words += ["--b", command]
        return self.call(*words, "--out", out, "--set", "profile.trials=0", "--quiet", *more)

    def experiment(self, out, config, *more):
        config = {"name": out, "profile": {"trials": 0}, **config}
        return self.call("run", self.file(out + ".json", json.dumps(config)), "--out", out, "--quiet", *more)


def program(*words):
    return " ".join([PYTHON, "program.py", *map(str, words)])


def job(arms, rounds=0, processes=None, gates=(), marks=(), **workload):
    """An experiment on program.py; `arms` has the further arguments of each variant."""
    environment = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    first = {"role": "server", "env": environment, "argv": [PYTHON, "program.py", "--block", "{block}"] + (["--rounds", str(rounds)] if rounds else [])}
    return {
        "workload": {"kind": "command", "processes": processes or [first], "marks": list(marks), "deadline_seconds": 60, **workload},
        "variants": [{"name": name, "append": append if isinstance(append, dict) else {"server": append}} for name, append in arms.items()],
        "baseline": next(iter(arms)),
        "gates": list(gates),
    }


def gates(*which):
    return [word for gate in which for word in ("--gate", gate)]


def words_file(place):
    return place.file("words.txt", "".join(f"{(i * 7919) % 100003} line {i % 97}\n" for i in range(60000)))


def python_rows(place):
    for name in ("before.py", "after.py"):
        shutil.copy(ROOT / "examples/rows" / name, place.directory / name)
    place.file("rows.csv", "".join(f"{i},{i / 7:.6g},{i % 97}\n" for i in range(20000)))
    place.compare("python_rows", [f"{PYTHON} before.py rows.csv", f"{PYTHON} after.py rows.csv"], "--repeats", 6, "--seed", 11)


def sort_five(place):
    words = words_file(place)
    place.compare("sort_five", [f"sort -S 4M {words}", f"sort -S 2M {words}"], "--repeats", 5, "--seed", 12, *gates("all.peak_rss_bytes<=+1%"))


def sort_three(place):
    words = words_file(place)
    place.compare("sort_three", [f"sort {words}", f"sort -u {words}"], "--repeats", 3, "--seed", 13)


def mawk_four(place):
    words = words_file(place)
    place.file("keep.awk", "{ a[$1] = $2 } END { print length(a) }")
    place.file("drop.awk", "{ n++ } END { print n }")
    place.compare("mawk_four", [f"mawk -f drop.awk {words}", f"mawk -f keep.awk {words}"], "--repeats", 4, "--seed", 14,
                  *gates("all.peak_rss_bytes<=+5%", "all.round_seconds<=+10%"))


def sqlite_seven(place):
    query = "with recursive n(i) as (select 1 union all select i+1 from n where i<30000) select count(*) from (select i, hex(i*7919) h from n order by h)"
    place.file("small.sql", f"pragma cache_size=-500; create table t as {query.replace('count(*)', 'i, h')}; select count(*) from t;")
    place.file("large.sql", f"pragma cache_size=-8000; create table t as {query.replace('count(*)', 'i, h')}; select count(*) from t;")
    place.compare("sqlite_seven", ["sqlite3 -init small.sql :memory: .quit", "sqlite3 -init large.sql :memory: .quit"], "--repeats", 7, "--seed", 15,
                  *gates("all.peak_rss_bytes<=+5%", "all.peak_heap_bytes<=+5%", "all.round_seconds<=+20%", "all.cpu_seconds<=+20%",
                         "all.minor_faults_count<=+5%"))


def gcc_eight(place):
    place.file("many.c", "".join(f"int f{i}(int x) {{ int s = 0; for (int k = 0; k < x; ++k) s += k * {i} % 7; return s; }}\n" for i in range(150)))
    place.compare("gcc_eight", ["gcc -O0 -c many.c -o a.o", "gcc -O1 -c many.c -o a.o"], "--repeats", 8, "--seed", 16,
                  *gates("all.peak_rss_bytes<=+2%", "all.peak_heap_bytes<=+2%:advisory", "all.peak_rss_bytes<=200MiB"))


def adaptive_one(place):
    place.compare("adaptive_one", [program("--mib", 8, "--spread", 4), program("--mib", 9, "--spread", 4)], "--seed", 17, *gates("all.peak_rss_bytes<=+2%"))


def adaptive_null(place):
    place.compare("adaptive_null", [program("--mib", 20, "--spread", 10), program("--mib", 20.01, "--spread", 10)], "--seed", 18,
                  *gates("all.peak_rss_bytes<=+1%"))


def adaptive_two(place):
    place.compare("adaptive_two", [program("--mib", 16, "--spread", 3), program("--mib", 17, "--spread", 3), program("--mib", 14, "--spread", 3)],
                  "--seed", 19, *gates("all.peak_rss_bytes<=+2%", "all.cpu_seconds<=+30%"))


def four_variants(place):
    place.call("compare", "--a", program("--mib", "{n}", "--spread", 2), "-L", "n", "4,6,8,12", "--repeats", 6, "--seed", 20, "--set",
               "profile.trials=0", "--quiet", "--out", "four_variants", *gates("all.peak_rss_bytes<=+5%"))


def five_variants(place):
    place.call("compare", "--a", program("--mib", "{n}", "--spread", 2), "-L", "n", "8,8.1,8.2,9,10", "--repeats", 8, "--seed", 21, "--set",
               "profile.trials=0", "--quiet", "--out", "five_variants", *gates("all.peak_rss_bytes<=+5%"))


def three_gates(place):
    place.compare("three_gates", [program("--mib", 16, "--spread", 2), program("--mib", 13, "--spread", 2), program("--mib", 16.1, "--spread", 2)],
                  "--repeats", 9, "--seed", 22, *gates("all.peak_rss_bytes<=+2%", "all.minor_faults_count<=+2%", "all.peak_cgroup_bytes<=+2%"))


def same_program(place):
    place.compare("same_program", [program("--mib", 12, "--spread", 1)] * 2, "--calibrate", "--repeats", 12, "--seed", 23)


def shards(place):
    config = job({"before": ["--mib", "9", "--spread", "3"], "after": ["--mib", "8", "--spread", "3"]}, gates=["server.peak_rss_bytes<=+2%"])
    shares = []
    for number in (1, 2, 3):
        place.experiment(f"shard-{number}", {**config, "name": "shards"}, "--repeats", 12, "--seed", 24, "--shard", f"{number}/3")
        shares.append(f"shard-{number}")
    place.call("merge", *shares, "--out", "shards")


def shard_missing(place):
    config = job({"before": ["--mib", "9", "--spread", "3"], "after": ["--mib", "8", "--spread", "3"]}, gates=["server.peak_rss_bytes<=+2%", "server.peak_heap_bytes<=+2%"])
    shares = []
    for number in (1, 3):
        place.experiment(f"part-{number}", {**config, "name": "shard_missing"}, "--repeats", 10, "--seed", 25, "--shard", f"{number}/3")
        shares.append(f"part-{number}")
    place.call("merge", *shares, "--out", "shard_missing")


def dead_candidate(place):
    place.experiment("dead_candidate", job({"lives": ["--mib", "6"], "dies": ["--mib", "5", "--fail", "1"],
                                            "dies_sometimes": ["--mib", "5", "--spread", "2", "--fail", "4"]},
                                           gates=["server.peak_rss_bytes<=+2%", "server.cpu_seconds<=+20%"]), "--repeats", 8, "--seed", 26)


def half_dead(place):
    """Half of the differences are infinite, and so is the estimate."""
    place.experiment("half_dead", job({"lives": ["--mib", "5", "--spread", "3"], "dies": ["--mib", "4", "--fail", "2"]},
                                      gates=["server.peak_rss_bytes<=+2%", "server.peak_rss_bytes<=30MiB"]), "--repeats", 6, "--seed", 35)


def with_gauges(**values):
    return [word for name, value in values.items() for word in ("--gauge", f"{name}={value}")]


def zeros(place):
    none = with_gauges(none_count=0, some_count=0, below=-3, free_bytes=0)
    place.experiment("zeros", job({"before": none, "after": none + with_gauges(higher=7, undeclared=2),
                                   "more": with_gauges(none_count=5, some_count=1, below=4, free_bytes=70000)}, rounds=2,
                                  metrics={"below": {"better": "higher"}}), "--repeats", 7, "--seed", 27)


def growth_rounds(place):
    place.experiment("growth_rounds", job({"flat": ["--leak", "0"], "leak": ["--leak", "96", "--vary", "10"]}, rounds=60,
                                          gates=["server.rss_growth_bytes_per_round<=64KiB", "server.peak_rss_bytes<=+1%"]), "--repeats", 6, "--seed", 28)


def growth_both(place):
    place.experiment("growth_both", job({"slow": ["--leak", "60", "--vary", "20", "--pause", "1"], "fast": ["--leak", "90", "--vary", "20", "--pause", "2"],
                                         "level": ["--leak", "0"]}, rounds=60,
                                        gates=["server.rss_growth_bytes_per_round<=margin"]), "--repeats", 4, "--seed", 29)


def groups(place):
    server = {"role": "server", "argv": [PYTHON, "program.py", "--rounds", "4", "--pause", "20"]}
    client = {"role": "client", "count": 3, "rounds": "reference", "argv": [PYTHON, "program.py", "--pause", "60"]}
    place.experiment("groups", job({"before": {"server": ["--mib", "6", "--spread", "2"], "client": ["--mib", "3", "--spread", "5"]},
                                    "after": {"server": ["--mib", "5", "--spread", "2"], "client": ["--mib", "2", "--spread", "5"]}}, processes=[server, client],
                                   gates=["client_max.peak_rss_bytes<=+5%", "client_median.peak_rss_bytes<=+5%", "server.peak_rss_bytes<=20MiB",
                                          "server.peak_rss_above_idle_bytes<=+5%", "*.round_seconds<=+50%"]), "--repeats", 6, "--seed", 30)


def ceilings(place):
    place.experiment("ceilings", job({"one": ["--mib", "6", "--spread", "20"], "two": ["--mib", "7"]}, rounds=3,
                                     gates=["server.peak_rss_bytes<=16MiB", "server.peak_rss_bytes<=15.5MiB:advisory", "server.cpu_seconds<=10s"]),
                     "--repeats", 6, "--seed", 31)


def watched(place):
    place.call("watch", "--out", "watched", "--quiet", "--interval", "0.05", "--round-pattern", r"Round (\d+)", "--", PYTHON, "-u", "-c",
               "import time\nkept = []\nfor n in range(1, 41):\n    print('Round', n, flush=True); kept.append(bytearray(b'x') * 200000); time.sleep(0.05)")


def minutes(place):
    place.compare("minutes", [program("--mib", 8, "--spread", 6), program("--mib", 8.2, "--spread", 6)], "--seed", 32, "--max-minutes", "0.06",
                  *gates("all.peak_rss_bytes<=+1%", "default"))


def quickstart(place):
    place.call("run", ROOT / "configs/quickstart.json", "--set", "profile.trials=0", "--repeats", 6, "--seed", 33, "--quiet", "--out", "quickstart")


STORED = [python_rows, sort_five, sort_three, mawk_four, sqlite_seven, gcc_eight, adaptive_one, adaptive_null, adaptive_two, four_variants, five_variants,
          three_gates, same_program, shards, shard_missing,
          dead_candidate, half_dead, zeros, growth_rounds, growth_both, groups, ceilings, watched, minutes, quickstart]


def fresh_variants(place):
    place.experiment("fresh_variants", job({f"v{n}": ["--mib", str(n), "--spread", "2", *with_gauges(none_count=0, free_bytes=0, some_count=1)] for n in (4, 4.1, 5, 7)},
                                           rounds=2, gates=["server.peak_rss_bytes<=+5%", "server.peak_heap_bytes<=+5%"]), "--repeats", 6)


def fresh_savings(place):
    place.compare("fresh_savings", [program("--mib", mib, "--spread", 1) for mib in (16, 12, 8)], "--repeats", 8, "--seed", 36,
                  *gates("all.peak_rss_bytes<=-20%", "all.peak_heap_bytes<=-1MiB|-40%", "all.cpu_seconds<=-10%"))


def fresh_growth(place):
    server = {"role": "server", "argv": [PYTHON, "program.py", "--rounds", "60"]}
    client = {"role": "client", "count": 3, "argv": [PYTHON, "program.py", "--rounds", "60", "--mib", "2"]}
    place.experiment("fresh_growth", job({"before": {"server": ["--leak", "0"], "client": ["--leak", "20", "--vary", "30"]},
                                          "after": {"server": ["--leak", "80", "--vary", "20"], "client": ["--leak", "5", "--vary", "30"]}}, processes=[server, client],
                                         gates=["server.rss_growth_bytes_per_round<=64KiB", "client_max.rss_growth_bytes_per_round<=margin", "server.peak_rss_bytes<=+5%"]),
                     "--repeats", 5)


def fresh_shards(place):
    config = {"name": "fresh_shards", **job({"lives": ["--mib", "5", "--spread", "3"], "smaller": ["--mib", "4", "--spread", "3"], "dies": ["--fail", "2"]},
                                            gates=["server.peak_rss_bytes<=+2%"])}
    for number in (1, 2):
        place.experiment(f"fresh-{number}", config, "--repeats", 12, "--seed", 35, "--shard", f"{number}/2")
    place.call("merge", "fresh-1", "fresh-2", "--out", "fresh_shards")


FRESH = [fresh_variants, fresh_savings, fresh_growth, fresh_shards]


def without_owner(file):
    file.uid = file.gid = 0
    file.uname = file.gname = ""
    file.mode = 0o644
    return file


def main():
    memduel, directory, *names = sys.argv[1:]
    place = Place(memduel, directory)
    for run in STORED:
        if names and run.__name__ not in names:
            continue
        shutil.rmtree(place.directory / run.__name__, ignore_errors=True)
        run(place)
        print(run.__name__)
    with tarfile.open(place.directory / "runs.tar.xz", "w:xz", preset=9) as archive:
        for run in STORED:
            archive.add(place.directory / run.__name__ / "run.sqlite", f"{run.__name__}/run.sqlite", filter=without_owner)


if __name__ == "__main__":
    main()
