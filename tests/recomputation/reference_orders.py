"""The orders in which the trials of two variants could have run, as docs/method.md defines them ("The order", "The test")."""
import itertools


def imbalance(order, baseline, candidate):
    """(drift, parity) of a superblock; places are counted within the pair."""
    pair = [variant for variant in order if variant in (baseline, candidate)]
    sign = [1 if variant == candidate else -1 for variant in pair]
    return (sum(s * place for place, s in enumerate(sign)), sum(s * (-1) ** place for place, s in enumerate(sign)))


def is_accepted(drift, parity):
    return abs(drift) <= 6 and abs(parity) <= 4


def segments_of(blocks):
    """Blocks of each segment: at most eight, of more than eight six at a time."""
    segments = []
    while blocks > 8:
        segments.append(6)
        blocks -= 6
    return segments + ([blocks] if blocks > 0 else [])


def planned_segments(repeats, candidates, shards=1):
    if repeats is None:
        looks = (8, 16) if candidates > 1 else (6, 10, 16)
        return [part for before, look in zip((0,) + looks, looks) for part in segments_of(look - before)]
    if shards > 1:
        pairs = repeats // 2
        return [part for i in range(shards) for part in segments_of(2 * ((i + 1) * pairs // shards - i * pairs // shards))]
    return segments_of(repeats)


def labels_of(superblock, number, pair, blocks):
    """The ways to deal the pair's labels in one superblock: (order, places that count).

    `superblock` has the variant of each place. A place counts if its trial is of a block in `blocks`; others keep their label, and an order in which
    other places would count is not one of the ways.
    """
    places = [i for i, variant in enumerate(superblock) if variant in pair]

    def counting(order):
        seen = {}
        result = []
        for place in places:
            seen[order[place]] = seen.get(order[place], 0) + 1
            if 2 * number + seen[order[place]] in blocks:
                result.append(place)
        return result

    counted = counting(superblock)
    ways = []
    for chosen in itertools.combinations(places, sum(superblock[i] == pair[1] for i in places)):
        order = list(superblock)
        for place in places:
            order[place] = pair[1] if place in chosen else pair[0]
        if all(order[place] == superblock[place] for place in places if place not in counted) and counting(order) == counted:
            ways.append(order)
    return counted, ways


def never_run(superblocks, variants):
    """The sums that superblocks which never ran may add to (drift, parity), for two variants."""
    sums = {(0, 0)}
    for blocks in superblocks:
        orders = set(itertools.permutations([v for v in variants for _ in range(blocks)]))
        each = {imbalance(order, *variants) for order in orders}
        sums = {(a + c, b + d) for a, b in sums for c, d in each}
    return sums


def deals(segment, first, pair, variants, baseline, blocks, beyond=(0, 0)):
    """Which of the segment's counting places may be the candidate's: (places, sets of places), a place being (superblock, place).

    `segment` lists the superblocks that ran; `beyond` is what the others add to the imbalance (two variants only).
    """
    restricted = [v for v in variants if v != baseline] if len(variants) <= 4 else []
    counted, parts = [], []
    for index, superblock in enumerate(segment):
        places, ways = labels_of(superblock, first + index, pair, blocks)
        counted += [(first + index, place) for place in places]
        parts.append([(tuple((first + index, place) for place in places if order[place] == pair[1]), [imbalance(order, baseline, v) for v in restricted])
                      for order in ways])
    found = []

    def combine(index, chosen, sums):
        if index == len(parts):
            if all(is_accepted(*one) for one in sums):
                found.append(chosen)
            return
        for places, add in parts[index]:
            combine(index + 1, chosen + places, [(a + c, b + d) for (a, b), (c, d) in zip(sums, add)])

    combine(0, (), [beyond] * len(restricted))
    return counted, found
