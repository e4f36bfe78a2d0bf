#!/usr/bin/env python3
"""A provider: makes jobs of workloads of kind "pool". docs/providers.md explains it line by line."""
import json
import sys

SWITCHES = [
    {"name": "reading", "summary": "how a worker reads its file",
     "values": [{"value": "whole", "summary": "all of it at once"},
                {"value": "lines", "summary": "one line after the other"}]},
    {"name": "numbers", "summary": "what a worker keeps its numbers in",
     "values": [{"value": "list", "summary": "a list of objects"},
                {"value": "array", "summary": "an array of doubles"}]}]
PRESETS = [{"name": "lean", "summary": "less memory", "switches": {"reading": "lines", "numbers": "array"}}]


def expand(request):
    workload = {"workers": 4, "rows": 200000, "rounds": 3, **request["workload"]}
    if not 1 <= workload["workers"] <= 64:
        sys.exit(f"$.workload.workers: expected 1 to 64, found {workload['workers']}")
    job = ["python3", "pool.py", "{trial_dir}", str(workload["workers"]), str(workload["rounds"])]
    return {
        "schema": "memduel.expanded/2",
        "workload": {
            "kind": "command",
            "reference": "coordinator",
            "prepare": [["python3", "pool.py", "{trial_dir}", str(workload["rows"]), "0", "rows"]],
            "processes": [
                {"role": "coordinator", "argv": job + ["coordinator"], "env": {"PYTHONPATH": "../../include/memduel"}},
                {"role": "worker", "count": workload["workers"], "rounds": "reference", "argv": job + ["worker", "{index}"],
                 "env": {"PYTHONMALLOC": "malloc"}}],  # every object is a block of its own that memduel counts
            "files": [{"name": "sum", "path": "{trial_dir}/sum.txt"}]},
        "variants": [{"name": arm["name"], "append": {"worker": [f"{name}={value}" for name, value in arm["switches"].items()]}}
                 for arm in request["variants"]],
        "default_gates": [{"role": "worker_max", "metric": "peak_heap_bytes"}]}


if sys.argv[1] == "catalogue":
    print(json.dumps({"schema": "memduel.catalogue/2", "name": "pool", "version": "1", "switches": SWITCHES, "presets": PRESETS}))
else:
    print(json.dumps(expand(json.load(sys.stdin))))
