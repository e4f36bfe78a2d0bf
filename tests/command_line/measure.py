#!/usr/bin/env python3
"""Measures commands of known memory with `memduel measure`, and holds its numbers to those of the program itself and of the kernel, which a parent of
little memory reads (wait4): measure.py MEMDUEL"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MEMDUEL = os.path.abspath(sys.argv[1])
MIB = 1 << 20

# Touches as many KiB as its argument says and appends its own VmHWM, which the kernel keeps since the program began, to a file.
PROGRAM = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  const size_t bytes = strtoul(argv[1], 0, 10) << 10;
  char* block = bytes ? malloc(bytes) : 0;
  if (block) memset(block, 1, bytes);
  __asm__ volatile("" : : "r"(block) : "memory");
  char text[4096];
  const int status = open("/proc/self/status", O_RDONLY);
  const ssize_t length = read(status, text, sizeof(text) - 1);
  if (length <= 0 || argc < 3) return 0;
  text[length] = 0;
  const char* begin = strstr(text, "VmHWM:");
  const int out = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644);
  return write(out, begin, strchr(begin, '\n') + 1 - begin) < 0;
}
"""

# Two children of multiprocessing hold 16 MiB each while the parent holds 64 MiB.
CHILDREN = """
import multiprocessing, time
def hold(_):
    block = bytearray(b"x") * (16 << 20)
    time.sleep(0.3)
    return len(block)
if __name__ == "__main__":
    block = bytearray(b"x") * (64 << 20)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(hold, range(2))
"""

# Starts two hundred programs by vfork, each of which has its parent's 200 MiB until it is executed.
PROGRAMS = """
import subprocess
block = bytearray(b"x") * (200 << 20)
for _ in range(200):
    subprocess.run(["/bin/true"])
"""


def measure(place, *words):
    done = subprocess.run([MEMDUEL, "measure", *words], cwd=place, env={**os.environ, "XDG_STATE_HOME": str(place / "state")}, capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def medians(place, out):
    """Of all processes, by metric."""
    trials = json.loads((place / out / "results.json").read_text())["trials"]
    values = {}
    for trial in trials:
        if trial["kind"] == "measure":
            for role in trial["roles"]:
                if role["role"] == "all":
                    for metric, value in role["metrics"].items():
                        values.setdefault(metric, []).append(value)
    return {metric: sorted(all)[len(all) // 2] for metric, all in values.items()}


def own_peak(file):
    return sorted(int(line.split()[1]) << 10 for line in file.read_text().splitlines())[-1]


def check_programs(place):
    """The heap is exact; the resident set is the program's own VmHWM up to the pages that the kernel has not added up (32 of each processor)."""
    slack = 64 * 4096 * 2
    for name, flags in (("dynamic", []), ("static", ["-static"])):
        built = subprocess.run(["cc", "-O1", *flags, "-o", name, "program.c"], cwd=place, capture_output=True, text=True, check=False)
        if built.returncode != 0 and flags:
            print(f"no {name} program: {built.stderr.splitlines()[-1]}")
            continue
        found = {}
        for kib in (0, 200, 8192):
            own, out = place / f"{name}-{kib}.own", f"run-{name}-{kib}"
            code, text, err = measure(place, "-r", "5", "--out", out, f"./{name} {kib} {own}")
            assert code == 0, text + err
            found[kib] = medians(place, out)
            rss = found[kib]["peak_rss_bytes"]
            assert abs(rss - own_peak(own)) <= slack, f"{name} {kib}: peak RSS {rss}, its own VmHWM {own_peak(own)}"
            if name == "dynamic":
                heap = found[kib]["peak_heap_bytes"]
                assert kib << 10 <= heap <= (kib << 10) + 4096, f"{name} {kib}: peak heap {heap}"
                is_small = kib < 1024
                limitations = json.loads((place / out / "results.json").read_text())["limitations"]
                assert is_small == any(one["code"] == "near_floor" for one in limitations), f"{name} {kib}: {limitations}"
        grown = found[8192]["peak_rss_bytes"] - found[0]["peak_rss_bytes"]
        assert abs(grown - 8 * MIB) <= slack, f"{name}: 8 MiB of heap add {grown} bytes to peak RSS"
        print(f"{name}: " + ", ".join(f"{kib} KiB of heap: peak RSS {all['peak_rss_bytes'] / 1024:.0f} KiB" for kib, all in found.items()))


def check_processes(place):
    (place / "children.py").write_text(CHILDREN)
    code, text, err = measure(place, "-r", "5", "--out", "run-children", "python3 children.py")
    assert code == 0, text + err
    of_all = medians(place, "run-children")
    largest, total = of_all["peak_largest_process_rss_bytes"], of_all["peak_rss_bytes"]
    assert 64 * MIB < largest < 100 * MIB and total > largest + 32 * MIB, of_all
    assert "peak RSS of the largest process" in text and "Where:" in text, text
    print(f"processes: {total / MIB:.1f} MiB, the largest {largest / MIB:.1f} MiB")


def check_started_programs(place):
    (place / "programs.py").write_text(PROGRAMS)
    code, _, err = measure(place, "-r", "3", "--out", "programs", "/usr/bin/python3 programs.py")
    assert code == 0, err
    trials = json.loads((place / "programs/results.json").read_text())["trials"]
    peaks = [role["metrics"]["peak_rss_bytes"] for trial in trials for role in trial["roles"] if role["role"] == "all"]
    assert len(peaks) >= 3 and all(200 * MIB <= peak <= 240 * MIB for peak in peaks), peaks


def check_limits(place):
    command = "./dynamic 8192"
    quick = ["-r", "5", "--set", "profile.trials=0"]
    assert measure(place, *quick, "--limit", "heap<=9MiB", "--limit", "wall_time<=60s", command)[0] == 0
    code, text, _ = measure(place, *quick, "--limit", "heap<=9MiB", "--limit", "peak_rss<=4MB", command)
    assert code == 1 and "3.81 MiB" in text, text
    few = ["-r", "3", "--set", "profile.trials=0", "--limit", "peak_rss<=90MiB"]
    assert measure(place, *few, command)[0] == 5
    assert measure(place, *few, "--on-inconclusive", "pass", command)[0] == 0
    for words, said in ((["--limit", "memory<=9MiB"], "did you mean \"peak_rss\"?"), (["--limit", "loss<=9"], "peak_rss, largest_process, heap"), (["--limit", "heap<=9"], "has no unit"),
                        (["--limit", "heap>=9MiB"], "found >="), (["--limit", "heap<=+2%"], "needs a baseline"), (["--a", "x"], "memduel compare"),
                        (["--gate", "default"], "--limit"), (["-L", "n", "1,2"], "memduel compare"), (["true"], "expected one command, found 2"),
                        (["--on-inconclusive", "fail"], "no gate decides")):
        code, _, err = measure(place, *words, command)
        assert code == 2 and said in err, f"{words}: exit {code}\n{err}"


def check_outputs(place):
    code, text, err = measure(place, "-r", "5", "-n", "small", "--quiet", "--export", "json", "/dev/stdout", "./dynamic 200")
    assert code == 0, err
    results = json.loads(text)
    assert [one["name"] for one in results["variants"]] == ["small"]
    words = results["environment"]["reproduce"]
    assert words.startswith("memduel measure -r 5 -n small") and "./dynamic 200" in words, words
    code, text, err = measure(place, "-r", "5", "--out", "kept", "./dynamic 4096")
    assert "median" in text and "min … max" in text and "main" in text, text
    assert (place / "kept/report.html").stat().st_size > 0
    again = subprocess.run([MEMDUEL, "compare", "-r", "5", "--out", "kept-2", "./dynamic 4096"], cwd=place, capture_output=True, text=True, check=False)
    assert again.returncode == 0 and "min … max" in again.stdout, again.stdout + again.stderr


def main():
    with tempfile.TemporaryDirectory() as root:
        place = pathlib.Path(root)
        (place / "program.c").write_text(PROGRAM)
        for check in (check_programs, check_processes, check_started_programs, check_limits, check_outputs):
            check(place)
    print("measure: all as expected")


main()
