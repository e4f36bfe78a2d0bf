#!/usr/bin/env python3
"""memduel run --launcher slurm on a real Slurm of two nodes: whatever dies in between, every trial is there once at the end.

    tests/slurm/launcher.py MEMDUEL [CHECK…]      exit 77: not root, or no Slurm here

What a run must hold follows from its plan: so many blocks of two arms, a warm-up of each, no failed trial.
"""
import collections
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import time

from cluster import cluster, duel_in, is_possible, run, wait_for


def results_of(out):
    return json.loads((out / "results.json").read_text())


def expect_every_trial_once(out, blocks):
    results = results_of(out)
    measured = collections.Counter((trial["block"], trial["variant"]) for trial in results["trials"] if trial["kind"] == "measure")
    assert measured == {(block, arm): 1 for block in range(1, blocks + 1) for arm in "ab"}, measured
    assert all(trial["status"] == "ok" for trial in results["trials"]), results["trials"]
    assert not [note for note in results["warnings"] if note["code"] == "shard_missing"], results["warnings"]


def is_empty():
    return not run("squeue", "--noheader")


def start(memduel, config, out, *options, **streams):
    return subprocess.Popen([memduel, "run", config, "--launcher", "slurm", "--out", out, *map(str, options)], **streams)


def workers(share):
    """Processes of memduel that write a share, by their command lines."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(share) in words and b"--shard" in words:
            found.append(int(entry.parent.name))
    return found


def task_of(out, share):
    task = json.loads((pathlib.Path(f"{out}.shards") / "slurm.json").read_text())["tasks"][share - 1]
    return f"{task['job']}_{task['index']}"


def kill_worker(out, share):
    directory = pathlib.Path(f"{out}.shards/shard-{share}")
    wait_for(f"a first trial of {directory}", 60, lambda: (directory / "run.sqlite").exists() and workers(directory))
    time.sleep(1)
    for pid in workers(directory):
        os.kill(pid, signal.SIGKILL)


def whatever_dies(memduel, place):
    """The submitter, a worker, and a task is requeued; an array holds two tasks at most, so that there are two of them."""
    out = place / "dies"
    submitter = start(memduel, duel_in(place), out, "--repeats", 18, "--shards", 3, "--quiet")
    wait_for("a first trial", 60, lambda: pathlib.Path(f"{out}.shards/shard-1/run.sqlite").exists())
    submitter.send_signal(signal.SIGKILL)
    submitter.wait()
    run("scontrol", "requeue", task_of(out, 1))
    kill_worker(out, 2)
    wait_for("requeueing", 60, lambda: "PENDING" in run("squeue", "--noheader", "--format=%T", f"--jobs={task_of(out, 1)}"))
    run("scontrol", "update", f"jobid={task_of(out, 1)}", "StartTime=now")
    said = run(memduel, "run", place / "duel.json", "--launcher", "slurm", "--repeats", 18, "--out", out, "--resume")
    assert re.search(r"shard 2 of 3 ended early: FAILED \(job \d+_2\).*; it is submitted again", said), said
    expect_every_trial_once(out, 18)
    assert [one["shard"] for one in results_of(out)["environment"]["shards"]] == ["1/3", "2/3", "3/3"]
    assert task_of(out, 3).endswith("_1"), "the third is the first of a second array"


def a_lost_share(memduel, place):
    """Is named, and measured by --resume."""
    out = place / "lost"
    options = ("--repeats", 8, "--shards", 2, "--retries", 0)
    waiting = start(memduel, duel_in(place), out, *options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    kill_worker(out, 2)
    said, _ = waiting.communicate(timeout=240)
    assert "shard 2 of 2 ended early: FAILED" in said and "it is not retried" in said, said
    [missing] = [note for note in results_of(out)["warnings"] if note["code"] == "shard_missing"]
    assert missing["message"].startswith("shard 2/2 was not finished: of blocks 5 to 8"), missing
    run(memduel, "run", place / "duel.json", "--launcher", "slurm", "--out", out, *options, "--resume")
    expect_every_trial_once(out, 8)
    assert pathlib.Path(f"{out}.shards/merged-1/run.sqlite").exists(), "what was merged before is kept"


def a_terminal(memduel, place):
    """Ctrl-C offers to cancel; what was measured stays. Without a terminal the tasks go on."""
    out = place / "interrupted"
    options = ("--repeats", 12, "--shards", 2)
    master, terminal = pty.openpty()
    waiting = start(memduel, duel_in(place), out, *options, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    wait_for("a first trial", 60, lambda: pathlib.Path(f"{out}.shards/shard-1/run.sqlite").exists())
    waiting.send_signal(signal.SIGINT)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(master, 4096)
    os.write(master, b"y\n")
    assert waiting.wait(60) == 130
    os.close(master)
    wait_for("cancelling", 60, is_empty)

    waiting = start(memduel, duel_in(place), out, *options, "--resume", stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for("new tasks", 60, lambda: not is_empty())
    time.sleep(2)
    waiting.send_signal(signal.SIGINT)
    _, said = waiting.communicate(timeout=60)
    assert waiting.returncode == 130 and re.search(r"scancel \d+ ends them", said), said
    assert not is_empty()
    run(memduel, "run", place / "duel.json", "--launcher", "slurm", "--out", out, *options, "--resume")
    expect_every_trial_once(out, 12)


def a_silent_controller(memduel, place):
    out = place / "silent"
    waiting = start(memduel, duel_in(place), out, "--repeats", 8, "--shards", 2, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_for("a first trial", 60, lambda: pathlib.Path(f"{out}.shards/shard-1/run.sqlite").exists())
    controller = int((place / "cluster/slurmctld.pid").read_text())
    os.kill(controller, signal.SIGTERM)
    wait_for("the controller's end", 60, lambda: not pathlib.Path(f"/proc/{controller}").exists())
    said = ""
    while "Slurm does not respond; retrying" not in said:
        line = waiting.stdout.readline()
        assert line, said
        said += line
    run("slurmctld")
    rest, _ = waiting.communicate(timeout=300)
    assert waiting.returncode == 0, said + rest
    expect_every_trial_once(out, 8)


def refusals(memduel, place):
    out = place / "refused"
    said = run(memduel, "run", duel_in(place), "--launcher", "slurm", "--repeats", 4, "--shards", 2, "--partition", "nowhere", "--out", out, expect=3)
    assert "invalid partition specified: nowhere" in said, said
    assert not list(place.glob("refused*")), "nothing is left of it"


def a_suite(memduel, place):
    """The same trials here and there."""
    for name in ("one", "two"):
        duel_in(place, name)
    suite = place / "suite.json"
    suite.write_text(json.dumps({"name": "night", "experiments": [{"config": "one.json"}, {"config": "two.json"}]}))
    run(memduel, "run", suite, "--repeats", 6, "--out", place / "here")
    run(memduel, "run", suite, "--repeats", 6, "--launcher", "slurm", "--out", place / "there")
    for name in ("one", "two"):
        here, there = (collections.Counter((trial["kind"], trial["variant"]) for trial in results_of(place / side / name)["trials"]) for side in ("here", "there"))
        assert here == there and here["measure", "a"] == 6, (here, there)


SERVER = """
import http.server, os, signal, sys
def stop(*_):
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print("on", os.environ["SLURMD_NODENAME"], "peak", peak, flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, stop)
kept = bytearray(b"x") * (int(sys.argv[2]) << 20)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
CLIENT = """
import os, sys, time, urllib.request
kept = bytearray(b"x") * (40 << 20)
for _ in range(5):
    urllib.request.urlopen(urllib.request.Request("http://" + sys.argv[1], data=b"y" * (1 << 20))).read()
    time.sleep(0.1)
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print("on", os.environ["SLURMD_NODENAME"], "peak", peak, flush=True)
"""
STANDS_BY = """
import os, time
print("on", os.environ["SLURMD_NODENAME"], flush=True)
kept = bytearray(b"x") * (25 << 20)
time.sleep(3600)
"""


def roles_on_two_nodes(memduel, place):
    """A server here, two clients and a process that has to be stopped there, each measured where it runs."""
    for name, text in (("server", SERVER), ("client", CLIENT), ("by", STANDS_BY)):
        (place / f"{name}.py").write_text(text)
    server = lambda mib: ["/usr/bin/python3", str(place / "server.py"), "{port:web}", str(mib)]
    config = place / "spread.json"
    config.write_text(json.dumps({
        "name": "spread",
        "workload": {"kind": "command", "processes": [
            {"role": "server", "argv": server(30), "ready": {"port": "web"}, "end": "stop"},
            {"role": "by", "node": 2, "argv": ["/usr/bin/python3", str(place / "by.py")], "end": "stop"},
            {"role": "client", "count": 2, "node": 2, "argv": ["/usr/bin/python3", str(place / "client.py"), "{node:server}:{port:web}"], "after": ["server"]},
        ]},
        "variants": [{"name": "a"}, {"name": "b", "argv": {"server": server(20)}}],
        "baseline": "a",
    }))
    out = place / "spread"
    run(memduel, "run", config, "--launcher", "slurm", "--nodes", 2, "--shards", 1, "--repeats", 4, "--retries", 0, "--out", out)
    results = results_of(out)
    measured = [trial for trial in results["trials"] if trial["kind"] == "measure"]
    assert len(measured) == 8 and all(trial["status"] == "ok" for trial in measured), measured
    medians = {}
    for trial in measured:
        roles = {role["role"]: role for role in trial["roles"]}
        assert "all" not in roles, "no machine has all of it"
        for role, where in (("server", "n1"), ("client-1", "n2"), ("client-2", "n2")):
            log = (out / f"logs/{trial['id']}-{role}.stdout").read_text()
            node, peak = re.fullmatch(r"on (\w+) peak (\d+)\n", log).groups()
            assert node == where, log
            assert abs(roles[role]["metrics"]["peak_rss_bytes"] - int(peak) * 1024) <= 1 << 20, (roles[role]["metrics"], peak)
        assert (out / f"logs/{trial['id']}-by.stdout").read_text() == "on n2\n"
        assert roles["by"]["metrics"]["peak_rss_bytes"] > 25 << 20
        medians.setdefault(trial["variant"], []).append(roles["server"]["metrics"]["peak_rss_bytes"])
    saved = sorted(medians["a"])[1] - sorted(medians["b"])[1]
    assert abs(saved - (10 << 20)) < 1 << 20, saved
    said = run(memduel, "run", config, "--repeats", 4, "--out", place / "alone", expect=3)
    assert "this is not a Slurm batch job" in said, said


def main():
    memduel = pathlib.Path(sys.argv[1]).resolve()
    if not is_possible():
        print("launcher: needs root and Slurm")
        return 77
    with cluster("MaxArraySize=3") as place:
        checks = (refusals, whatever_dies, a_lost_share, a_terminal, a_silent_controller, a_suite, roles_on_two_nodes)
        for check in checks:
            if sys.argv[2:] and check.__name__ not in sys.argv[2:]:
                continue
            begin = time.monotonic()
            check(memduel, place)
            print(f"{check.__name__}: {time.monotonic() - begin:.0f} s", flush=True)
    return 0


sys.exit(main())
