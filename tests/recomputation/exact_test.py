"""The exact test of docs/method.md on the values of one row, by its definition: estimate, p, interval."""
import math

NEAR = 1e-12  # differences that rounding alone tells apart, relative to the largest


def student_two_sided(t, freedom):
    """P(|T| >= t), by the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8)."""
    if math.isinf(t):
        return 0.0
    x = freedom / (freedom + t * t)
    return incomplete_beta(freedom / 2, 0.5, x)


def incomplete_beta(a, b, x):
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    result = d
    for m in range(1, 1000):
        for numerator in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 + numerator * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + numerator / (c if abs(c) > tiny else tiny)
            result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * result / a


def student_quantile(tail, freedom):
    """t with P(T > t) = tail, by bisection."""
    low, high = 0.0, 1.0
    while student_two_sided(high, freedom) > 2 * tail:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if student_two_sided(middle, freedom) > 2 * tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def median(values):
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2 or ordered[half - 1] == ordered[half]:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def shift(baseline, candidate):
    """Hodges and Lehmann's."""
    return median([0.0 if a == b else b - a for b in candidate for a in baseline])


class ExactTest:
    """`places` are the counting places in any order, each (value, is_candidate, side, neighbours, segment); `deals` lists for each segment
    the sets of indices that may be the candidate's."""

    def __init__(self, places, deals, removes_places=True):
        self.places = places
        self.deals = deals
        self.value = [p[0] for p in places]
        self.label = [int(p[1]) for p in places]
        finite = [abs(b - a) for b, of_b in zip(self.value, self.label) for a, of_a in zip(self.value, self.label)
                  if of_b and not of_a and math.isfinite(a) and math.isfinite(b)]
        self.near = NEAR * max(finite, default=0)
        self.pairs = [(b, a) for b in range(len(places)) if self.label[b] for a in range(len(places)) if not self.label[a]]
        self.neighbours = self._neighbours() if removes_places else []
        self.cache = {}
        self.borders = self._borders()
        self.points = self._points()

    def _neighbours(self):
        by_pair = {}
        for index, (_, _, side, pair, _) in enumerate(self.places):
            if side:
                by_pair.setdefault(pair, {})[side] = index
        both = [(pair[-0.5], pair[0.5]) for pair in by_pair.values() if len(pair) == 2]
        both = [(i, j) for i, j in both if math.isfinite(self.value[i]) and math.isfinite(self.value[j])]
        equal = sum(self.value[i] == self.value[j] for i, j in both)
        return both if len(both) >= 3 and 2 * equal < len(both) else []

    def place(self, delta):
        """(effect of the second of two neighbours, its p) with the candidate's values lowered by delta."""
        if not self.neighbours:
            return 0.0, 1.0
        differences = [self.value[j] - self.value[i] - delta * (self.label[j] - self.label[i]) for i, j in self.neighbours]
        n = len(differences)
        mean = sum(differences) / n
        squares = sum((d - mean) ** 2 for d in differences)
        if mean == 0:
            return mean, 1.0
        if squares == 0:
            return mean, 0.0
        return mean, student_two_sided(abs(mean) / math.sqrt(squares / (n - 1) / n), n - 1)

    def acts(self, delta):
        return self.place(delta)[1] < 0.20

    def _line(self):
        """The effect of the places as base - slope * delta."""
        if not self.neighbours:
            return 0.0, 0.0
        n = len(self.neighbours)
        return (sum(self.value[j] - self.value[i] for i, j in self.neighbours) / n, sum(self.label[j] - self.label[i] for i, j in self.neighbours) / n)

    def _crossings(self, base, slope):
        crossings = []
        for b, a in self.pairs:
            rise = self.value[b] - self.value[a] if self.value[b] != self.value[a] else 0.0
            rise -= base * (self.places[b][2] - self.places[a][2])
            fall = 1 - slope * (self.places[b][2] - self.places[a][2])
            if abs(rise) <= self.near:
                crossings.append(0.0)
            elif fall > 1e-9:
                crossings.append(rise / fall)
            else:
                crossings.append(math.copysign(math.inf, rise))
        return crossings

    def _crossings_within_arms(self, base, slope):
        """Where two values of one variant are level: only the effect of the places moves them against each other."""
        if not slope:
            return []
        crossings = []
        for i, p in enumerate(self.places):
            for j, q in enumerate(self.places):
                by_side = q[2] - p[2]
                if by_side > 0 and self.label[i] == self.label[j] and math.isfinite(self.value[i]) and math.isfinite(self.value[j]):
                    crossings.append((base - (self.value[j] - self.value[i]) / by_side) / slope)
        return crossings

    def _borders(self):
        """Where the rule on places changes, by bisection between points of a fine net."""
        if not self.neighbours:
            return []
        finite = [x for x in self._crossings(0, 0) if math.isfinite(x)]
        if not finite:
            return []
        width = max(finite) - min(finite) + self.near + 1e-300
        net = [min(finite) - width + 3 * width * k / 2000 for k in range(2001)]
        # The narrowest stretches lie around the shift without an effect and around the one with most of it.
        base, slope = self._line()
        if slope and net[0] < base / slope < net[-1]:
            net.append(base / slope)
        most = min(range(1, 2000), key=lambda k: self.place(net[k])[1])
        left, right = net[most - 1], net[most + 1]
        for _ in range(100):
            thirds = left + (right - left) / 3, right - (right - left) / 3
            left, right = (left, thirds[1]) if self.place(thirds[0])[1] < self.place(thirds[1])[1] else (thirds[0], right)
        # A row is asked about every change from none on, which the values may be far from.
        end = net[0] if net[0] > 0 else min(net[2000], 0)
        net = sorted([*net, left, *(end * k / 2000 for k in range(2000) if end)])
        borders = []
        for left, right in zip(net, net[1:]):
            if self.acts(left) == self.acts(right):
                continue
            for _ in range(60):
                middle = (left + right) / 2
                left, right = (middle, right) if self.acts(middle) == self.acts(left) else (left, middle)
            borders.append(right)
        return borders

    def _points(self):
        base, slope = self._line()
        points = [x for x in self._crossings(0, 0) if math.isfinite(x) and not self.acts(x)]
        points += [x for x in self._crossings(base, slope) if math.isfinite(x) and self.acts(x)]
        points += [x for x in self._crossings_within_arms(base, slope) if self.acts(x)]
        points += self.borders
        distinct = []
        for point in sorted(points):
            if not distinct or point - distinct[-1] > self.near:
                distinct.append(point)
        return distinct

    def estimate_without_places(self):
        return median(self._crossings(*self._line()))

    def ranks(self, delta):
        """Doubled mid-ranks."""
        effect = self.place(delta)[0] if self.acts(delta) and delta not in self.borders else 0.0
        level = [v - effect * p[2] - (delta if label else 0) for v, p, label in zip(self.value, self.places, self.label)]
        order = sorted(range(len(level)), key=lambda i: level[i])
        ranks = [0] * len(level)
        start = 0
        for end in range(1, len(order) + 1):
            if end < len(order) and (level[order[end]] == level[order[end - 1]] or level[order[end]] - level[order[end - 1]] <= 3 * self.near):
                continue
            for i in order[start:end]:
                ranks[i] = start + end + 1
            start = end
        return ranks

    def p_by_ranks(self, ranks):
        """The share of all orders whose rank sum is at least as far from its mean."""
        total = {0: 1}
        count, mean, own, moved = 1, 0.0, 0, 0
        variance = 0.0
        for chosen in self.deals:
            sums = {}
            for deal in chosen:
                s = sum([ranks[i] for i in deal])
                sums[s] = sums.get(s, 0) + 1
            size = len(chosen)
            average = sum(s * k for s, k in sums.items()) / size
            variance += sum((s - average) ** 2 * k for s, k in sums.items()) / size
            mean += average
            count *= size
            following = {}
            for s, k in sums.items():
                for t, m in total.items():
                    following[s + t] = following.get(s + t, 0) + k * m
            total = following
        for index, label in enumerate(self.label):
            if self.places[index][4] is not None:
                moved += 1
                own += ranks[index] * label
        distance = abs(own - mean)
        if distance < 1e-9 or not self.deals:
            return 1.0
        if moved > 48:
            return math.erfc(max(0, distance - 1) / math.sqrt(2 * variance)) if variance else 1.0
        return sum(k for s, k in total.items() if abs(s - mean) >= distance - 1e-9) / count

    # Piece 2k is the open stretch below point k, piece 2k + 1 the point itself; the last piece lies above all points.
    def pieces(self):
        return 2 * len(self.points) + 1

    def _inside(self, piece):
        if piece % 2:
            return self.points[piece // 2]
        if not self.points:
            return 0.0
        k = piece // 2
        if k == 0:
            return min(self.points[0] - 1, 0.0)
        if k == len(self.points):
            return max(self.points[-1] + 1, 0.0)
        low, high = self.points[k - 1], self.points[k]
        return 0.0 if low < 0 < high else (low + high) / 2

    def p(self, piece):
        if piece not in self.cache:
            self.cache[piece] = self.p_by_ranks(self.ranks(self._inside(piece)))
        return self.cache[piece]

    def piece_of(self, delta):
        for k, point in enumerate(self.points):
            if abs(point - delta) <= self.near:
                return 2 * k + 1
            if point > delta:
                return 2 * k
        return 2 * len(self.points)

    def interval(self, alpha):
        """The hull of all shifts with p > alpha."""
        low = next((k for k in range(self.pieces()) if self.p(k) > alpha), None)
        if low is None:
            return None
        high = next(k for k in range(self.pieces() - 1, -1, -1) if self.p(k) > alpha)
        return (-math.inf if low == 0 else self.points[(low - 1) // 2], math.inf if high == self.pieces() - 1 else self.points[high // 2])

    def p_value(self):
        """The largest level whose interval still contains 0."""
        zero = self.piece_of(0)
        at = [zero] if zero % 2 == 0 else [zero - 1, zero, zero + 1]
        below = at + list(range(zero))
        above = at + list(range(zero + 1, self.pieces()))
        nearer, farther = (above, below) if self.estimate() >= 0 else (below, above)
        least = max(self.p(k) for k in farther)
        if least <= self.p(self.piece_of(self.estimate())):
            return least
        return min(least, max(self.p(k) for k in nearer))

    def estimate(self):
        return median(self._crossings(0, 0))
