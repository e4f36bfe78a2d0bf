#!/usr/bin/env python3
"""An experiment in shares on a real Slurm of two nodes: a task is requeued in the middle, and every trial is there once all the same.

    tests/slurm/shares.py MEMDUEL      exit 77: not root, or no Slurm here

The cluster is scripts/slurm/up.sh's. What the merged run must hold follows from the plan: 12 blocks of two arms, a warm-up of each, no failed trial.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCKS, SHARES, SEED = 12, 3, 5
HOLDS = "import time; x = bytearray({} << 20); time.sleep(0.5)"


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"shares: {' '.join(map(str, words))} exited with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def wait_for(what, seconds, condition):
    for _ in range(seconds * 5):
        if condition():
            return
        time.sleep(0.2)
    sys.exit(f"shares: {what} took more than {seconds} s")


def duel_in(place):
    config = place / "duel.json"
    command = lambda mib: ["/usr/bin/python3", "-c", HOLDS.format(mib)]
    config.write_text(json.dumps({
        "name": "duel",
        "workload": {"kind": "command", "processes": [{"role": "command", "argv": command(30)}]},
        "arms": [{"name": "a"}, {"name": "b", "argv": {"command": command(20)}}],
        "baseline": "a",
    }))
    return config


def check(results):
    measured = collections.Counter((trial["block"], trial["arm"]) for trial in results["trials"] if trial["kind"] == "measure")
    expected = {(block, arm): 1 for block in range(1, BLOCKS + 1) for arm in "ab"}
    assert measured == expected, f"every trial once: {measured}"
    assert sum(trial["kind"] == "warmup" for trial in results["trials"]) == 2
    assert [trial["id"] for trial in results["trials"]] == list(range(1, len(results["trials"]) + 1))
    assert [one["share"] for one in results["environment"]["shares"]] == [f"{i}/{SHARES}" for i in range(1, SHARES + 1)]
    assert not any(note["code"] == "share_missing" for note in results["warnings"]), results["warnings"]
    row = next(c for c in results["comparisons"] if c["role"] == "tree" and c["metric"] == "peak_rss_bytes")
    saved = row["baseline_median"] - row["candidate_median"]
    assert abs(saved - (10 << 20)) < 1 << 20, saved
    assert row["verdict"] == "improved", row


def main():
    memduel = pathlib.Path(sys.argv[1]).resolve()
    if os.geteuid() != 0 or not all(map(shutil.which, ("munged", "slurmctld", "slurmd", "sbatch"))):
        print("shares: needs root and Slurm")
        return 77
    place = pathlib.Path(tempfile.mkdtemp(prefix="memduel-slurm-"))
    cluster = place / "cluster"
    try:
        run(ROOT / "scripts/slurm/up.sh", cluster)
        os.environ["SLURM_CONF"] = str(cluster / "slurm.conf")
        out = place / "out"
        out.mkdir()
        script = place / "duel.sh"
        script.write_text(run(memduel, "plan", duel_in(place), "--slurm", SHARES, "--repeats", BLOCKS, "--seed", SEED, "--out", out))
        job = run("sbatch", "--parsable", script).strip()
        wait_for("a first trial", 60, lambda: (out / "share-1/run.sqlite").exists())
        time.sleep(2)
        run("scontrol", "requeue", f"{job}_1")
        wait_for("requeueing", 60, lambda: "PENDING" in run("squeue", "--noheader", "--format=%T", f"--jobs={job}_1"))
        run("scontrol", "update", f"jobid={job}_1", "StartTime=now")
        wait_for("the job", 240, lambda: not run("squeue", "--noheader"))
        logs = "".join(file.read_text() for file in sorted(out.glob("log-*.txt")))
        for share in range(1, SHARES + 1):
            assert f"share {share}/{SHARES} is in" in logs, logs
        run(memduel, "merge", *sorted(out.glob("share-*")), "--out", out / "run")
        check(json.loads((out / "run/results.json").read_text()))
    finally:
        subprocess.run([ROOT / "scripts/slurm/down.sh", cluster], check=False)
        shutil.rmtree(place, ignore_errors=True)
    print(f"{SHARES} shares, one requeued: every one of {BLOCKS} blocks is there once")
    return 0


sys.exit(main())
