#!/usr/bin/env python3
"""Five unlike real commands, each against itself, N times: how often is a gate row called improved or regressed?

    research/verdicts/real_commands.py [N]        (default 30; needs git, gcc, python3, sqlite3's module and xz)

Every run draws its own order. Prints one line per command; fails when more than 8% of all runs call any gate row.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMDUEL = os.environ.get("MEMDUEL", str(ROOT / "build/release/bin/memduel"))

SQLITE = """import sqlite3
base = sqlite3.connect(':memory:')
base.execute('create table t(a, b)')
base.executemany('insert into t values(?, ?)', ((i, str(i) * 5) for i in range(60000)))
base.execute('create index i on t(b)')
print(base.execute('select count(*), max(b) from t').fetchone())"""

THREADS = """import threading
def work():
    kept = [bytes(1000 + i % 97) for i in range(20000)]
    return len(kept)
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]"""


def commands(work):
    source = work / "unit.cpp"
    source.write_text("#include <map>\n#include <string>\nint main() { std::map<std::string, int> m; m[\"a\"] = 1; return m.size() - 1; }\n")
    text = work / "text"
    text.write_bytes(bytes(range(256)) * 20000)
    return {
        "compiler": f"g++ -O1 -o {work}/unit {source}",
        "sqlite": f"python3 {work}/sqlite.py",
        "threads": f"python3 {work}/threads.py",
        "xz": f"xz -k -f -3 -T2 {text}",
        "git": f"git -C {ROOT} log --stat -n 200 --format=%H",
    }


def called(command, out):
    status = subprocess.run([MEMDUEL, "compare", "--a", command, "--b", command, "--calibrate", "--quiet", "--set",
                             "profile.trials=0", "--out", str(out)], stdout=subprocess.DEVNULL).returncode
    if status not in (0, 1):
        sys.exit(f"{command}: memduel ended with {status}")
    rows = json.loads((out / "results.json").read_text())["comparisons"]
    shutil.rmtree(out)
    return [row["role"] + "." + row["metric"] for row in rows if row["gate"] and row["verdict"] in ("improved", "regressed")]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "sqlite.py").write_text(SQLITE)
        (work / "threads.py").write_text(THREADS)
        for name, command in commands(work).items():
            found = [rows for _ in range(count) if (rows := called(command, work / "run"))]
            total += len(found)
            print(f"{name}: called in {len(found)} of {count} runs {found if found else ''}", flush=True)
    print(f"{total} of {5 * count} runs against itself called a gate row")
    return 1 if total > 0.08 * 5 * count else 0


if __name__ == "__main__":
    sys.exit(main())
