#!/usr/bin/env python3
"""Runs questions of examples/ under memduel beside an own sampler of resident sets, and computes the estimate and the interval of each row of
peak RSS a second time: from the sampler's peaks, by the test of tests/recomputation at the row's level. The order of the trials and their times are
memduel's. A row whose ends differ by more than a point, or lie on another side of no change, is printed with "no". Exit status: 1 then, and
where there is no row.

    tests/foreign/verdicts.py [--out DIR] [--rows FILE.md] QUESTION ...
                                  # QUESTION: flower/arenas, nvflare/memory:default,two-arenas …
"""

import argparse
import copy
import json
import math
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "recomputation"))

from frameworks import EXAMPLES, FRAMEWORKS
from recompute import Recomputation, config_of
from rows import Row
from sampler import Sampler

MEMDUEL = os.environ.get("MEMDUEL", str(EXAMPLES.parent / "build/release/bin/memduel"))

# How far an estimate or an end of an interval may differ: both samplers miss different moments of a peak.
ENDS_APART = 0.01

# Where the roles are not those of frameworks.py: role to a pattern on the commands of its processes.
OTHER_ROLES = {
    "flower/simulation": {"worker": "^ray::ClientAppActor", "simulation": "bin/flwr-simulation"},
    "nvflare/poc": {"server-job": "nvflare.private.fed.app.server.runner_process",
                    "client-1": "nvflare.private.fed.app.client.worker_process .*prod_00/site-1 ",
                    "client-2": "nvflare.private.fed.app.client.worker_process .*prod_00/site-2 "},
}


def roles_of(question):
    config = question.partition(":")[0]
    roles = OTHER_ROLES.get(config) or FRAMEWORKS[config.split("/")[0]].roles
    # ClientApps and the command line live for as little as a second: two samplers see different peaks.
    return {role: re.compile(pattern) for role, pattern in roles.items() if role not in ("clientapp", "cli")}


def run(question, directory):
    config, _, variants = question.partition(":")
    command = [MEMDUEL, "run", str(EXAMPLES / f"{config}.json"), *(["--variants", variants] if variants else []), "--out", str(directory)]
    with open(f"{directory}.txt", "w") as out, open(f"{directory}.err", "w") as progress:
        process = subprocess.Popen(command, stdout=out, stderr=progress)
        # Twenty processes for minutes: to look each millisecond would take a core.
        with Sampler(process.pid, 0.004, 0.1) as sampler:
            process.wait()
    return sampler


def with_sampled_peaks(results, sampler, roles):
    """The results with the sampler's peaks in place of memduel's, for the roles that have a pattern. Prints how far they are apart."""
    sampled, apart = copy.deepcopy(results), {}
    for trial in sampled["trials"]:
        for role in trial["roles"]:
            if role["role"] in roles and "peak_rss_bytes" in role["metrics"]:
                peak = sampler.peak(roles[role["role"]], trial["begin_ns"], trial["end_ns"])
                if peak is None:
                    sys.exit(f"verdicts.py: the sampler saw no process of {role['role']} in trial {trial['id']}")
                apart.setdefault(role["role"], []).append(peak / role["metrics"]["peak_rss_bytes"])
                role["metrics"]["peak_rss_bytes"] = peak
    for role, ratios in apart.items():
        print(f"{role}: of {len(ratios)} peaks the sampler's are {percent(min(ratios))}% to {percent(max(ratios))}%", file=sys.stderr)
    return sampled


def decided_again(recomputation, row):
    """(change, low, high) of a row by the values of its trials, as ratios; None where it has no test."""
    if row["p_value"] is None:
        return None
    gates = sum(1 for one in recomputation.results["comparisons"] if one["gate"])
    mine = Row(recomputation.run, row["candidate"], row["role"], row["metric"], gates if row["gate"] else 1)
    orders = [math.prod(len(deals) for deals in option) for _, option in mine.options]
    mine.take(orders.index(row["reference_orders"]))
    mine.finish()
    mine.alpha, level = recomputation._levels(row)
    return tuple(mine.shown(end) for end in (mine.effect, *recomputation._interval(mine, level)))


def side(low, high):
    """Which side of no change an interval lies on: -1, 1, or 0 where it has no change inside."""
    return (low > 1) - (high < 1)


def percent(ratio):
    return f"{100 * (ratio - 1):+.1f}".replace("-", "−")


def compare(question, directory, sampler):
    """Markdown rows, and whether every row's sign and interval came out the same."""
    results = json.loads((directory / "results.json").read_text())
    roles = roles_of(question)
    largest = {role.rpartition("-")[0] + "_max" for role in roles}
    sampled = with_sampled_peaks(results, sampler, roles)
    recomputation = Recomputation(question, sampled, config_of(directory))
    lines, same = [], True
    for row in results["comparisons"]:
        if row["metric"] != "peak_rss_bytes" or row["role"] not in {*roles, *largest}:
            continue
        again = decided_again(recomputation, row)
        if again is None:
            continue
        ours = (row["ratio"], row["ci_low"], row["ci_high"])
        if None in (*ours, *again):
            continue
        agrees = side(*ours[1:]) == side(*again[1:]) and all(abs(x - y) <= ENDS_APART for x, y in zip(ours, again))
        same &= agrees
        form = lambda change: f"{percent(change[0])}% ({percent(change[1])} to {percent(change[2])})"
        lines.append(f"| {question} | {row['role']} | {row['baseline']} → {row['candidate']} | {form(ours)} | {form(again)} | {'yes' if agrees else '**no**'} |")
        print(lines[-1], flush=True)
    return lines, same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/verdicts"), help="folder of the runs")
    parser.add_argument("--rows", type=pathlib.Path, help="file that gets the rows, as Markdown")
    parser.add_argument("questions", nargs="+", metavar="QUESTION")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows, same = [], True
    for question in options.questions:
        directory = options.out / re.sub("[/:,]", "-", question)
        if directory.exists():
            sys.exit(f"verdicts.py: {directory} exists; name another folder with --out")
        sampler = run(question, directory)
        if not (directory / "results.json").exists():
            sys.exit(f"verdicts.py: memduel wrote no results for {question}; its messages are in {directory}.err")
        lines, agree = compare(question, directory, sampler)
        if not lines:
            sys.exit(f"verdicts.py: {question} has no row of peak RSS with an interval")
        rows += lines
        same &= agree
    if options.rows:
        options.rows.write_text("\n".join(rows) + "\n")
    sys.exit(not same)


if __name__ == "__main__":
    main()
