"""Expected values of the paired sign-flip test, the slopes and the step data, from SciPy:
    /usr/bin/python3 bench/stats/testdata/sign_flip.py > bench/stats/testdata/sign_flip.json
The sign-flip p is scipy.stats.permutation_test over all 2^n exchanges of the pooled mid-ranks.
"""
import json

import numpy as np
from scipy import stats

rng = np.random.default_rng(7)


def sign_flip(a, b):
    ranks = stats.rankdata(np.concatenate([a, b]))
    d = ranks[len(a):] - ranks[:len(a)]
    result = stats.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf,
                                    alternative="two-sided")
    total = abs(d.sum())
    signs = (np.arange(2 ** len(d))[:, None] >> np.arange(len(d)) & 1) * 2 - 1
    p = np.mean(np.abs(signs @ d) >= total - 1e-9)
    assert abs(p - result.pvalue) < 1e-12, (p, result.pvalue)
    return p


def pair(n, shift, digits):
    a = np.round(rng.normal(size=n), digits)
    b = np.round(rng.normal(size=n) + shift, digits)
    return {"a": a.tolist(), "b": b.tolist(), "p": sign_flip(a, b)}


def slope(n, digits):
    x = np.sort(np.round(rng.uniform(0, 50, n), 3))
    y = np.round(0.3 * x + rng.normal(size=n), digits)
    return {"x": x.tolist(), "y": y.tolist(), "slope": float(stats.theilslopes(y, x)[0])}


print(json.dumps({
    "sign_flip": [pair(8, 0, 6), pair(8, 1.5, 6), pair(9, 0.6, 1), pair(12, 0.8, 6), pair(12, 0.5, 0),
                  pair(16, 0.4, 1)],
    "theil_sen": [slope(3, 6), slope(14, 6), slope(70, 1)],
}, indent=1))
