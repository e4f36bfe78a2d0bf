"""Copies of a run's results and formats in which one number or word is wrong: the recomputation must find each."""
import base64
import copy
import gzip
import json
import re

import printed


def is_alterable(row):
    return row["p_value"] is not None and row["ratio"] and None not in (row["ci_low"], row["ci_high"]) and 0.02 < row["p_value"] < 0.9


def of_results(results):
    """Copies of a results.json in which one number or word is wrong."""
    tested = next(i for i, row in enumerate(results["comparisons"]) if is_alterable(row))
    for name, change in {
        "a median": lambda row: row.update(baseline_median=row["baseline_median"] * 1.001),
        "the estimate": lambda row: row.update(ratio=row["ratio"] * 1.0001),
        "an end of the interval": lambda row: row.update(ci_low=row["ci_low"] * 0.999),
        "p": lambda row: row.update(p_value=row["p_value"] * 1.1),
        "the corrected p": lambda row: row.update(p_adjusted=row["p_adjusted"] * 0.5),
        "the number of orders": lambda row: row.update(reference_orders=row["reference_orders"] + 1),
        "the margin": lambda row: row.update(margin=row["margin"] * 2),
        "the verdict": lambda row: row.update(verdict={"improved": "regressed", "unchanged": "improved"}.get(row["verdict"], "unchanged")),
    }.items():
        altered = copy.deepcopy(results)
        change(altered["comparisons"][tested])
        yield name, altered
    if results["gates"]:
        altered = copy.deepcopy(results)
        altered["gates"][0]["outcome"] = "failed" if altered["gates"][0]["outcome"] != "failed" else "passed"
        yield "a gate's outcome", altered
        altered = copy.deepcopy(results)
        altered["gates"][0]["exit_code"] += 1
        yield "a gate's exit code", altered
    altered = copy.deepcopy(results)
    altered["overall"]["exit_code"] = 4
    yield "the exit code", altered
    if results["growth"]:
        altered = copy.deepcopy(results)
        altered["growth"][0]["trial_slopes"][0]["slope"] += 1000
        yield "a trial's slope", altered
    altered = copy.deepcopy(results)
    trial = next(t for t in altered["trials"] if t["kind"] == "measure" and t["status"] == "ok")
    role = next(r for r in trial["roles"] if r["role"] == results["comparisons"][tested]["role"])
    role["metrics"][results["comparisons"][tested]["metric"]] = 1.0
    yield "a trial's value", altered


def of_formats(formats):
    """Copies of the formats in which one says something else."""
    changes = {
        "markdown": (r"\| (regressed|improved) \|", "| unchanged |"),
        "text": (r" (regressed|improved)\n", " unchanged\n"),
        "junit": (r"<failure ", "<skipped "),
        "github": (r"::error ", "::notice "),
    }
    for kind, (pattern, replacement) in changes.items():
        yield kind, {**formats, kind: re.sub(pattern, replacement, formats[kind], count=1)}
    yield "markdown", {**formats, "markdown": re.sub(r"(\d)(% \|)", lambda m: str((int(m.group(1)) + 5) % 10) + m.group(2), formats["markdown"], count=1)}
    page = printed.page_data(formats["html"])
    page["results"]["comparisons"][0]["n_candidate"] += 1
    yield "html", {**formats, "html": f'<script id="memduel-data">{base64.b64encode(gzip.compress(json.dumps(page).encode())).decode()}</script>'}
