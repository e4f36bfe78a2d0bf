#!/usr/bin/env python3
"""An experiment in shares on a real Slurm of two nodes: a task is requeued in the middle, and every trial is there once all the same.

    tests/slurm/shares.py MEMDUEL      exit 77: not root, or no Slurm here

The cluster is scripts/slurm/up.sh's. What the merged run must hold follows from the plan: 12 blocks of two arms, a warm-up of each, no failed trial.
"""
import collections
import json
import pathlib
import sys
import time

from cluster import cluster, duel_in, is_possible, run, wait_for

BLOCKS, SHARES, SEED = 12, 3, 5


def check(results):
    measured = collections.Counter((trial["block"], trial["variant"]) for trial in results["trials"] if trial["kind"] == "measure")
    expected = {(block, arm): 1 for block in range(1, BLOCKS + 1) for arm in "ab"}
    assert measured == expected, f"every trial once: {measured}"
    assert sum(trial["kind"] == "warmup" for trial in results["trials"]) == 2
    assert [trial["id"] for trial in results["trials"]] == list(range(1, len(results["trials"]) + 1))
    assert [one["shard"] for one in results["environment"]["shards"]] == [f"{i}/{SHARES}" for i in range(1, SHARES + 1)]
    assert not any(note["code"] == "shard_missing" for note in results["warnings"]), results["warnings"]
    row = next(c for c in results["comparisons"] if c["role"] == "all" and c["metric"] == "peak_rss_bytes")
    saved = row["baseline_median"] - row["candidate_median"]
    assert abs(saved - (10 << 20)) < 1 << 20, saved
    assert row["verdict"] == "improved", row


def main():
    memduel = pathlib.Path(sys.argv[1]).resolve()
    if not is_possible():
        print("shares: needs root and Slurm")
        return 77
    with cluster() as place:
        out = place / "out"
        out.mkdir()
        script = place / "duel.sh"
        script.write_text(run(memduel, "plan", duel_in(place), "--slurm", SHARES, "--repeats", BLOCKS, "--seed", SEED, "--out", out))
        job = run("sbatch", "--parsable", script).strip()
        wait_for("a first trial", 60, lambda: (out / "shard-1/run.sqlite").exists())
        time.sleep(2)
        run("scontrol", "requeue", f"{job}_1")
        wait_for("requeueing", 60, lambda: "PENDING" in run("squeue", "--noheader", "--format=%T", f"--jobs={job}_1"))
        run("scontrol", "update", f"jobid={job}_1", "StartTime=now")
        wait_for("the job", 240, lambda: not run("squeue", "--noheader"))
        logs = "".join(file.read_text() for file in sorted(out.glob("log-*.txt")))
        for share in range(1, SHARES + 1):
            assert f"shard {share}/{SHARES} is in" in logs, logs
        run(memduel, "merge", *sorted(out.glob("shard-*")), "--out", out / "run")
        check(json.loads((out / "run/results.json").read_text()))
    print(f"{SHARES} shares, one requeued: every one of {BLOCKS} blocks is there once")
    return 0


sys.exit(main())
