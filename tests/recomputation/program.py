#!/usr/bin/python3
"""A program whose memory is given by its arguments: what the runs of this folder measure.

    program.py [--mib N] [--spread PERCENT] [--rounds N] [--leak KIB] [--vary PERCENT] [--pause MS] [--fail NTH] [--gauge NAME=VALUE]...

--spread and --vary draw the size and the leak anew in every trial; --fail N ends every N-th trial by SIGSEGV (1: all).
"""
import argparse
import hashlib
import os
import random
import signal
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--mib", type=float, default=4)
parser.add_argument("--spread", type=float, default=0)
parser.add_argument("--rounds", type=int, default=0)
parser.add_argument("--leak", type=float, default=0)
parser.add_argument("--vary", type=float, default=0)
parser.add_argument("--pause", type=float, default=0)
parser.add_argument("--block", type=int, default=0)
parser.add_argument("--fail", type=int, default=0)
parser.add_argument("--gauge", action="append", default=[])
arguments = parser.parse_args()

held = bytearray(b"x") * int(arguments.mib * (1 + random.gauss(0, arguments.spread / 100)) * 1048576)
if arguments.fail and arguments.block % arguments.fail == 0:
    os.kill(os.getpid(), signal.SIGSEGV)
if arguments.rounds or arguments.gauge:
    import memduel_annotate as memduel

    memduel.idle()
    step = int(max(0, arguments.leak * (1 + random.gauss(0, arguments.vary / 100))) * 1024)
    kept = []
    for number in range(1, max(1, arguments.rounds) + 1):
        memduel.round_begin(number)
        kept.append(bytearray(b"y") * step)
        for gauge in arguments.gauge:
            name, value = gauge.split("=")
            memduel.gauge(name, float(value) + random.choice((0, 0, 1)) if name.startswith("some") else float(value))
        time.sleep(arguments.pause / 1000)
        memduel.round_end(number)
else:
    time.sleep(arguments.pause / 1000)
sys.stdout.write(hashlib.sha256(held[:64]).hexdigest() + "\n")
