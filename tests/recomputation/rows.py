"""Every row of a results.json from its trials, by docs/method.md. Shares no code with memduel."""
import math
import random

from exact_test import ExactTest, median, shift, student_quantile, student_two_sided
from reference_orders import deals, never_run, planned_segments

ALPHA = 0.05
MIB, KIB = 1048576, 1024
LEVEL_GROWTH = ("rss_growth_bytes_per_round", "rss_growth_bytes_per_minute", "heap_growth_bytes_per_round")


class Metric:
    """How a metric is compared: the table of margins in docs/method.md."""

    def __init__(self, name, better):
        self.name = name
        self.better = better.get(name, "lower")
        self.relative, self.absolute, self.exact, self.is_difference = 0.01, 0, True, False
        known_counts = ("minor_faults_count", "major_faults_count", "allocator_arena_count")
        if name.endswith(("_bytes_per_round", "_bytes_per_minute")):
            self.relative, self.absolute, self.exact, self.is_difference = 0, 64 * KIB if name.endswith("round") else MIB, False, True
        elif name in ("cleanup_seconds", "heap_cleanup_seconds", "cleanup_ratio"):
            self.relative, self.absolute, self.exact, self.is_difference = 0, 0.001, False, True
        elif name.endswith("_bytes") and any(word in name for word in ("rss", "pss", "cgroup", "peak_shared_once", "swapped", "resident")):
            self.relative, self.absolute, self.exact = 0.01, MIB, False
        elif name.endswith("_bytes"):
            self.relative, self.absolute, self.exact = 0.005, 64 * KIB, not name.startswith(("allocator_", "gpu_used", "idle_gpu_used", "peak_gpu_used"))
            if name.endswith("_heap_and_mapped_bytes"):
                self.relative = 0.01
        elif name.endswith("_count"):
            self.relative, self.absolute, self.exact = 0.005, 1, name not in known_counts
        elif name.endswith("_seconds"):
            self.relative, self.absolute, self.exact = 0.03, 0, False
        elif name.endswith("_ratio"):
            self.relative, self.absolute, self.is_difference = 0, 0.005, True
        if name in ("validation_accuracy_ratio", "train_accuracy_ratio"):
            self.better = "higher"
        self.is_declared = name in better or name in KNOWN or name.startswith(("allocator_", "peak_gpu", "gpu_", "idle_gpu"))


KNOWN = set("""peak_rss_bytes peak_rss_no_files_bytes peak_rss_above_idle_bytes idle_rss_bytes peak_largest_process_rss_bytes end_rss_bytes end_pss_bytes peak_pss_bytes
peak_rss_anon_bytes peak_rss_file_bytes peak_cgroup_bytes peak_cgroup_anon_bytes peak_cgroup_file_bytes peak_cgroup_shmem_bytes peak_cgroup_kernel_bytes
peak_shared_once_bytes rss_counted_again_bytes swapped_bytes peak_heap_bytes end_heap_bytes peak_mapped_bytes end_mapped_bytes
peak_heap_and_mapped_bytes end_heap_and_mapped_bytes allocated_bytes live_at_end_bytes heap_in_use_bytes
heap_free_bytes torch_cpu_bytes peak_torch_cpu_bytes allocation_count minor_faults_count major_faults_count round_seconds transfer_seconds
cleanup_seconds heap_cleanup_seconds cleanup_ratio cpu_seconds validation_accuracy_ratio train_accuracy_ratio train_loss real_time_seconds
cpu_time_seconds net_heap_growth_bytes""".split()) | set(LEVEL_GROWTH)


def over_rounds(name, values, warmup):
    """What a metric that only rounds have is for the trial."""
    if name.startswith("peak_"):
        return max(values)
    if name.endswith("_seconds") and name != "cpu_seconds":
        return median(values[min(len(values) - 1, warmup):])
    if name.endswith("_count") or name == "cpu_seconds":
        return sum(values)
    return values[-1]


def first_counted(rounds, warmup):
    """Rounds after max(warm-up rounds, 2, 20%) count."""
    return max(warmup, 2, math.ceil(rounds / 5 - 1e-9))


def line_slope(x, y):
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y)) / sum((a - middle_x) ** 2 for a in x)


class Trial:
    """One trial's numbers by role, groups included."""

    def __init__(self, raw, job, warmup):
        self.block, self.position, self.arm, self.status = raw["block"], raw.get("position", 0), raw["variant"], raw["status"]
        self.metrics, self.ends = {}, {}
        for role in raw.get("roles", []):
            metrics = {k: v for k, v in role.get("metrics", {}).items() if v is not None}
            rounds = role.get("rounds", [])
            by_round = {}
            for one in rounds:
                for name, value in one.get("metrics", {}).items():
                    if name not in metrics and value is not None:
                        by_round.setdefault(name, []).append(value)
            enough = len(rounds) <= 1 or len(rounds) > warmup
            for name, values in by_round.items():
                if enough or name.startswith("peak_") or name.endswith("_count") or name == "cpu_seconds":
                    metrics[name] = over_rounds(name, values, warmup)
            self.metrics[role["role"]] = metrics
            self.ends[role["role"]] = [
                {"round": one["round"], "begin": one["begin_ns"], "end": one["end_ns"], "rss": one["metrics"]["end_rss_bytes"],
                 "heap": one["metrics"].get("end_heap_bytes", one["metrics"].get("heap_in_use_bytes"))}
                for one in rounds if one.get("metrics", {}).get("end_rss_bytes") is not None]
        for group in job.get("groups", []):
            self._add_group(group["name"], group["count"])
        for role, ends in self.ends.items():
            for name in LEVEL_GROWTH:
                self.metrics[role].pop(name, None)
            self.metrics[role].update(self._slopes(ends, warmup))

    def _add_group(self, name, count):
        members = [f"{name}-{i}" for i in range(1, count + 1) if f"{name}-{i}" in self.metrics]
        if not members:
            return
        common = set.intersection(*(set(self.metrics[m]) for m in members))
        largest = {k: max(self.metrics[m][k] for m in members) for k in common}
        middle = {k: median([self.metrics[m][k] for m in members]) for k in common}
        if {"peak_rss_bytes", "peak_rss_above_idle_bytes"} <= common:
            top = max(members, key=lambda m: self.metrics[m]["peak_rss_bytes"])
            for key in ("peak_rss_above_idle_bytes", "idle_rss_bytes"):
                if key in self.metrics[top]:
                    largest[key] = self.metrics[top][key]
            if "idle_rss_bytes" in middle:
                middle["peak_rss_above_idle_bytes"] = middle["peak_rss_bytes"] - middle["idle_rss_bytes"]
        for suffix, metrics, combine in (("_max", largest, max), ("_median", middle, median)):
            self.metrics[name + suffix] = metrics
            self.ends[name + suffix] = []
            for one in self.ends[members[0]]:
                same = [next((r for r in self.ends[m] if r["round"] == one["round"]), None) for m in members]
                if None in same:
                    continue
                heap = [r["heap"] for r in same]
                self.ends[name + suffix].append({"round": one["round"], "begin": min(r["begin"] for r in same), "end": max(r["end"] for r in same),
                                                 "rss": combine([r["rss"] for r in same]), "heap": None if None in heap else combine(heap)})

    @staticmethod
    def _slopes(ends, warmup):
        first = first_counted(len(ends), warmup)
        counted = ends[first:]
        if len(counted) < 3 or counted[0]["round"] >= counted[-1]["round"]:
            return {}
        x = [r["round"] for r in counted]
        slopes = {"rss_growth_bytes_per_round": line_slope(x, [r["rss"] for r in counted])}
        minutes = (counted[-1]["end"] - counted[0]["end"]) / 60e9
        if minutes > 0:
            slopes["rss_growth_bytes_per_minute"] = slopes["rss_growth_bytes_per_round"] / (minutes / (x[-1] - x[0]))
        if all(r["heap"] is not None for r in counted):
            slopes["heap_growth_bytes_per_round"] = line_slope(x, [r["heap"] for r in counted])
        return slopes

    def value(self, role, metric):
        return self.metrics.get(role, {}).get(metric)


class Run:
    """A results.json with what only config.json knows: the seed's plan of segments and the horizon of growth."""

    def __init__(self, results, config):
        self.results, self.config = results, config
        self.job = results.get("job", {})
        self.better = {k: v for k, v in self.job.get("better", {}).items()} if isinstance(self.job.get("better"), dict) else {}
        self.warmup = results.get("warmup_rounds", 0)
        self.baseline = results["experiment"]["baseline"]
        self.arms = [arm["name"] for arm in results["variants"]]
        counted = [t for t in results["trials"] if t["kind"] == "measure"]
        self.dropped = {t["block"] for t in counted if t.get("harness_fault") or t["status"] == "dropped"}
        self.everywhere = [Trial(t, self.job, self.warmup) for t in counted]
        self.trials = {arm: {t.block: t for t in self.everywhere if t.arm == arm and t.block not in self.dropped} for arm in self.arms}
        self.order = results.get("order")
        self.blocks = sorted(set.intersection(*(set(self.trials[arm]) for arm in self.arms))) if self.arms else []
        self.repeats = config.get("measure", {}).get("repeats")
        self.alphas = self._alphas()
        self.segments = self._segments()

    def candidates(self):
        return [arm for arm in self.arms if arm != self.baseline]

    def metric(self, name):
        return Metric(name, self.better)

    def _shards(self):
        environment = self.results.get("environment", {})
        share = environment.get("shard")
        if environment.get("shards"):
            share = environment["shards"][0].get("shard")
        return int(share.split("/")[1]) if isinstance(share, str) and "/" in share else 1

    def _segments(self):
        """[(number of the first superblock, superblocks that ran, sizes of those that never ran)]"""
        if self.order != "restricted":
            return []
        by_place = {}
        for trial in self.everywhere:
            by_place.setdefault((trial.block - 1) // 2, {})[trial.position] = trial.arm
        plan = planned_segments(self.repeats, len(self.arms) - 1, self._shards())
        segments, first = [], 0
        last = max(by_place, default=-1)
        while plan or first <= last:
            blocks = plan.pop(0) if plan else 2
            count = (blocks + 1) // 2
            ran, missing = [], []
            for number in range(first, first + count):
                places = by_place.get(number, {})
                size = 1 if number == first + count - 1 and blocks % 2 else 2
                if len(places) == size * len(self.arms):
                    ran.append([places[i] for i in sorted(places)])
                else:
                    ran.append(None)
                    missing.append(size)
            segments.append((first, ran, missing))
            first += count
        return segments

    def _alphas(self):
        """The level of this number of blocks; a look that could decide nothing passes its share on, so several are possible."""
        n = len(self.blocks)
        if self.repeats is not None or self.order != "restricted":
            return [ALPHA]
        looks = [(8, 0.025), (16, 0.025)] if len(self.arms) > 2 else [(6, 0.02), (10, 0.015), (16, 0.015)]
        possible, carried = [], 0.0
        for blocks, alpha in looks:
            if blocks == n:
                return [alpha, alpha + carried] if carried else [alpha]
            if blocks < n:
                carried += alpha
        rest = ALPHA - carried
        return [rest if rest > 1e-12 else looks[-1][1]]

    def places(self, candidate, role, metric):
        """The counting values of a pair with their places, the failed ones and the reference orders."""
        better = self.metric(metric).better
        worst = -math.inf if better == "higher" else math.inf
        pair = Pair()
        for block in sorted(self.trials[self.baseline]):
            a, b = self.trials[self.baseline][block], self.trials[candidate].get(block)
            if b is None or a.status != "ok":
                pair.baseline_failed += b is not None
                continue
            x, y = a.value(role, metric), b.value(role, metric)
            if b.status != "ok":
                pair.failed += 1
                y = worst
            if x is None or y is None:
                continue
            pair.blocks.append(block)
            pair.baseline.append(x)
            pair.candidate.append(y)
        return pair


class Pair:
    def __init__(self):
        self.blocks, self.baseline, self.candidate, self.failed, self.baseline_failed = [], [], [], 0, 0


def exact_trials(gates):
    n = 1
    while 2 * 0.25 ** n * gates > ALPHA:
        n += 1
    return n


class Row:
    """One row: everything of it that its trials give."""

    def __init__(self, run, candidate, role, metric, gate_rows, beyond=None):
        self.run, self.candidate, self.role = run, candidate, role
        self.metric = run.metric(metric)
        self.pair = run.places(candidate, role, metric)
        a, b = self.pair.baseline, self.pair.candidate
        self.n = len(a)
        self.is_log = not self.metric.is_difference and all(x > 0 for x in a + b)
        self.baseline_median = median(a) if a else None
        self.candidate_median = median(b) if b else None
        self.exact = (self.metric.exact and not self.pair.failed and self.n >= exact_trials(gate_rows) and len(set(a)) == 1 and len(set(b)) == 1)
        self.margin = self._margin()
        self.test = self.p_value = self.p_mean = self.effect = None
        if not a:
            return
        self.on_scale = (lambda x: math.log(x)) if self.is_log else (lambda x: x)
        self.a, self.b = [self.on_scale(x) for x in a], [self.on_scale(x) for x in b]
        self.effect = shift(self.a, self.b)
        self.difference = self.effect if not self.is_log else shift(a, b)
        self.apart = max(self.a) < min(self.b) or max(self.b) < min(self.a)
        if not self.exact and self.n >= 5 and run.order == "restricted":
            self._test()

    @staticmethod
    def _log1p(x):
        return math.log1p(x) if x > -1 else -math.inf

    def share(self, x):
        return self._log1p(x) if self.is_log else x * abs(self.baseline_median or 0)

    def amount(self, x):
        if not self.is_log:
            return x
        return self._log1p(x / self.baseline_median) if self.baseline_median else 0

    def _margin(self):
        relative, absolute = self.share(self.metric.relative), self.amount(self.metric.absolute)
        if self.metric.relative:
            least = 0 if self.exact else self.amount(self.metric.absolute / 16)
            absolute = min(absolute, max(self.share(0.05), least))
        return max(relative, absolute)

    def _test(self):
        run = self.run
        counted = set(self.pair.blocks)
        value = {}
        for block, x, y in zip(self.pair.blocks, self.a, self.b):
            value[run.baseline, block], value[self.candidate, block] = x, y
        # Neighbours: both variants' trials of a superblock, in the order in which they ran, two by two.
        side = {}
        for number in {(block - 1) // 2 for block in counted}:
            ran = sorted((t for arm in (run.baseline, self.candidate) for t in run.trials[arm].values() if (t.block - 1) // 2 == number),
                         key=lambda t: t.position)
            for index, trial in enumerate(ran):
                side[trial.arm, trial.block] = (0.0 if len(ran) % 2 else (-0.5, 0.5)[index % 2], (number, index // 2))
        self.unknown = False
        options = [[]]
        places, index_of = [], {}
        for number, (first, ran, missing) in enumerate(run.segments):
            known = [order if order is not None else [] for order in ran]
            if all(order is None for order in ran):
                continue
            beyond = [(0, 0)]
            if missing and len(run.arms) == 2:
                beyond = sorted(never_run(missing, (run.baseline, self.candidate)))
                self.unknown = True
            found = []
            for extra in beyond:
                keys, sets = deals(known, first, (run.baseline, self.candidate), run.arms, run.baseline, counted, extra)
                if sets and sets not in found:
                    found.append(sets)
            if not keys:
                continue
            seen = {}
            for key in keys:
                superblock, place = key
                arm = run.segments[number][1][superblock - first][place]
                # The n-th time that a variant runs in a superblock is its n-th block.
                nth = run.segments[number][1][superblock - first][:place + 1].count(arm)
                block = 2 * superblock + nth
                index_of[key] = len(places)
                places.append((value[arm, block], arm == self.candidate, *side[arm, block], number))
            options = [chosen + [[tuple(index_of[k] for k in deal) for deal in sets]] for chosen in options for sets in found]
        self.options = [(places, option) for option in options]
        self.take(0)

    def take(self, option):
        places, chosen = self.options[option]
        self.test = test_of(places, chosen)
        self.reference_orders = math.prod(len(d) for d in chosen)
        self.effect_of_place, self.p_of_place = self.test.place(self.effect) if math.isfinite(self.effect) else (0, 1)
        self.p_value = None

    def finish(self):
        if self.test:
            self.p_value = self.test.p_value()
            if not self.pair.failed and self.p_value <= ALPHA:
                if not hasattr(self.test, "p_mean"):
                    self.test.p_mean = mean_p(self.test)
                self.p_mean = self.test.p_mean

    def shown(self, x):
        if x is None or not math.isfinite(x):
            return None
        return math.exp(x) if self.is_log else x


TESTS = {}


def test_of(places, chosen):
    """One for equal values at equal places: several roles often have the same numbers."""
    key = (tuple(places), tuple(map(tuple, chosen)))
    if key not in TESTS:
        TESTS[key] = ExactTest(places, chosen)
    return TESTS[key]


def standardised(test, effect):
    levels = [v - effect * place[2] for v, place in zip(test.value, test.places)]
    mean = sum(levels) / len(levels)
    levels = [x - mean for x in levels]
    widest = max(map(abs, levels))
    return [x / widest for x in levels] if widest > 0 else None


def welch_and_hall(a, b):
    """Welch's t of b against a, and Hall's skewness-corrected t."""
    def moments(values):
        n = len(values)
        mean = sum(values) / n
        second = sum((x - mean) ** 2 for x in values) / (n - 1)
        third = n * sum((x - mean) ** 3 for x in values) / ((n - 1) * (n - 2))
        return mean, second / n, third / n ** 2

    (mean_a, var_a, skew_a), (mean_b, var_b, skew_b) = moments(a), moments(b)
    error = math.sqrt(var_a + var_b)
    if error < 1e-9:
        t = 0 if mean_a == mean_b else math.copysign(1e9, mean_b - mean_a)
        return t, t
    t = (mean_b - mean_a) / error
    skew = (skew_b - skew_a) / error ** 3
    return t, t + skew / 3 * t * t + skew * skew / 27 * t ** 3 + skew / 6


def nearer_to_zero(t, hall):
    if (t > 0) != (hall > 0):
        return 0.0
    return hall if abs(hall) < abs(t) else t


def mean_p(test, draws=4000):
    """(p of the test of the means, its standard error where the orders are drawn)"""
    levels = standardised(test, test.place(0)[0] if test.acts(0) else 0)
    if levels is None:
        return 1.0, 0.0
    everything = range(len(levels))

    def statistic(chosen):
        chosen = set(chosen) | fixed
        a, b = [levels[i] for i in everything if i not in chosen], [levels[i] for i in everything if i in chosen]
        return nearer_to_zero(*welch_and_hall(a, b))

    fixed = set()
    observed = abs(statistic([i for i in everything if test.label[i]]))
    count = math.prod(len(d) for d in test.deals)
    if count <= 10000:
        combined = [()]
        for deal in test.deals:
            combined = [x + y for x in combined for y in deal]
        p, error = sum(abs(statistic(c)) >= observed - 1e-9 for c in combined) / count, 0.0
    else:
        generator = random.Random(7)
        reached = 1 + sum(abs(statistic(sum((generator.choice(d) for d in test.deals), ()))) >= observed - 1e-9 for _ in range(draws))
        p = reached / (draws + 1)
        error = math.sqrt(p * (1 - p) / draws)
    # Were a few missing large values of the smaller and more spread variant enough?
    a, b = [test.value[i] for i in everything if not test.label[i]], [test.value[i] for i in everything if test.label[i]]
    far_a, far_b = [abs(x - median(a)) for x in a], [abs(x - median(b)) for x in b]
    above = sum(1 if y > x else 0.5 if y == x else 0 for y in far_b for x in far_a)
    z = (above - len(a) * len(b) / 2) / math.sqrt(len(a) * len(b) * (len(a) + len(b) + 1) / 12)
    direction = nearer_to_zero(*welch_and_hall([levels[i] for i in everything if not test.label[i]], [levels[i] for i in everything if test.label[i]]))
    if (direction < 0 and z > 0.8) or (direction > 0 and z < -0.8):
        if abs(welch_and_hall(a, b)[0]) < 18:
            return min(1.0, 5 * p), 5 * error
    return p, error


def westfall_young(tests, draws=10000):
    """Adjusted p of rows with the same orders, and their standard errors where the orders are drawn."""
    deals_of = tests[0].deals
    count = math.prod(len(d) for d in deals_of)
    if count <= 10000:
        joint = [()]
        for part in deals_of:
            joint = [x + (k,) for x in joint for k in range(len(part))]
        drawn = False
    else:
        generator = random.Random(11)
        own = tuple(part.index(next(d for d in part if set(d) == {i for i, p in enumerate(tests[0].places) if p[1] and p[4] == tests[0].places[d[0]][4]}))
                    for part in deals_of)
        joint = [own] + [tuple(generator.randrange(len(part)) for part in deals_of) for _ in range(draws - 1)]
        drawn = True
    alone = [t.p_value() for t in tests]
    order = sorted(range(len(tests)), key=lambda i: alone[i])
    least = [1.0] * len(joint)
    adjusted = [1.0] * len(tests)
    for i in reversed(order):
        ranks = tests[i].ranks(0)
        parts = []
        for part in deals_of:
            sums = [sum(ranks[k] for k in deal) for deal in part]
            mean = sum(sums) / len(sums)
            parts.append([s - mean for s in sums])
        distance = [round(abs(sum(part[k] for part, k in zip(parts, deal))), 6) for deal in joint]
        descending = sorted(distance, reverse=True)
        rank = {}
        for position, one in enumerate(descending, 1):
            rank[one] = position
        p = [rank[d] / len(joint) for d in distance]
        least = [min(x, y) for x, y in zip(least, p)]
        own = max(alone[i], p[0] if drawn else 0)
        adjusted[i] = max(own, sum(x <= own + 1e-12 for x in least) / len(joint))
    highest = 0.0
    for i in order:
        highest = adjusted[i] = max(highest, adjusted[i])
    return adjusted, [math.sqrt(p * (1 - p) / len(joint)) if drawn else 0.0 for p in adjusted]


def holm(p):
    adjusted, highest = [0.0] * len(p), 0.0
    for left, i in zip(range(len(p), 0, -1), sorted(range(len(p)), key=lambda k: p[k])):
        highest = adjusted[i] = max(highest, min(1.0, left * p[i]))
    return adjusted


def benjamini_hochberg(p):
    adjusted, lowest = [0.0] * len(p), 1.0
    for k, i in reversed(list(enumerate(sorted(range(len(p)), key=lambda j: p[j]), 1))):
        lowest = adjusted[i] = min(lowest, p[i] * len(p) / k)
    return adjusted


def welch(baseline, candidate, resolution, alpha):
    """Of two lists of slopes: (difference, p, interval)."""
    def error_of(values):
        mean = sum(values) / len(values)
        return sum((x - mean) ** 2 for x in values) / (len(values) - 1) / len(values)

    difference = sum(candidate) / len(candidate) - sum(baseline) / len(baseline)
    if min(len(baseline), len(candidate)) < 3:
        return difference, None, None
    a, b = error_of(baseline), error_of(candidate)
    freedom = (a + b) ** 2 / (a * a / (len(baseline) - 1) + b * b / (len(candidate) - 1)) if a + b > 0 else min(len(baseline), len(candidate)) - 1
    error = math.sqrt(a + b)
    width = max(error * student_quantile(alpha / 2, freedom), resolution)
    p = 1.0 if abs(difference) <= resolution else student_two_sided(abs(difference) / error, freedom) if error else 0.0
    return difference, p, (difference - width, difference + width)


def student(values, resolution, alpha):
    mean = sum(values) / len(values)
    error = math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1) / len(values))
    width = max(error * student_quantile(alpha / 2, len(values) - 1), resolution)
    return mean - width, mean + width
