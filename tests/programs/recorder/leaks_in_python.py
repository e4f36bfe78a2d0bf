"""Five rounds; the innermost of five Python functions keeps 256 KiB in each `upload`."""

import os
import sys

sys.path.insert(0, os.environ["MEMDUEL_ANNOTATE_DIR"])
import memduel_annotate as memduel

kept = []


def one():
    two()


def two():
    three()


def three():
    four()


def four():
    fifth_keeps_it()


def fifth_keeps_it():
    kept.append(bytearray(256 * 1024 - 1))  # CPython asks for one byte more


def train():
    for _ in range(20):
        bytearray(100_000)


for n in range(1, 6):
    memduel.round_begin(n)
    memduel.phase("train")
    train()
    memduel.phase("upload")
    one()
    memduel.round_end(n)
