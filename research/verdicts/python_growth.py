#!/usr/bin/env python3
"""examples/python-fl/warm-up.json, N times: is the healthy server called growing, and is the leak found, with its stack?

    research/verdicts/python_growth.py [N]        (default 20; needs python3 with torch)

Prints one line per try; fails when a healthy server is called growing, or when a leak is missed in more than one of twenty tries.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMDUEL = os.environ.get("MEMDUEL", str(ROOT / "build/release/bin/memduel"))
GROWTH = ("heap_growth_bytes_per_round", "rss_growth_bytes_per_round")


def verdicts(results, arm):
    """Of the server's growth per round, by metric."""
    return {row["metric"]: row["verdict"] for row in results["growth"]
            if row["variant"] == arm and row["role"] == "server" and row["metric"] in GROWTH}


def try_once(out):
    status = subprocess.run([MEMDUEL, "run", str(ROOT / "examples/python-fl/warm-up.json"), "--quiet", "--out", str(out)],
                            stdout=subprocess.DEVNULL).returncode
    if status not in (0, 1):
        sys.exit(f"memduel ended with {status}")
    return json.loads((out / "results.json").read_text())


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    false, found = 0, 0
    for number in range(1, count + 1):
        with tempfile.TemporaryDirectory() as folder:
            results = try_once(pathlib.Path(folder) / "run")
        healthy, leak = verdicts(results, "healthy"), verdicts(results, "leak")
        named = "keep_part" in json.dumps(results["differences"])
        false += "growing" in healthy.values()
        found += "growing" in leak.values() and named
        print(f"{number}: healthy {healthy}, leak {leak}, stack {'named' if named else 'not named'}", flush=True)
    print(f"healthy called growing in {false} of {count}, leak found with its stack in {found} of {count}")
    return 1 if false > 0 or count - found > count / 20 else 0


if __name__ == "__main__":
    sys.exit(main())
