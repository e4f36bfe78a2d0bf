#!/usr/bin/env python3
"""Quantiles of the delays in a run of delay.json, by arm."""

import sqlite3
import sys

run = sqlite3.connect(f"file:{sys.argv[1]}/run.sqlite?mode=ro", uri=True)
delays = {}
for arm, delay in run.execute(
    """SELECT trial.variant, (round.begin_ns - round_metric.value) / 1e6
       FROM trial JOIN role ON role.trial = trial.id JOIN round ON round.role = role.id
       JOIN round_metric ON round_metric.round = round.id
       WHERE trial.kind = 'measure' AND role.role = 'writer' AND round_metric.metric = 'written_ns'"""
):
    delays.setdefault(arm, []).append(delay)
print(f"{'arm':8} {'marks':>6} {'median':>8} {'95%':>8} {'largest':>8}   ms")
for arm, values in delays.items():
    values.sort()
    print(f"{arm:8} {len(values):6} {values[len(values) // 2]:8.2f} {values[len(values) * 95 // 100]:8.2f} {values[-1]:8.2f}")
