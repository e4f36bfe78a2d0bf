#!/usr/bin/env python3
"""Recomputes every row and gate of a run from the trials in its results.json, and reads its six formats for contradictions.

    recompute.py MEMDUEL [--stored NAME,...|all|few] [--fresh]     of the runs in runs.tar.xz; --fresh: of three that it measures now
    recompute.py MEMDUEL --run DIR...                              of run directories

It shares no code with memduel: the rules are those of docs/method.md, in reference_orders.py, exact_test.py and rows.py. It lists
all contradictions and exits 1 if there is one. Last, it alters copies of a run's results.json and formats, and expects each alteration to be found.
"""
import argparse
import itertools
import json
import math
import pathlib
import re
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time

import alterations
import measure
import printed
from exact_test import NEAR, median
from rows import ALPHA, LEVEL_GROWTH, Row, Run, benjamini_hochberg, first_counted, holm, student, welch, westfall_young

HERE = pathlib.Path(__file__).resolve().parent


class Checker:
    """Of one run: what was compared, and what contradicts."""

    def __init__(self, name):
        self.name, self.compared, self.contradictions, self.open = name, 0, [], {}

    def equal(self, where, what, found, expected, tolerance=1e-9, absolute=0.0):
        self.compared += 1
        if found is None or expected is None:
            good = found is None and expected is None
        elif isinstance(found, (bool, str)) or isinstance(expected, (bool, str)):
            good = found == expected
        else:
            good = abs(found - expected) <= tolerance * max(abs(found), abs(expected)) + absolute
        if not good:
            self.contradictions.append(f"{where}: {what} is {found}, recomputed {expected}")
        return good

    def holds(self, where, good, what):
        self.compared += 1
        if not good:
            self.contradictions.append(f"{where}: {what}")

    def cannot(self, what):
        self.open[what] = self.open.get(what, 0) + 1


def minutes_per_round(counted):
    return (counted[-1]["end"] - counted[0]["end"]) / 60e9 / (counted[-1]["round"] - counted[0]["round"])


def key_of(row):
    return row["candidate"], row["role"], row["metric"]


def parse_gate(text):
    """(role, metric, bounds); a bound is ("share"|"amount"|"ceiling", value), below 0 where it asks for an improvement; the list is empty for `margin`."""
    text, _, _ = text.partition(":advisory")
    left, _, right = text.partition("<=")
    role, _, metric = left.rpartition(".")
    if right == "margin":
        return role, metric, []
    bounds = []
    for part in right.split("|"):
        match = re.match(r"^([+-]?)([\d.eE+-]+?)\s*(%|[KMGT]i?B|B|ns|us|ms|s|min|h|pp)?(/\w+)?$", part)
        sign, number, unit, _ = match.groups()
        value = float(sign + number) * (0.01 if unit == "%" else {"KB": 1e3, "MB": 1e6, "GB": 1e9}.get(unit, printed.UNIT.get(unit or "", 1)))
        bounds.append(("share" if sign and unit == "%" else "amount" if sign else "ceiling", value))
    return role, metric, bounds


class Recomputation:
    def __init__(self, name, results, config, on_inconclusive="beyond"):
        self.check = Checker(name)
        self.results = results
        self.run = Run(results, config)
        self.config = config
        self.on_inconclusive = on_inconclusive
        self.rows = {}

    def all(self):
        self.peaks()
        self.growth()
        self.comparisons()
        self.corrections_and_verdicts()
        self.reasons()
        self.gates()
        self.first_screen()
        return self.check

    # Peaks

    def peaks(self):
        """Of every role of every trial: above idle is peak minus idle, and the peak is that of the largest part of the trial."""
        for trial in self.results["trials"]:
            for role in trial["roles"]:
                where = f"trial {trial['id']} {role['role']}"
                metrics = role["metrics"]
                peak, idle, above = (metrics.get(name) for name in ("peak_rss_bytes", "idle_rss_bytes", "peak_rss_above_idle_bytes"))
                if idle is not None:
                    self.check.equal(where, "idle + above idle", idle + above, peak)
                parts = [part["metrics"].get("peak_rss_bytes") for part in role["rounds"]] + [part["peak_rss_bytes"] for part in role.get("outside_rounds", [])]
                parts = [part for part in parts if part is not None]
                if peak is not None and parts:
                    self.check.equal(where, "peak of the parts", max(parts), peak)

    # Growth

    def growth(self):
        run, check = self.run, self.check
        self.slopes = {}
        for row in self.results["growth"]:
            where = f"growth {row['variant']} {row['role']}.{row['metric']}"
            slopes = [one["slope"] for one in row["trial_slopes"]]
            self.slopes[row["variant"], row["role"], row["metric"]] = row
            if not slopes:
                check.equal(where, "slope", row["slope"], None)
                continue
            check.equal(where, "slope", row["slope"], sum(slopes) / len(slopes))
            plain = {block: trial.value(row["role"], row["metric"]) for block, trial in run.trials[row["variant"]].items()}
            rounds = {block: trial.ends.get(row["role"], []) for block, trial in run.trials[row["variant"]].items()}
            if len(slopes) < 3:
                check.equal(where, "method", row["method"], "")
                check.equal(where, "interval", row["ci_low"], None)
                continue
            if any(rounds.values()):
                # Unless a shape was taken out, a trial's slope is the line through its rounds.
                same = all(plain.get(one["block"]) is not None and abs(plain[one["block"]] - one["slope"]) <= 1e-6 * max(1, abs(one["slope"]), row["resolution"])
                           for one in row["trial_slopes"])
                if not same:
                    check.cannot("slopes whose shape (warm-up, jumps, resets) was taken out")
                check.equal(where, "resolution", row["resolution"], self._resolution(row, rounds), 1e-6)
            else:
                check.cannot("slopes over time: samples are not in results.json")
            low, high = student(slopes, row["resolution"], 1 - row["confidence"])
            check.equal(where, "ci_low", row["ci_low"], low, 1e-8, 1e-6)
            check.equal(where, "ci_high", row["ci_high"], high, 1e-8, 1e-6)

    def _resolution(self, row, rounds):
        """1.5 pages (of the heap: bytes) over the counted rounds that all trials have."""
        counted = []
        for ends in rounds.values():
            part = ends[first_counted(len(ends), self.run.warmup):]
            if len(part) >= 3:
                counted.append(part)
        common = sorted(set.intersection(*({r["round"] for r in part} for part in counted)))
        length = common[-1] - common[0]
        if row["metric"] == "rss_growth_bytes_per_minute":
            length *= median([minutes_per_round(part) for part in counted])
        reading = 1 if row["metric"] == "heap_growth_bytes_per_round" else 4096
        return 1.5 * reading / length

    # Rows

    def gate_row(self, candidate, role, metric, advisory):
        return any(g["candidate"] == candidate and g["role"] == role and g["metric"] == metric and g["advisory"] == advisory
                   for g in self.results["gates"])

    def comparisons(self):
        check, run = self.check, self.run
        rows = self.results["comparisons"]
        gate_rows = sum(1 for row in rows if row["gate"])
        distinct = len({(row["role"], row["metric"]) for row in rows if row["gate"]})
        alphas = set()
        for row in rows:
            where = " ".join(key_of(row))
            gates = gate_rows if row["gate"] else 1
            mine = Row(run, row["candidate"], row["role"], row["metric"], max(1, gates))
            self.rows[key_of(row)] = mine
            mine.of_growth = None
            a = self.slopes.get((run.baseline, row["role"], row["metric"]))
            b = self.slopes.get((row["candidate"], row["role"], row["metric"]))
            if a and b and a["trial_slopes"] and b["trial_slopes"]:
                mine.test = None
                self._growth_row(row, mine, a, b, where)
                continue
            check.equal(where, "n_baseline", row["n_baseline"], mine.n)
            check.equal(where, "n_candidate", row["n_candidate"], mine.n)
            check.equal(where, "baseline_median", row["baseline_median"], mine.baseline_median)
            finite = mine.candidate_median if mine.candidate_median is not None and math.isfinite(mine.candidate_median) else None
            check.equal(where, "candidate_median", row["candidate_median"], finite)
            if mine.n:
                check.equal(where, "baseline_max", row["baseline_max"], max(mine.pair.baseline))
                largest = max(mine.pair.candidate)
                check.equal(where, "candidate_max", row["candidate_max"], largest if math.isfinite(largest) else None)
                check.equal(where, "apart", row["apart"], mine.apart)
            check.equal(where, "exact", row["identical"], mine.exact)
            check.equal(where, "margin", row["margin"], math.expm1(mine.margin) if mine.is_log else mine.margin, 1e-9)
            if not mine.n:
                continue
            dead = mine.pair.failed > 0 and not math.isfinite(mine.effect)
            check.equal(where, "ratio", row["ratio"], None if dead or not mine.is_log else mine.shown(mine.effect), 1e-9)
            check.equal(where, "difference", row["difference"], None if dead or not math.isfinite(mine.difference) else mine.difference, 1e-9, 1e-9)
            self._rank_row(row, mine, where, alphas)
        self.check.holds("run", len(alphas) <= 1, f"rows use several levels: {sorted(alphas)}")

    def _rank_row(self, row, mine, where, alphas):
        check = self.check
        if self.run.order != "restricted":
            check.cannot("rows of a run that was not interleaved")
            return
        check.holds(where, (row["p_value"] is not None) == (mine.test is not None), f"p_value is {row['p_value']}, a test needs five blocks and values that vary")
        if mine.test is None or row["p_value"] is None:
            return
        orders = [math.prod(len(d) for d in option) for _, option in mine.options]
        if mine.unknown:
            check.cannot("rows of a segment that was not finished: the places that never ran are not in results.json")
        best = None
        for option, count in enumerate(orders):
            if count != row["reference_orders"]:
                continue
            mine.take(option)
            mine.finish()
            if best is None or abs(mine.p_value - row["p_value"]) < abs(best[0] - row["p_value"]):
                best = (mine.p_value, option)
        check.holds(where, best is not None, f"reference_orders is {row['reference_orders']}, recomputed {orders}")
        if best is None:
            return
        if mine.options[best[1]][1] is not mine.test.deals:
            mine.take(best[1])
            mine.finish()
        check.equal(where, "p_value", row["p_value"], mine.p_value, 1e-9)
        alpha, level = self._levels(row)
        alphas.add(round(alpha, 9))
        mine.alpha = alpha
        self._removed_place(row, mine, where)
        if row["p_mean"] is not None and mine.p_mean is not None:
            p, error = mine.p_mean
            check.equal(where, "p_mean", row["p_mean"], p, 1e-9, 5 * error + (0.005 if error else 0))
        if math.isfinite(mine.effect) or row["ci_low"] is not None or row["ci_high"] is not None:
            check.equal(where, "confidence", row["confidence"], 1 - level)
            interval = self._interval(mine, level)
            check.equal(where, "ci_low", row["ci_low"], mine.shown(interval[0]), 1e-9, 1e-9)
            check.equal(where, "ci_high", row["ci_high"], mine.shown(interval[1]), 1e-9, 1e-9)

    def _levels(self, row):
        """The level of the row's test, and that of its interval: twice it shows equivalence, and the corrected one belongs to a row that
        the correction alone leaves open."""
        own = 1 - row["confidence"]
        if row["verdict"] == "unchanged":
            alpha = min(self.run.alphas, key=lambda a: abs(a - own / 2))
            return alpha, 2 * alpha
        p, adjusted = row["p_value"], row["p_adjusted"]
        for alpha in self.run.alphas:
            if row["verdict"] == "inconclusive" and p <= alpha < adjusted and abs(own - alpha * p / adjusted) < 1e-9:
                return alpha, alpha * p / adjusted
        alpha = min(self.run.alphas, key=lambda a: abs(a - own))
        return alpha, alpha

    def _removed_place(self, row, mine, where):
        """Shown where the rule removes it anywhere from no change to the ends of the interval that is shown."""
        check = self.check
        removed = row.get("removed_place")
        if not math.isfinite(mine.effect):
            check.holds(where, removed is None, "removed_place is shown of an infinite estimate")
            return
        interval = self._interval(mine, 1 - row["confidence"])
        low, high = min(0, mine.effect, interval[0]), max(0, mine.effect, interval[1])
        changes = any(low <= border <= high for border in mine.test.borders)
        expected = changes or mine.test.acts(mine.effect)
        if not any(abs(border - end) <= 1e-9 for border in mine.test.borders for end in (low, high)):
            check.holds(where, (removed is not None) == expected,
                        f"removed_place is {'' if removed else 'not '}shown, its p at the estimate is {mine.p_of_place:.4f} and the rule "
                        f"{'changes' if changes else 'does not change'} within the interval")
        if removed is None:
            return
        check.equal(where, "removed_place.effect", removed["effect"], mine.shown(mine.effect_of_place), 1e-9, 1e-9)
        check.equal(where, "removed_place.p_value", removed["p_value"], mine.p_of_place, 1e-6)
        check.equal(where, "removed_place.estimate", removed["estimate"], mine.shown(mine.test.estimate_without_places()), 1e-9, 1e-9)
        check.equal(where, "removed_place.everywhere", removed["everywhere"], not changes)

    def _growth_row(self, row, mine, a, b, where):
        check = self.check
        slopes = [[one["slope"] for one in side["trial_slopes"]] for side in (a, b)]
        mine.of_growth = (a, b)
        mine.alpha = min(self.run.alphas, key=lambda x: abs(x - (1 - row["confidence"] if row["verdict"] != "unchanged" else (1 - row["confidence"]) / 2)))
        level = 2 * mine.alpha if row["verdict"] == "unchanged" else mine.alpha
        check.equal(where, "baseline_median", row["baseline_median"], sum(slopes[0]) / len(slopes[0]))
        check.equal(where, "candidate_median", row["candidate_median"], sum(slopes[1]) / len(slopes[1]))
        difference, p, interval = welch(*slopes, a["resolution"] + b["resolution"], level)
        mine.effect, mine.is_log, mine.p_value = difference, False, p
        check.equal(where, "difference", row["difference"], difference, 1e-9, 1e-9)
        check.equal(where, "p_value", row["p_value"], p, 1e-6, 1e-15)
        mine.welch = lambda level: welch(*slopes, a["resolution"] + b["resolution"], level)[2]
        if interval:
            check.equal(where, "ci_low", row["ci_low"], interval[0], 1e-7, 1e-6)
            check.equal(where, "ci_high", row["ci_high"], interval[1], 1e-7, 1e-6)
        mine.margin = row["margin"]
        horizon = self._margin_of_growth(row, mine)
        if horizon:
            check.equal(where, "margin", row["margin"], horizon, 1e-6)

    def _margin_of_growth(self, row, mine):
        """What matters at the horizon: 2% of the level or 1 MiB, the larger of both variants."""
        which = "heap" if row["metric"].startswith("heap") else "rss"
        margins = []
        for arm in (self.run.baseline, row["candidate"]):
            counted = []
            for trial in self.run.trials[arm].values():
                ends = trial.ends.get(row["role"], [])
                part = ends[first_counted(len(ends), self.run.warmup):]
                if len(part) >= 3:
                    counted.append(part)
            if not counted:
                self.check.cannot("margins of growth over time: samples are not in results.json")
                return None
            common = set.intersection(*({r["round"] for r in part} for part in counted))
            level = median([median([r[which] for r in part if r["round"] in common]) for part in counted])
            asked = self.config.get("growth", {}).get("horizon_rounds") or self.config.get("workload", {}).get("rounds") or 0
            horizon = min(max(asked, max(common)), 10 * max(common))
            if row["metric"].endswith("minute"):
                horizon *= median([minutes_per_round(part) for part in counted])
            margins.append(max(0.02 * abs(level), 1048576) / horizon)
        return max(margins)

    # Corrected p and verdicts

    def corrections_and_verdicts(self):
        check = self.check
        rows = {key_of(row): row for row in self.results["comparisons"]}
        tested = {key: mine for key, mine in self.rows.items() if mine.p_value is not None and rows[key]["p_value"] is not None}
        gates = {key: mine for key, mine in tested.items() if rows[key]["gate"]}
        candidates = sorted({key[0] for key in gates})
        for candidate in candidates:
            family = [key for key in gates if key[0] == candidate]
            ranked = [key for key in family if gates[key].test is not None]
            most = max((len(gates[key].test.places) for key in ranked), default=0)
            same = [key for key in ranked if len(gates[key].test.places) == most]
            factor = len(candidates) * len(family)
            if same:
                for key, p, error in zip(same, *westfall_young([gates[key].test for key in same])):
                    self._corrected(rows[key], gates[key], "Westfall-Young", min(1, p * factor / len(same)), 5 * error * factor / len(same))
            others = [key for key in family if key not in same]
            for key, p in zip(others, holm([gates[key].p_value for key in others])):
                self._corrected(rows[key], gates[key], "Holm", min(1, p * factor / len(others)))
        rest = [key for key in tested if key not in gates]
        for role in {"all", self.results["job"]["reference"]}:
            for metric in ("round_seconds", "peak_rss_bytes"):
                family = [key for key in rest if key[1:] == (role, metric)]
                for key, p in zip(family, holm([tested[key].p_value for key in family])):
                    self._corrected(rows[key], tested[key], "Holm", p)
                rest = [key for key in rest if key not in family]
        for key, p in zip(rest, benjamini_hochberg([tested[key].p_value for key in rest])):
            self._corrected(rows[key], tested[key], "Benjamini-Hochberg", p)
        for key, row in rows.items():
            self._verdict(row, self.rows[key], " ".join(key))

    def _corrected(self, row, mine, name, p, error=0.0):
        where = " ".join(key_of(row))
        mine.p_adjusted = p if not error else row["p_adjusted"]
        self.check.equal(where, "correction", row["correction"], name)
        self.check.equal(where, "p_adjusted", row["p_adjusted"], p, 1e-6, error + 1e-12)

    def _verdict(self, row, mine, where):
        check = self.check
        if any(note["code"] in ("control_flagged",) for note in self.results["limitations"] + self.results["warnings"]):
            check.cannot("verdicts of a run whose control differs")
            return
        verdict, tier = self._of_living(row, mine)
        if verdict is None:
            return
        dead = mine.pair.failed > 0 and mine.effect is not None and not math.isfinite(mine.effect)
        if dead:
            verdict, tier = "regressed", "plain"
        if mine.pair.failed and mine.n:
            if mine.pair.failed == mine.n:
                verdict, tier = "regressed", "plain"
            elif verdict != "regressed":
                verdict, tier = "inconclusive", "plain"
        mine.verdict = verdict
        check.equal(where, "verdict", row["verdict"], verdict)
        if verdict == row["verdict"]:
            check.equal(where, "tier", row["tier"], tier)

    def _direction(self, mine):
        if not mine.metric.is_declared or mine.metric.better not in ("lower", "higher"):
            return "changed"
        return "regressed" if (mine.effect > 0) == (mine.metric.better == "lower") else "improved"

    def _of_living(self, row, mine):
        if mine.of_growth:
            return self._verdict_of_growth(row, mine)
        if not mine.n:
            return "inconclusive", "plain"
        if mine.exact:
            inside = abs(mine.effect) <= mine.margin * (1 + 1e-12)
            return ("unchanged", "plain") if mine.effect == 0 or inside else (self._direction(mine), "strong")
        if mine.test is None:
            return ("inconclusive", "plain") if self.run.order == "restricted" else (None, None)
        if not hasattr(mine, "p_adjusted"):
            return None, None
        if not math.isfinite(mine.effect):
            return "regressed", "plain"
        alpha, margin, p = mine.alpha, mine.margin, mine.p_adjusted
        low, high = self._interval(mine, 2 * alpha)
        if low >= -margin and high <= margin:
            return "unchanged", "plain"
        low, high = self._interval(mine, alpha)
        # As the interval: without the effect of the places where that is removed.
        judged = mine.test.estimate_without_places() if mine.test.acts(mine.effect) else mine.effect
        if p > alpha or abs(judged) < margin or not (low >= 0 if mine.effect > 0 else high <= 0):
            return "inconclusive", "plain"
        low, high = mine.test.interval(alpha * mine.p_value / p if p else alpha)
        mean = mine.apart or mine.p_mean is None or (row["p_mean"] if row["p_mean"] is not None else mine.p_mean[0]) <= ALPHA
        return self._direction(mine), "strong" if (low >= margin or high <= -margin) and mean else "plain"

    def _verdict_of_growth(self, row, mine):
        a, b = (side["verdict"] for side in mine.of_growth)
        if mine.p_value is None:
            return "inconclusive", "plain"
        bounded = lambda verdict: verdict in ("flat", "leveling_off", "stepped")
        low, high = mine.welch(2 * mine.alpha)
        if low >= -mine.margin and high <= mine.margin and ((bounded(a) and bounded(b)) or a == b == "growing"):
            return "unchanged", "plain"
        if mine.p_adjusted <= mine.alpha and abs(mine.effect) >= mine.margin and (b if mine.effect > 0 else a) == "growing":
            return self._direction(mine), "plain"
        return "inconclusive", "plain"

    def reasons(self):
        """What the sentences of the rows say in numbers."""
        for row in self.results["comparisons"]:
            where, mine = " ".join(key_of(row)), self.rows[key_of(row)]
            needed = re.search(r"a change in (?:only one of (\d+) comparisons|the only comparison) needs at least (\d+) trials each", row["reason"])
            if needed and row["reference_orders"]:
                # Of gates that change alone: the smallest p of this many trials, times all comparisons that share the level.
                least = 2 / row["reference_orders"] * int(needed.group(1) or 1)
                self.check.holds(where, row["gate"] and least > 1 - row["confidence"],
                                 f"says '{needed.group(0)}', but its {row['n_candidate']} can give an adjusted p of {least:.4f}")
                self.check.holds(where, row["blocks_needed"] is None or row["blocks_needed"] >= int(needed.group(2)),
                                 f"says '{needed.group(0)}', and that {row['blocks_needed']} should decide it")
            if mine.test is None or not hasattr(mine, "alpha") or mine.of_growth:
                continue
            for level, low, high in re.findall(r"([\d.]+)% CI (−∞|[+−-]?[\d.]+(?:%| [^\s:;,)]+)) to (\+∞|[+−-]?[\d.]+(?:%| [^\s:;,)]+))", row["reason"]):
                interval = [mine.shown(end) for end in self._interval(mine, 1 - float(level) / 100)]
                for text, value in zip((low, high), interval):
                    one = printed.Printed(text)
                    good = value is None if "∞" in text else one.ok and (one.fits_change(value) if mine.is_log else one.fits(value))
                    self.check.holds(where, good, f"says {text} for {value} in '{row['reason'][:100]}'")

    @staticmethod
    def _interval(mine, level):
        level = next((one for one in (mine.alpha, 2 * mine.alpha) if abs(one - level) < 1e-9), level)
        low, high = mine.test.interval(level)
        return (min(low, 0), max(high, 0)) if mine.p_value > level else (low, high)

    # Gates

    def gates(self):
        check = self.check
        results = self.results
        for gate in results["gates"]:
            where = f"gate {gate['gate']} for {gate['candidate']} ({gate['role']})"
            code = 0
            if not gate["advisory"] and gate["outcome"] != "passed":
                if gate["outcome"] == "failed":
                    code = 1
                elif gate.get("not_measured"):
                    code = 3
                elif self.on_inconclusive == "fail" or (self.on_inconclusive == "beyond" and gate.get("beyond_bound")):
                    code = 5
            check.equal(where, "exit_code", gate["exit_code"], code)
            self._gate(gate, where)
        decisive = [g for g in results["gates"] if not g["advisory"]]
        overall = results["overall"]
        if any(g["outcome"] == "failed" for g in decisive):
            outcome, code = "failed", 1
        elif overall.get("nothing") or any(g.get("not_measured") for g in decisive):
            outcome, code = "not_measured", 3
        elif any(g["outcome"] == "inconclusive" for g in decisive):
            outcome, code = "inconclusive", 5 if any(g["exit_code"] for g in decisive) else 0
        else:
            outcome, code = "passed" if decisive else "no_gates", 0
        check.equal("overall", "outcome", overall["outcome"], outcome)
        check.equal("overall", "exit_code", overall["exit_code"], code)

    def _gate(self, gate, where):
        check = self.check
        if gate.get("not_measured"):
            row = next((r for r in self.results["comparisons"] if key_of(r) == (gate["candidate"], gate["role"], gate["metric"])), None)
            relative = any(kind != "ceiling" for kind, _ in parse_gate(gate["gate"])[2]) or "margin" in gate["gate"]
            check.holds(where, row is None or not row["n_candidate"] or not relative, "the gate was not measured, and its row was")
            return
        key = (gate["candidate"], gate["role"], gate["metric"])
        mine = self.rows.get(key)
        failed = mine.pair.failed if mine else sum(t.status != "ok" for t in self.run.trials.get(gate["candidate"], {}).values())
        if failed:
            check.equal(where, "outcome", gate["outcome"], "failed")
            return
        row = next((r for r in self.results["comparisons"] if key_of(r) == key), None)
        _, metric, bounds = parse_gate(gate["gate"])
        answers = [self._bound(gate, mine, row, kind, value) for kind, value in bounds] or [self._bound(gate, mine, row, "margin", None)]
        if None in answers:
            return
        rank = lambda answer: {"passed": 0, "failed": 3}.get(answer[0], 2 if answer[1] else 1)
        outcome, beyond, evidence = min(answers, key=rank)
        check.equal(where, "outcome", gate["outcome"], outcome)
        check.equal(where, "beyond_bound", gate.get("beyond_bound", False), outcome == "inconclusive" and beyond)
        for name, value in evidence.items():
            check.equal(where, "evidence." + name, gate["evidence"][name], value, 1e-7, 1e-9)

    def _bound(self, gate, mine, row, kind, value):
        """(outcome, whether the estimate is beyond, evidence)"""
        growth = self.slopes.get((gate["candidate"], gate["role"], gate["metric"]))
        if kind == "ceiling":
            return self._growth_ceiling(growth, value) if gate["metric"] in LEVEL_GROWTH else self._ceiling(gate, mine, row, value)
        if mine is None or not mine.n:
            return None
        higher = mine.metric.better == "higher"
        improves = kind != "margin" and value < 0
        sign = -1 if higher else 1
        limit = mine.margin if kind == "margin" else sign * (mine.share if kind == "share" else mine.amount)(sign * value)
        worse = sign * mine.effect
        beyond = worse > (limit if improves else max(0, limit)) + NEAR
        evidence = {"limit": mine.shown(-limit if higher else limit) if not mine.of_growth else limit,
                    "estimate": mine.shown(mine.effect) if not mine.of_growth else mine.effect}
        if improves and limit >= 0:
            return "inconclusive", beyond, evidence
        if mine.exact:
            return "failed" if beyond else "passed", beyond, evidence
        if mine.of_growth is None and mine.test is None or mine.p_value is None:
            return "inconclusive", beyond, evidence
        low, high = mine.welch(2 * mine.alpha) if mine.of_growth else self._interval(mine, 2 * mine.alpha)
        shown = (lambda x: x) if mine.of_growth else mine.shown
        evidence.update(ci_low=shown(low), ci_high=shown(high), confidence=1 - 2 * mine.alpha)
        sided = (-high, -low) if higher else (low, high)
        bounded = growth and growth["verdict"] in ("flat", "leveling_off", "stepped")
        if mine.of_growth and bounded and not improves and not sided[0] > limit:
            return "passed", False, evidence
        if sided[1] <= limit:
            return "passed", beyond, evidence
        if improves:
            return "failed" if sided[0] > limit else "inconclusive", beyond, evidence
        if beyond and mine.p_adjusted <= mine.alpha and getattr(mine, "verdict", row["verdict"]) == "regressed":
            strict = self.config.get("strict_gates") and not sided[0] > limit
            return "inconclusive" if strict else "failed", beyond, evidence
        return "inconclusive", beyond, evidence

    def _ceiling(self, gate, mine, row, ceiling):
        values = [v for v in (t.value(gate["role"], gate["metric"]) for t in self.run.trials.get(gate["candidate"], {}).values() if t.status == "ok") if v is not None]
        if not values:
            return None
        evidence = {"limit": ceiling, "estimate": max(values)}
        if max(values) > ceiling:
            return "failed", True, evidence
        watched = self.results["environment"].get("watched") is not None
        least = 5
        if self.run.metric(gate["metric"]).exact:
            least = 3 if not row or not row["gate"] else 3
            while 2 * 0.25 ** least * (sum(r["gate"] for r in self.results["comparisons"]) if row and row["gate"] else 1) > ALPHA:
                least += 1
        return "passed" if watched or len(values) >= least else "inconclusive", False, evidence

    def _growth_ceiling(self, growth, ceiling):
        if growth is None or growth["slope"] is None:
            return None
        evidence = {"limit": ceiling, "estimate": growth["slope"], "ci_low": growth["ci_low"], "ci_high": growth["ci_high"]}
        beyond = growth["slope"] > ceiling
        if growth.get("of_files") or (growth["ci_high"] is not None and growth["ci_high"] <= ceiling):
            return "passed", beyond and not growth.get("of_files"), evidence
        if growth["verdict"] == "growing" and growth["ci_low"] is not None and growth["ci_low"] > ceiling:
            return "failed", True, evidence
        return "inconclusive", beyond, evidence

    def first_screen(self):
        rows = {key_of(row): row for row in self.results["comparisons"]}
        for shown in self.results["first_screen"]["rows"]:
            row = rows.get(key_of(shown))
            where = "first screen " + " ".join(key_of(shown))
            self.check.holds(where, row is not None, "a row is shown that was not compared")
            if row and shown["change"] is not None and None not in (row["candidate_median"], row["baseline_median"]):
                self.check.equal(where, "change", shown["change"], row["candidate_median"] - row["baseline_median"])
        self.opposite_signs()

    def opposite_signs(self):
        """A change against its own medians needs an effect of places, or a reason in the values: the estimate is of differences, not of medians."""
        for key, mine in self.rows.items():
            if mine.of_growth or not mine.n or mine.effect is None or not math.isfinite(mine.effect) or not math.isfinite(mine.candidate_median):
                continue
            row = next(r for r in self.results["comparisons"] if key_of(r) == key)
            change = row["ratio"] - 1 if row["ratio"] is not None else row["difference"]
            of_medians = row["candidate_median"] - row["baseline_median"]
            if change * of_medians < 0 and row["verdict"] in ("improved", "regressed", "changed") and "removed_place" not in row:
                self.check.holds(" ".join(key), False, f"{row['verdict']}: change {change} and medians {row['baseline_median']} to {row['candidate_median']} have opposite signs")


def formats_agree(check, results, formats):
    """The formats of one report against its results.json: the page's numbers, and the words of all others against the page's."""
    page = printed.page_data(formats["html"])
    for key in results:
        check.holds("page", page["results"].get(key) == results[key], f"{key} is not that of results.json")
    document = page["document"]
    shown = metrics_agree(check, results, document)
    for cells in printed.markdown_rows(formats["markdown"]):
        if len(cells) == 6 and any(cells[0].endswith(row[1]) and cells[1:3] == row[2:4] for row in shown):
            check.holds("Markdown " + cells[0], any(cells[0].endswith(row[1]) and cells[1:] == row[2:] for row in shown), f"has the row {cells}, which is not in the page")
    first_screen_agrees(check, document, "Markdown", [" ".join(cells) for cells in printed.markdown_rows(formats["markdown"])])
    first_screen_agrees(check, document, "terminal", [" ".join(line.split()) for line in formats["text"].splitlines()])
    sentence_agrees(check, results, document)
    gates_agree(check, results, formats)


def metrics_agree(check, results, document):
    """Every row of the page's table of all metrics is of results.json, number by number. Returns the texts of its columns that text formats show, too."""
    rows = {" ".join(key_of(row)): row for row in results["comparisons"]}
    tables = printed.tables_of(document, "metrics")
    found = {line["key"]: [printed.text_of(cell) for cell in line["cells"]] for table in tables for line in table["rows"]}
    measured = {key for key, row in rows.items() if row["baseline_median"] is not None or row["candidate_median"] is not None}
    check.holds("page", set(found) <= measured, f"has the rows {sorted(set(found) - measured)[:3]}, which results.json has not")
    numbers = lambda key: [rows[key].get(name) for name in ("candidate", "metric", "baseline_median", "candidate_median")]
    of_one_role = results["job"]["roles"] and len(results["job"]["roles"]) == 1
    for key in measured - set(found):  # the only role's row has the numbers of all processes
        check.holds("page", of_one_role and any(numbers(other) == numbers(key) for other in found), f"has no row of {key}")
    shown = []
    for key, (role, metric, baseline, candidate, change, interval, _, verdict, _) in found.items():
        if key in rows:
            row_is_printed(check, "page " + key, rows[key], baseline, candidate, change, verdict, interval)
            check.holds("page " + key, metric.endswith("(gate)") == (rows[key]["gate"] or rows[key]["advisory_gate"]), f"its metric is {metric}")
        shown.append([role, metric, baseline, candidate, change, interval, verdict])
    return shown


def first_screen_agrees(check, document, name, lines):
    """Each row of the page's first table is a line of the format."""
    for table in printed.tables_of(document, "results"):
        columns = [i for i, column in enumerate(table["columns"]) if column["title"] != "trials"]
        # On a terminal, columns that do not fit stand below, under a heading that begins like the first, without an empty line between.
        start = next((i for i, line in enumerate(lines) if line.split()[:1] == ["metric"]), len(lines))
        block = list(itertools.takewhile(str.strip, lines[start:]))
        is_split = name == "terminal" and sum(line.split()[:1] == ["metric"] for line in block) > 1
        for row in table["rows"]:
            cells = [printed.text_of(row["cells"][i]) for i in columns]
            wanted = " ".join(cell for cell in cells[1:] if cell).split()
            if not wanted:  # the name of a metric above the rows of its roles
                continue
            # A long name or limit takes up to three lines.
            places = [" ".join(lines[i:i + 3]).split() for i, line in enumerate(lines) if wanted[0] in line.split()]
            if is_split:
                places.append(" ".join(block).split())
            check.holds(name, any(all(word in place for word in wanted) for place in places), f"has no row {cells}")


def change_of_medians(row):
    """On the row's scale: a ratio where it has one, else a difference; None where there is none."""
    old, new = row["baseline_median"], row["candidate_median"]
    if old is None or new is None:
        return None
    if row["ratio"] is None:
        return new - old
    return new / old if old > 0 else None


def row_is_printed(check, where, row, baseline, candidate, change, verdict, interval):
    for text, value in ((baseline, row["baseline_median"]), (candidate, row["candidate_median"])):
        check.holds(where, text == "–" if value is None else printed.Printed(text).ok and printed.Printed(text).fits(value), f"prints the median {value} as {text}")
    is_ratio = row["ratio"] is not None
    value = row["ratio"] if is_ratio else row["difference"]
    if value is None:
        check.holds(where, change == "–", f"prints a change of {change} where there is none")
    else:
        medians = change_of_medians(row)
        one = printed.change_of(change.removesuffix("*"))
        fits = lambda number: one.ok and (one.fits_change(number) if is_ratio else one.fits(number))
        if medians is not None and row["ci_low"] is not None and row["ci_high"] is not None and row["ci_low"] <= medians <= row["ci_high"]:
            check.holds(where, fits(medians), f"prints the change of the medians {medians} as {change}")
        else:
            check.holds(where, fits(value) or fits(medians), f"prints the change {value} as {change}")
    if verdict == "not judged†":
        check.holds(where, row["metric"].endswith("seconds"), "is no time, but not judged")
        verdict = "inconclusive"
    check.holds(where, verdict == row["verdict"], f"prints {row['verdict']} as {verdict}")
    if row["ci_low"] is None or row["ci_high"] is None:
        check.holds(where, interval == "–", f"prints the interval {interval} where an end is open")
        return
    if interval == "same each trial":
        check.holds(where, row["identical"], "prints identical values, which they are not")
        return
    level = re.search(r" \(([\d.]+)%\)$", interval)
    confidence = float(level.group(1)) / 100 if level else 0.95
    # The level over all interim analyses; each of them has a higher one of its own.
    check.holds(where, row["identical"] or confidence <= row["confidence"] + 5e-4, f"prints an interval of {confidence}, it has {row['confidence']}")
    ends = re.sub(r" \([\d.]+%\)$", "", interval).split(" to ")
    if ends[-1].endswith("%") and not ends[0].endswith(("%", "×")):
        ends[0] += "%"
    for text, value in zip((ends[0], ends[-1]), (row["ci_low"], row["ci_high"])):
        one = printed.change_of(text)
        check.holds(where, one.ok and (one.fits_change(value) if is_ratio else one.fits(value)), f"prints the end {value} as {text}")


def sentence_agrees(check, results, document):
    """Each change that the first sentence states is one of a row that is decided."""
    sentence = "".join(run["text"] for run in document["sentence"])
    decided = [row for row in results["comparisons"] if row["ratio"] is not None and
               (row["verdict"] in ("improved", "regressed", "changed") or "(inconclusive)" in sentence)]
    def has_interval(rows, low, high):
        low += "%" if high.endswith("%") and not low.endswith(("%", "×")) else ""
        fits = lambda row, text, value: value is not None and (printed.change_of(text).fits_change(value) if row["ratio"] is not None else printed.change_of(text).fits(value))
        return any(fits(row, low, row["ci_low"]) and fits(row, high, row["ci_high"]) for row in rows)

    times = [row for row in results["comparisons"] if row["metric"] == "round_seconds"]
    for time in re.finditer(r"time(?: (?:as|than) \S+)? \([\d.]+% CI (\S+) to ([^\s,)]+)(?:, no gate)?\)", sentence):
        check.holds("the sentence", has_interval((row for row in times if row["verdict"] != "inconclusive"), *time.groups()), f"states an interval of no time: {time.group()}")
        sentence = sentence.replace(time.group(), "time")
    open_rows = [row for row in results["comparisons"] if row["verdict"] == "inconclusive"]
    for size, low, high in re.findall(r"is inconclusive: (\S+) \([\d.]+% CI (\S+) to ([^\s)]+)\)", sentence):
        shown = printed.change_of(size)
        check.holds("the sentence", any(shown.fits_change(row["ratio"]) or shown.fits_change(change_of_medians(row)) for row in times if row in open_rows), f"states {size} of no open time: {sentence}")
        check.holds("the sentence", has_interval((row for row in times if row in open_rows), low, high), f"states the interval {low} to {high} of no open time: {sentence}")
    sentence = re.sub(r" is inconclusive: \S+ \([^)]*\)", "", sentence)
    open_row = re.search(r"\S+ uses (?:between (?P<less>\S+)% less and (?P<more>\S+)% more|(?P<one>\S+) to (?P<other>\S+)% (?P<way>more|less)) .*? \([\d.]+% CI\)\. \d+ trials? each cannot tell (?:whether that (?:(?:is within|meets) the limit of (?P<limit>\S+)|is more than the margin)|it from no change)\.", sentence)
    if open_row:
        limit = open_row["limit"]
        low, high = ("−" + open_row["less"], "+" + open_row["more"]) if open_row["less"] else \
                    ("+" + open_row["one"], "+" + open_row["other"]) if open_row["way"] == "more" else ("−" + open_row["other"], "−" + open_row["one"])
        check.holds("the sentence", has_interval(open_rows, low, high + "%"), f"states the interval {low} to {high}: {sentence}")
        check.holds("the sentence", not limit or any(gate["gate"].endswith("<=" + limit) or "margin" in gate["gate"] for gate in results["gates"]), f"states the limit {limit}: {sentence}")
        sentence = sentence.replace(open_row.group(), "")
    other_row = re.search(r"\S+ vs\. \S+: .*?(?: \([\d.]+% CI (\S+) to ([^\s)]+)\))?\. \d+ trials? each cannot tell (?:whether that (?:(?:is within|meets) the limit of \S+|is more than the margin)|it from no change)\.", sentence)
    if other_row:  # no memory, or without an interval
        check.holds("the sentence", not other_row[1] or has_interval(open_rows, *other_row.groups()), f"states the interval {other_row[1]} to {other_row[2]}: {sentence}")
        sentence = sentence.replace(other_row.group(), "")
    for size in re.findall(r"[:,] [^:,%]* ([+−][\d.]+%)(?=[,.])", sentence):  # of each role
        one = printed.change_of(size)
        check.holds("the sentence", any(one.fits_change(row["ratio"]) or one.fits_change(change_of_medians(row)) for row in decided), f"states {size}: {sentence}")
    for size in re.findall(r"(?<!limit )(?<=[ (])([+−][\d.]+%|[\d.]+×) \(", sentence):  # of each of several candidates
        one = printed.change_of(size)
        check.holds("the sentence", any(one.fits_change(row["ratio"]) or one.fits_change(change_of_medians(row)) for row in decided), f"states {size}: {sentence}")
    for size, word in re.findall(r"([\d.]+)% (less|fewer|more)", sentence):
        one = printed.Printed(("+" if word == "more" else "−") + size + "%")
        check.holds("the sentence", any(one.fits_change(row["ratio"]) or one.fits_change(change_of_medians(row)) for row in decided), f"states {size}% {word}: {sentence}")
    for size in re.findall(r"([\d.]+)× as", sentence):
        one = printed.Printed(size + " times")
        check.holds("the sentence", any(one.fits_change(row["ratio"]) or one.fits_change(change_of_medians(row)) for row in decided), f"states {size} times: {sentence}")
    if "".join(run["text"] for run in document["exit"]).startswith("The run is not complete"):
        return
    exit_code = re.match(r"Exit code (\d+)", "".join(run["text"] for run in document["exit"]))
    check.holds("the exit code", exit_code and int(exit_code.group(1)) == results["overall"]["exit_code"], f"is stated as {exit_code and exit_code.group(1)}")


def gates_agree(check, results, formats):
    gates = results["gates"]
    cases, counted = printed.junit_cases(formats["junit"])
    check.holds("JUnit", counted, "its totals are not those of its cases")
    nothing = [case for case in cases if case[0] == "" and case[1] == "measurement"]
    cases = [case for case in cases if case not in nothing]
    check.equal("JUnit", "number of cases", len(cases), len(gates))
    lines = printed.github_lines(formats["github"])
    of_gates = [line for line in lines if "gate" in line[1]]
    check.equal("GitHub", "number of gates", len(of_gates), len(gates))
    words = {"passed": "passed", "failed": "failed", "inconclusive": "inconclusive"}
    for gate, case, line in zip(gates, cases, of_gates):
        where = f"gate {gate['gate']} for {gate['candidate']}"
        element = {1: "failure", 5: "failure", 3: "error"}.get(gate["exit_code"], "" if gate["outcome"] == "passed" else "skipped")
        check.equal(where, "JUnit's candidate", case[0], gate["candidate"])
        check.equal(where, "JUnit's element", case[2], element)
        check.holds(where, not element or case[3].endswith(gate["reason"]), f"JUnit's message is {case[3]}, expected {gate['reason']}")
        command = "error" if gate["exit_code"] else "notice" if gate["advisory"] or gate["outcome"] == "passed" else "warning"
        check.equal(where, "GitHub's command", line[0], command)
        word = "not measured" if gate.get("not_measured") else words[gate["outcome"]]
        check.holds(where, line[1].endswith(word) or word in line[1], f"GitHub's title is {line[1]}, expected {word}")
        check.holds(where, line[2].endswith(gate["reason"]) and f"({gate['candidate']})" in line[2], f"GitHub's message is {line[2]}")
    failed = sum(g["outcome"] == "failed" and not g["advisory"] for g in gates)
    for name in ("text", "markdown"):
        stated = re.search(r"Exit code \d+(?: \([^)]*\))?: ([^.]*)\.", " ".join(formats[name].split()))
        count = re.search(r"(\d+) failed", stated.group(1)) if stated else None
        check.holds(name, not count or int(count.group(1)) == failed, f"states {stated and stated.group(1)}, results.json has {failed} failed gates")


class Memduel:
    def __init__(self, program):
        self.program = str(pathlib.Path(program).resolve())

    def __call__(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr


def config_of(directory):
    with sqlite3.connect(f"file:{directory / 'run.sqlite'}?mode=ro", uri=True) as store:
        return json.loads(store.execute("SELECT value FROM run WHERE key = 'config'").fetchone()[0])


def recompute_run(memduel, name, directory):
    """The report of a run, and its gates once more by `memduel check` with its exports."""
    formats = {}
    for kind in ("json", "text", "markdown", "junit", "github", "html"):
        words = ["report", directory, "--format", kind] + (["--verbose"] if kind == "text" else [])
        code, out, error = memduel(*words)
        if code:
            check = Checker(name)
            check.holds("memduel report", False, f"exit {code}: {error.strip()}")
            return check, None, None, None
        formats[kind] = out
    formats["html"] = (directory / "report.html").read_text()
    results = json.loads(formats["json"])
    config = config_of(directory)
    recomputation = Recomputation(name, results, config)
    check = recomputation.all()
    formats_agree(check, results, formats)
    with tempfile.TemporaryDirectory() as place:
        exports = {kind: pathlib.Path(place) / kind for kind in ("json", "markdown", "junit", "github")}
        words = [word for kind, file in exports.items() for word in ("--export", kind, file)]
        code, out, error = memduel("check", directory, *words)
        if exports["json"].exists():
            judged = json.loads(exports["json"].read_text())
            check.equal("memduel check", "exit code", code, judged["overall"]["exit_code"])
            again = Recomputation(name, judged, config)
            again.rows, again.slopes, again.check = recomputation.rows, recomputation.slopes, check
            again.gates()
            gates_agree(check, judged, {**{kind: file.read_text() for kind, file in exports.items()}, "text": out})
        else:
            check.holds("memduel check", code in (2, 3), f"exit {code}, and no results: {error}")
    return check, results, config, formats


def self_test(results, config, formats):
    """The alterations that are not found."""
    before = set(Recomputation("as it is", results, config).all().contradictions)
    missed = [name for name, altered in alterations.of_results(results) if not set(Recomputation("altered", altered, config).all().contradictions) - before]
    check = Checker("as it is")
    formats_agree(check, results, formats)
    for name, altered in alterations.of_formats(formats):
        again = Checker("altered")
        formats_agree(again, results, altered)
        if not set(again.contradictions) - set(check.contradictions):
            missed.append(f"what {name} says")
    return missed


def unpack(place, names):
    with tarfile.open(HERE / "runs.tar.xz") as archive:
        for member in archive.getmembers():
            name = pathlib.PurePosixPath(member.name).parts[0]
            if names is None or name in names:
                archive.extract(member, place)
    return sorted(path for path in place.iterdir() if path.is_dir())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("memduel")
    parser.add_argument("--stored", default="")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--run", nargs="*", default=[])
    arguments = parser.parse_args()
    memduel = Memduel(arguments.memduel)
    failed = False
    seen = []
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        runs = [(pathlib.Path(path).resolve().name, pathlib.Path(path).resolve()) for path in arguments.run]
        if arguments.stored:
            few = {"python_rows", "growth_rounds", "dead_candidate"}
            names = None if arguments.stored == "all" else few if arguments.stored == "few" else set(arguments.stored.split(","))
            runs += [(path.name, path) for path in unpack(place, names)]
        if arguments.fresh:
            fresh = measure.Place(arguments.memduel, place / "fresh")
            for run in measure.FRESH:
                try:
                    run(fresh)
                    runs.append((run.__name__, fresh.directory / run.__name__))
                except SystemExit as error:
                    print(f"{run.__name__}: not measured\n  CONTRADICTION {error}")
                    failed = True
        for name, directory in runs:
            began = time.monotonic()
            check, results, config, formats = recompute_run(memduel, name, directory)
            if results:
                seen.append((results, config, formats))
            rows, gates = (len(results[key]) if results else 0 for key in ("comparisons", "gates"))
            print(f"{name}: {rows} rows, {gates} gates, {check.compared} comparisons, "
                  f"{len(check.contradictions)} contradictions, {time.monotonic() - began:.1f} s")
            for what, times in check.open.items():
                print(f"  not recomputed: {what} ({times})")
            for line in check.contradictions:
                print("  CONTRADICTION", line)
                failed = True
    # A run with a gate, growth and a row that is neither certain nor hopeless has something to alter.
    for results, config, formats in seen:
        if results["growth"] and any(gate["exit_code"] for gate in results["gates"]) and any(alterations.is_alterable(row) for row in results["comparisons"]):
            missed = self_test(results, config, formats)
            print(f"altered copies: {', '.join(missed) + ' not found' if missed else 'every alteration was found'}")
            return 1 if failed or missed else 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
