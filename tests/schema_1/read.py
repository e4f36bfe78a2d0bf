#!/usr/bin/env python3
"""Runs that memduel measured before schema 2, through this memduel: the same numbers under the new names.

    read.py MEMDUEL

runs.tar.xz has run directories of schema 1: two commands (plain), profiled trials with RSS snapshots (owners), an ablation with a provider, a watched command,
two shards, a run with a calibration, and one that was interrupted. Their results.json is the expectation.
"""
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MEMDUEL = str(pathlib.Path(sys.argv[1]).resolve())
DOCS = HERE.parents[1] / "docs/schema-1.md"


def documented(section):
    """Old name -> (new name, where) in a table of docs/schema-1.md."""
    found = {}
    for row in re.findall(r"^\| (`.*) \| (`.*) \| (.*) \|$", DOCS.read_text().split(f"## {section}\n")[1].split("## ")[0], re.MULTILINE):
        old, new = (re.findall("`(.*?)`", cell) for cell in row[:2])
        found.update({name: (now, row[2]) for name, now in zip(old, new, strict=True)})
    return found


KEYS = {old: new for old, (new, _) in documented("Keys").items()}
OWNERS = {old: new for old, (new, where) in documented("Names").items() if where.startswith(("owners", "`heap`"))}
NAMES = {old: new for old, (new, _) in documented("Names").items() if old not in OWNERS}
# Lists whose rows are compared field by field; `why` fields are sentences, in which names stand as well.
ROWS = ("comparisons", "growth", "gates", "differences", "difference_totals", "resident", "ablation", "ablation_totals", "perturbation", "trials", "equivalence")


def call(place, *arguments):
    return subprocess.run([MEMDUEL, *map(str, arguments)], cwd=place, capture_output=True, text=True)


def results_of(place, *arguments):
    done = call(place, *arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return json.loads(done.stdout)


# What is written for people, which later versions word better, and what earlier versions did not have.
WORDS = {"reason", "formula"}
ADDED = {"location"}
ESTIMATED = {"blocks_needed"}  # advice, estimated from the results when they are read


def renamed(value, key=""):
    """A value of results.json of schema 1 as schema 2 has it; `shares` of bytes and `blocks` of trials keep their names."""
    if isinstance(value, dict):
        kept = {"share"} if "bytes" in value else {"blocks"} if "file" in value else set()
        row = {name if name in kept else NAMES.get(name, KEYS.get(name, name)): renamed(one, name) for name, one in value.items() if name not in WORDS | ADDED | ESTIMATED}
        if value.get("kind") == "resident" and value.get("stack"):
            row["stack"] = [OWNERS.get(value["stack"][0], value["stack"][0]), *value["stack"][1:]]
        return row
    if isinstance(value, list):
        return [renamed(one, key) for one in value]
    if isinstance(value, str):
        return OWNERS.get(value, value) if key in ("owner", "memory", "heap") else NAMES.get(value, value).replace("tree.", "all.")
    return value


def without_words(value):
    if isinstance(value, dict):
        return {name: without_words(one) for name, one in value.items() if name not in WORDS | ADDED | ESTIMATED}
    return [without_words(one) for one in value] if isinstance(value, list) else value


def comparable(rows):
    """Rows that no gate asks about without what depends on which rows are corrected together, a rule that changed since."""
    return [{name: value for name, value in row.items() if row.get("gate") is not False or name not in ("p_adjusted", "correction", "verdict", "tier")} for row in rows]


def place_of(row):
    return [row.get(name) for name in ("switch", "role", "metric", "phase")]


def digests(directory):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir() if path.is_file()}


def check_report(place, run):
    before = digests(place / run)
    results = results_of(place, "report", run, "--format", "json")
    expected = json.loads((place / run / "results.json").read_text())
    assert expected["schema"] == "memduel.results/1" and results["schema"] == "memduel.results/2", run
    for name in ROWS:
        old, new = renamed(expected[name]), without_words(results[name])
        if name == "comparisons":
            old, new = comparable(old), comparable(new)
        if name.startswith("ablation"):  # which has rows of the peak RSS, too, since
            new = [row for row in new if row["metric"] != "peak_rss_bytes" or any(place_of(row) == place_of(one) for one in old)]
        assert old == new, (run, name, [pair for pair in zip(old, new) if pair[0] != pair[1]][:1] or (len(old), len(new)))
    assert expected["overall"] == results["overall"], run
    assert digests(place / run) == before, f"{run}: reading it wrote to it"
    assert call(place, "check", run).returncode == expected["overall"]["exit_code"], run
    assert call(place, "explain", run, "all.peak_rss_bytes").returncode == 0, run


def check_merge(place):
    done = call(place, "merge", "shard-1", "shard-2", "--out", "merged")
    assert done.returncode == 0, done.stderr
    merged = json.loads((place / "merged" / "results.json").read_text())
    assert [one["shard"] for one in merged["environment"]["shards"]] == ["1/2", "2/2"]
    assert {row["role"] for row in merged["comparisons"]} == {"server", "all"}
    assert {gate["gate"] for gate in merged["gates"]} == {"all.peak_heap_bytes<=+1%", "server.peak_rss_bytes<=+2%"}
    assert results_of(place, "report", "merged", "--format", "json")["gates"] == merged["gates"]


def check_compare(place):
    shutil.copy(place / "plain" / "results.json", place / "plain.json")
    for pair in (("plain", "plain"), ("plain.json", "plain"), ("plain.json", "plain.json"), ("owners", "interrupted")):
        done = call(place, "compare", *pair, "--out", "compared", "--gate", "all.peak_rss_bytes<=+900%")
        assert done.returncode == 0, (pair, done.stderr)
        shutil.rmtree(place / "compared")
    old = call(place, "compare", "plain", "plain", "--gate", "tree.peak_rss_bytes<=+900%")
    assert old.returncode == 2 and "it was renamed: write all.peak_rss_bytes<=+900%" in old.stderr, old.stderr
    later = json.loads((place / "plain.json").read_text())
    later["schema"] = "memduel.results/3"
    (place / "later.json").write_text(json.dumps(later))
    done = call(place, "compare", "later.json", "plain")
    assert done.returncode == 4 and "later.json at /schema: schema is 'memduel.results/3', expected 'memduel.results/2' or 'memduel.results/1'" in done.stderr, done.stderr


def check_resume(place):
    config = json.loads((place / "interrupted" / "config.json").read_text())
    config["variants"] = config.pop("arms")
    config["profile"]["profilers"] = config["profile"].pop("tracers")
    (place / "config.json").write_text(json.dumps(config))
    before = digests(place / "interrupted")
    done = call(place, "run", "config.json", "--out", "interrupted", "--resume")
    assert done.returncode == 2, done
    assert "interrupted: cannot resume: an earlier memduel started it" in done.stderr, done.stderr
    assert "finish it with the memduel that started it, or use another --out" in done.stderr, done.stderr
    assert digests(place / "interrupted") == before


def main():
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        with tarfile.open(HERE / "runs.tar.xz") as archive:
            archive.extractall(place)
        for run in ("plain", "owners", "ablation", "watch", "calibrated"):
            check_report(place, run)
        check_merge(place)
        check_compare(place)
        check_resume(place)


main()
