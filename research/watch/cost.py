#!/usr/bin/env python3
"""What memduel watch costs: its CPU time and resident set while it watches a tree of processes.

    research/watch/cost.py build/release/bin/memduel [SECONDS] [PROCESSES] [MIB]

Starts PROCESSES (50) children that hold MIB (20) each and touch them now and then, watches them for
SECONDS (180) with RSS each second and PSS each minute, and prints the share of one CPU and the
resident set of memduel after a third of the time and at the end.
"""
import os
import subprocess
import sys
import tempfile
import time

HOLD = "import sys, time\nkept = bytearray(b'x') * (int(sys.argv[1]) << 20)\nwhile True: time.sleep(60)"


def field(pid, name):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    return 0


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        words = stat.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main():
    memduel = sys.argv[1]
    seconds, processes, mib = [
        int(sys.argv[at]) if len(sys.argv) > at else default for at, default in ((2, 180), (3, 50), (4, 20))
    ]
    children = [subprocess.Popen([sys.executable, "-c", HOLD, str(mib)]) for _ in range(processes)]
    with tempfile.TemporaryDirectory() as scratch:
        watch = subprocess.Popen(
            [memduel, "watch", "--quiet", "--out", scratch + "/run", "--pid", str(os.getpid()), "--duration", str(seconds)]
        )
        time.sleep(seconds / 3)
        early_cpu, early_rss = cpu_seconds(watch.pid), field(watch.pid, "VmRSS")
        time.sleep(seconds / 3 * 2 - 1)
        cpu, rss = cpu_seconds(watch.pid), field(watch.pid, "VmRSS")
        watch.wait()
    for child in children:
        child.kill()
        child.wait()
    print(f"{processes} processes of {mib} MiB, {seconds} s: {100 * cpu / (seconds - 1):.2f}% of a CPU "
          f"({100 * (cpu - early_cpu) / (seconds / 3 * 2 - 1):.2f}% after the first third), "
          f"RSS {early_rss / 1024:.1f} MiB after a third, {rss / 1024:.1f} MiB at the end")


if __name__ == "__main__":
    main()
