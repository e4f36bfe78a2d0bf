#!/usr/bin/env python3
"""Every command of hyperfine 2.0.0's README and --help, with `memduel compare` in its place: hyperfine.py MEMDUEL

Programs of the examples that are not here (fd, make, clang++) are stand-ins; what is tried is how the words are read. Sources: README.md and
src/cli.rs of hyperfine 2.0.0.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MEMDUEL = os.path.abspath(sys.argv[1])
QUICK = ["--repeats", "1", "--warmup", "0", "--quiet"]

# Of hyperfine 2.0.0's --help, without --help and --version. Each is in an example below.
OPTIONS = """--metrics --warmup -w --min-runs -m --max-runs -M --runs -r --env --setup -s --prepare -p --conclude -C --cleanup -c --parameter-scan -P
    --parameter-step-size -D --parameter-list -L --shell -S -N --ignore-failure -i --style --export-asciidoc --export-csv --export-json --export-markdown
    --export-orgmode --show-output --output --input --command-name -n""".split()

# Arguments, and how many variants they make or what the refusal says.
EXAMPLES = [
    (["sleep 0.01"], 1),
    (["hexdump file", "xxd file"], 2),
    (["-r", "2", "sleep 0.01", "sleep 0.02"], 2),
    (["--runs", "1", "sleep 0.01", "sleep 0.02"], 2),
    (["-w", "1", "grep -R TODO .", "grep TODO f"], 2),
    (["--warmup", "1", "grep -R TODO .", "grep TODO f"], 2),
    (["-p", "sync; echo 3 | cat > dropped", "cat f", "cat g"], 2),
    (["--prepare", "touch a", "cat f", "--prepare", "touch b", "cat g"], 2),
    (["-C", "rm -f left", "cat f", "cat g"], 2),
    (["-s", "touch made", "-c", "rm made", "cat f", "cat g"], 2),
    (["--conclude", "rm -f left", "cat f", "cat g"], 2),
    (["--setup", "touch made", "--cleanup", "rm made", "cat f", "cat g"], 2),
    (["-P", "threads", "1", "3", "sleep 0.0{threads}"], 3),
    (["--parameter-list", "name", "f,g", "cat {name}"], 2),
    (["--prepare", "true", "-P", "threads", "1", "2", "./run -j {threads}"], 2),
    (["-P", "delay", "0.03", "0.07", "-D", "0.02", "sleep {delay}"], 3),
    (["--parameter-scan", "delay", "0.03", "0.05", "--parameter-step-size", "0.02", "sleep {delay}"], 2),
    (["-L", "compiler", "./run,./other", "{compiler} -O2 main.cpp"], 2),
    (["-L", "number", "1,2", "-L", "word", "x,y", "./run {number} {word}"], 4),
    (["--shell=bash", "-P", "size", "0", "1", "sleep 0.0$((2**{size}))"], 2),
    (["--shell", "bash", "for i in 1 2; do echo $i; done", "echo 1"], 2),
    (["-S", "echo a | cat", "echo b && true"], 2),
    (["-N", "cat f", "cat g"], 2),
    (["echo a | cat", "cat f"], "found |, which only a shell understands"),
    (["sleep 0.01 && echo test", "cat f"], "which only a shell understands"),
    (["-i", "./fail", "cat f"], 2),
    (["--ignore-failure=1,2", "./fail", "cat f"], 2),
    (["--ignore-failure=all-non-zero", "./fail", "cat f"], 2),
    (["-n", "first", "cat f", "-n", "second", "cat g"], 2),
    (["--command-name", "first", "cat f", "cat g"], 2),
    (["-n", "wait 1s", "cat f", "cat g"], 2),
    (["-P", "threads", "1", "2", "--env", "OMP_NUM_THREADS={threads}", "./run"], 2),
    (["--env", "OMP_NUM_THREADS=8 CFLAGS=\"-O3 -march=native\"", "./run", "./other"], 2),
    (["--env", "OMP_NUM_THREADS=8", "./run", "--env", "RAYON_NUM_THREADS=8", "./other"], 2),
    (["-S", "./run > output-${HYPERFINE_ITERATION}.log", "cat f"], 2),
    (["--export-json", "r.json", "--export-csv", "r.csv", "--export-markdown", "r.md", "cat f", "cat g"], 2),
    (["-m", "2", "-M", "3", "cat f", "cat g"], 2),
    (["--min-runs", "2", "cat f"], 1),
    (["--max-runs", "2", "cat f", "cat g"], 2),
    (["--env=", "cat f", "--env", "A=1", "cat f"], 2),
    (["--prepare", "", "cat f", "--prepare", "touch a", "cat f"], 2),
    (["--conclude", "", "cat f", "--conclude", "touch a", "cat f"], 2),
    (["--shell=none", "cat f", "cat g"], 2),
    (["--shell", "default", "cat f | cat", "cat g"], 2),
    (["--shell", "bash --norc", "cat f | cat", "cat g"], 2),
    (["--metrics", "time", "cat f", "cat g"], "unknown option --metrics of hyperfine; memory and time are always measured"),
    (["--output", "pipe", "cat f", "cat g"], "use -S 'CMD > FILE'"),
    (["--input", "f", "cat", "cat -n"], "use -S 'CMD < FILE'"),
    (["--show-output", "cat f", "cat g"], "logs/ of the run"),
    (["--style", "basic", "cat f", "cat g"], "--quiet prints errors only"),
    (["--reference", "cat f", "cat g"], "the first command is the baseline"),
    (["-u", "millisecond", "cat f", "cat g"], "--export-csv has seconds"),
    (["--export-orgmode", "r.org", "cat f", "cat g"], "use --export-markdown FILE"),
    (["--export-asciidoc", "r.adoc", "cat f", "cat g"], "use --export-markdown FILE"),
    (["--parameter-scan", "n=1,2", "cat {n}"], "expected VAR MIN MAX"),
]


def check_two_files(place, exported):
    """Of two files with several commands the one that both have is compared, and a warning states how many are not."""
    one_command = {**exported, "results": [exported["results"][1]]}
    (place / "g.json").write_text(json.dumps(one_command))
    (place / "both.json").write_text(json.dumps(exported))
    done = subprocess.run([MEMDUEL, "compare", "g.json", "both.json"], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "1 other command of g.json and both.json is not compared" in " ".join(done.stdout.split()), done.stdout + done.stderr
    (place / "again.json").write_text(json.dumps(exported))
    for words, status, message in ((["again.json"], 2, "found 2: "), (["again.json", "--variant", "cat g"], 0, "2 other commands of both.json and again.json are not compared")):
        done = subprocess.run([MEMDUEL, "compare", "both.json", *words], cwd=place, capture_output=True, text=True, check=False)
        assert done.returncode == status and message in " ".join((done.stdout + done.stderr).split()), done.stdout + done.stderr


def main():
    given = {word.split("=")[0] for words, _ in EXAMPLES for word in words}
    wrong = [f"{option}: no example has it" for option in OPTIONS if option not in given]
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as runs:
        place = pathlib.Path(root)
        for name in ("f", "g", "file", "main.cpp"):
            (place / name).write_text("TODO\n" * 100)
        for name, status in (("run", 0), ("other", 0), ("fail", 1)):
            (place / name).write_text(f"#!/bin/sh\nexit {status}\n")
            (place / name).chmod(0o755)
        (place / "hexdump").write_text("#!/bin/sh\ncat \"$@\" > /dev/null\n")
        (place / "xxd").write_text("#!/bin/sh\ncat \"$@\" > /dev/null\n")
        for name in ("hexdump", "xxd"):
            (place / name).chmod(0o755)
        environment = {**os.environ, "PATH": f"{root}:{os.environ['PATH']}"}
        for i, (words, expected) in enumerate(EXAMPLES):
            out = str(pathlib.Path(runs) / f"run-{i}")
            quick = [] if {"-r", "--runs", "-m", "-M", "--min-runs", "--max-runs"} & set(words) else QUICK[:2]
            quick += [] if {"-w", "--warmup"} & set(words) else QUICK[2:4]
            done = subprocess.run([MEMDUEL, "compare", *quick, "--quiet", "--out", out, *words], cwd=place, env=environment, capture_output=True, text=True, check=False)
            if isinstance(expected, str):
                if done.returncode != 2 or expected not in done.stderr or os.path.exists(out):
                    wrong.append(f"{words}: exit {done.returncode}, expected 2 and \"{expected}\"\n{done.stderr}")
                continue
            if done.returncode != 0:
                wrong.append(f"{words}: exit {done.returncode}\n{done.stderr}")
                continue
            variants = [one["name"] for one in json.loads((pathlib.Path(out) / "results.json").read_text())["variants"]]
            if len(variants) != expected:
                wrong.append(f"{words}: {variants}, expected {expected} variants")
        exported = json.loads((place / "r.json").read_text())
        assert exported["schema_version"] == 2 and len(exported["results"]) == 2
        for metric in ("time_wall_clock", "time_cpu", "memory_peak_resident"):
            assert exported["results"][0]["summary"][metric]["count"] == 1, metric
        assert (place / "r.csv").read_text().startswith("command,time_wall_clock_unit,time_wall_clock_mean,")
        assert (place / "r.md").read_text().startswith("| Command | Mean Wall Time [ms] | Change | Factor |")
        assert not (place / "made").exists(), "--cleanup ran"
        check_two_files(place, exported)
    print(f"{len(EXAMPLES)} commands of hyperfine's, {len(wrong)} read otherwise than expected")
    for one in wrong:
        print(f"WRONG {one}")
    return 1 if wrong else 0


sys.exit(main())
