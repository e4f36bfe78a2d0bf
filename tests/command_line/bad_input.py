#!/usr/bin/env python3
"""Bad input of `memduel compare` and `measure`: bad_input.py MEMDUEL

Each call must end with the documented exit code and a message that names the option or the command, write nothing unless trials were to run, and leave no process."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MEMDUEL = os.path.abspath(sys.argv[1])
A, B = "sleep 0.01", "sleep 0.02"
SCAN = "sleep {n}"

# A command, and a part of the message. The exit code is 2, and nothing is written.
COMMANDS = [
    ("", "command '': names no program"),
    ("''", "command '''': names no program"),
    (" \n ", "names no program"),
    ("A=1", "command 'A=1': names no program"),
    ("echo 'a", "the quote ' is never closed"),
    ('echo "a', 'the quote " is never closed'),
    ("echo \\", "ends in a backslash"),
    ("echo $HOME", "found $HOME, which only a shell understands"),
    ('echo "$(id)"', "which only a shell understands"),
    ("echo a; echo b", "which only a shell understands"),
    ("no-such-program x", 'found no program "no-such-program" in its PATH'),
]

# The same of arguments.
REFUSED = [
    (["-S", "-N", A, B], "expected -N or a shell, found both"),
    (["-S", "--shell", "bash", A, B], "expected -S or --shell, found both"),
    (["-S", "bash", A, B], '-S: expected a command, found the shell "bash": -S has no value and stands for sh use --shell bash'),
    (["-S", "bash -e", A, B], "use --shell 'bash -e'"),
    (["-S", "none", A, B], "use --shell none"),
    (["--shell=", A, B], "--shell: expected a value, found empty text"),
    (["-r", "1..3", A, B], '--repeats: expected a number, found "1..3"'),
    (["-m", "0", A, B], '--min-runs: expected a number from 1 to 10000, found "0"'),
    (["-M", "x", A, B], '--max-runs: expected a number from 1 to 10000, found "x"'),
    (["-m", "3", "-M", "2", A, B], "expected --min-runs of at most --max-runs, found 3 and 2"),
    (["-r", "3", "-m", "3", A, B], "expected --runs, or --min-runs and --max-runs, found both"),
    ([A, A], "compare: expected different commands, found 'sleep 0.01' as a and as b change one of them, or measure the noise with --calibrate"),
    (["-n", "x", A, A], "expected different commands, found 'sleep 0.01' as x and as b"),
    (["sleep", "0.1"], "which is the name of no program quote a command with its arguments: memduel compare 'sleep 0.1'"),
    (["ls", "-l", "ls", "-a"], "unknown option -l of memduel, behind the program ls quote a command with its arguments: memduel compare 'ls -l'"),
    (["-L", "n=1,2", SCAN], 'expected VAR VALUES, found "n=1,2" give two words: -L n 1,2'),
    (["--json", A, B], "use --export json FILE"),
    (["--limit", "peak_rss<=1MiB", A, B], "--gate 'all.peak_rss_bytes<=200MiB' sets a limit"),
    (["-N", "--shell", "bash", A, B], "expected -N or a shell, found both"),
    (["-r", "0", A, B], '--repeats: expected a number from 1 to 10000, found "0"'),
    (["-r", "-1", A, B], '--repeats: expected a number from 1 to 10000, found "-1"'),
    (["-r", "1.5", A, B], '--repeats: expected a whole number, found "1.5"'),
    (["-r", "3x", A, B], '--repeats: expected a number, found "3x"'),
    (["-r", "x", A, B], '--repeats: expected a number from 1 to 10000, found "x"'),
    (["-w", "-1", A, B], '--warmup: expected a number from 0 to 100, found "-1"'),
    (["-r"], "--repeats: expected N, found none"),
    (["-w"], "--warmup: expected N, found none"),
    (["-P", "n", "5", "1", SCAN], "expected MIN MAX in ascending order, found 5 1"),
    (["-P", "n", "1", "5", "-D", "0", SCAN], "--parameter-step-size: expected a step above 0, found 0"),
    (["-P", "n", "1", "5", "-D", "-1", SCAN], "--parameter-step-size: expected a step above 0, found -1"),
    (["-P", "n", "1", "1000000", SCAN], "expected at most 64 values, found 1000000"),
    (["-P", "n", "0", "1", "-D", "0.000001", SCAN], "expected at most 64 values, found 1000001"),
    (["-P", "n", "nan", "inf", SCAN], 'expected a number of at most 9 digits, found "nan"'),
    (["-P", "n", "1", SCAN], 'expected a number of at most 9 digits, found "sleep {n}"'),
    (["-P", "n", SCAN], "expected VAR MIN MAX, found 2 words"),
    (["-D", "1", A, B], "expected --parameter-scan beside it, found none"),
    (["-L", "n"], "--parameter-list: expected 2 words, found fewer"),
    (["-L", "n", "", SCAN], "--parameter-list: expected a value, found empty text"),
    (["-L", "n", "1,,2", SCAN], 'found an empty value in "1,,2"'),
    (["-L", "n", "1,1", SCAN], "found the value 1 twice"),
    (["-L", "n", "1,2", "-L", "n", "3,4", SCAN], "found the parameter n twice"),
    (["-L", "n", "1,2", A, B], "expected {n} in 'sleep 0.01', found none"),
    (["-L", "n", "1,2", SCAN, B], "expected {n} in 'sleep 0.02', found none"),
    (["-L", "n", "1,2", "-P", "m", "1", "2", "sleep {n}{m}"], "expected --parameter-scan or --parameter-list, found both"),
    (["-n", "x", "-n", "x", A, B], '--command-name: found the name "x" twice'),
    (["-n", "x", "-n", "y", "-n", "z", A, B], "expected a name for each of 2 commands, found 3"),
    (["-n", "../x", A, B], "letters, digits and . _ + -"),
    (["--export-json", "folder", A, B], "folder: expected a file to write, found a directory"),
    (["--export-json", "out/results.json", A, B], "out/results.json: cannot write over a file of a run"),
    (["--export-json", "x", "--export-csv", "x", A, B], "found two outputs to one file, x and x"),
    (["--export-json", "x", "--export-csv", "./folder/../x", A, B], "found two outputs to one file"),
    (["--export-json", "x", "--export-json", "y", A, B], "--export-json: expected it once, found it 2 times"),
    (["--env", "A", A, B], '--env: expected NAME=VALUE, found "A"'),
    (["--env", "=1", A, B], '--env: expected NAME=VALUE, found "=1"'),
    (["--env", "A='1", A, B], "--env A='1: the quote ' is never closed"),
    (["--env", "A=1", "--env", "A=2", "--env", "A=3", A, B], "expected one for all commands, or 2 for 2 commands, found 3"),
    (["-i", "-i", A, B], "--ignore-failure: expected it once, found it 2 times"),
    (["--ignore-failure=256", A, B], 'expected exit statuses from 0 to 255, found "256"'),
    (["--gate", "memory<=+5%", A, B], 'unknown metric \'memory\' did you mean "peak_rss"?'),
    (["--gate", "peak_rsss<=+5%", A, B], 'did you mean "peak_rss"?'),
    (["--gate", "memory_peak_resident<=+5%", A, B], 'did you mean "peak_rss" or "peak_largest_process_rss"?'),
    (["--gate", "throughput<=+5%", A, B], "no trial recorded it; run memduel list metrics"),
    (["-w", "1", "--gate", "throughput<=+5%", A, B], "no trial recorded it; run memduel list metrics"),
    ([A, "./no-such-program"], 'found no program "./no-such-program"'),
    (["-col", ".file", A, B], "unknown option -col of benchstat"),
]

# The arguments, the exit code, a part of what is printed, and how many trials its results have: 0 if a run without results is
# left, which --resume continues, None if nothing is.
FAILED = [
    (["--export-json", "absent/x.json", A, B], 4, "cannot write: there is no directory", None),
    (["--export-json", "/proc/x.json", A, B], 4, "/proc/x.json: cannot create", 4),
    (["--export-json", "/dev/full", A, B], 4, "/dev/full: cannot write: No space left on device", 4),
    (["--setup", "exit 7", A, B], 3, "--setup: 'exit 7' of sleep-0.01 ended with status 7\n", None),
    (["--setup", "no-such-program", A, B], 3, "no-such-program: not found", None),
    (["--cleanup", "exit 7", A, B], 3, "--cleanup: 'exit 7' of sleep-0.01 ended with status 7\n", 4),
    (["--prepare", "false", A, B], 3, "prepare.1 exited with status 1", 0),
    # The second trial of each fails; the others are kept.
    (["--prepare", "test $MEMDUEL_ITERATION -lt 2", A, B], 0, "prepare.1 exited with status 1", 4),
    (["--conclude", "false", A, B], 0, "cleanup.1 exited with status 1", 4),
    (["false", A], 3, "the baseline a failed in all of its 2 trials, the last time: command exited with status 1", 0),
    ([A, "false"], 3, "command exited with status 1", 4),
    (["sh -c 'kill -9 $$'", A], 3, "command was ended by signal 9", 0),
]


def call(place, verb, words):
    quick = (["-r", "2"] if not {"-r", "-m", "-M"} & set(words) else []) + ["-w", "0", "--set", "profile.trials=0", "--verbose"]
    if "-w" in words:
        quick.remove("-w")
        quick.remove("0")
    return subprocess.run([MEMDUEL, verb, "--out", "out", *quick, *words], cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120)


def without_verb():
    """Commands where the name of memduel's own command is missing."""
    asked = [(["sort a", "sort b"], "did you mean memduel compare 'sort a' 'sort b'?"), (["sort a"], "did you mean memduel measure 'sort a'?"),
             (["/bin/true", "/bin/false"], "did you mean memduel compare /bin/true /bin/false?"),
             (["-r", "10", "sort a", "sort b"], "expected a command, found the option -r\n  did you mean memduel compare -r 10 'sort a' 'sort b'?"),
             (["--runs=10", "sort a"], "did you mean memduel compare --runs=10 'sort a'?"),
             (["--quiet", "measure", "sort a"], "did you mean memduel measure --quiet 'sort a'?"),
             (["--style", "basic", "sort a"], "unknown option --style of hyperfine; --quiet prints errors only"),
             (["-x", "sort a"], "expected a command, found the option -x"), (["-V"], "use --version"),
             (["--", "sort", "a"], "did you mean memduel record -- sort a, or memduel measure 'sort a'?"),
             (["measure", "sort", "a"], "give it as one word in quotes: memduel measure 'sort a'"),
             (["measure", "sort a", "sort b"], "did you mean memduel compare 'sort a' 'sort b'?"),
             (["measure", "ls", "-l"], "quote a command with its arguments: memduel measure 'ls -l'"),
             (["measure", "--json", "sort a"], "use --export json FILE"), (["report"], "expected DIR, found none"),
             (["run", sys.argv[0]], "expected a config, found a program did you mean memduel record -- python3")]
    with tempfile.TemporaryDirectory() as place:
        exported = pathlib.Path(place, "hf.json")
        exported.write_text('{"results": [{"command": "sort a", "times": [1, 2]}]}')
        asked += [([str(exported)], f"did you mean memduel compare {exported}?"),
                  ([str(exported), "b.json", "--gate", "default"], f"did you mean memduel compare {exported} b.json --gate default?"),
                  (["check", str(exported), "--gate", "peak_rss<=+5%"], f"did you mean memduel compare {exported} --gate 'peak_rss<=+5%'?"),
                  (["explain", str(exported)], f"did you mean memduel compare {exported}?"),
                  (["bench", "sort a", "sort b"], "did you mean memduel compare 'sort a' 'sort b'?"),
                  (["measure", "sort a", "--gate", "peak_rss<=+5%"], "memduel compare base.json new.json --gate 'peak_rss<=+5%'")]
        yield from refused_without_verb(asked)


def refused_without_verb(asked):
    for words, message in asked:
        done = subprocess.run([MEMDUEL, *words], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode != 2 or " ".join(message.split()) not in " ".join(done.stderr.split()):
            yield f"{words}: exit {done.returncode}\n{done.stderr}"


def mixtures():
    """A profile beside results."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([MEMDUEL, "record", "-o", "one.mdp", "--", "true"], cwd=place, check=True, capture_output=True, timeout=60)
        pathlib.Path(place, "results.json").write_text('{"results": []}')
        for words in (["one.mdp", "results.json"], ["results.json", "one.mdp"], ["one.mdp", "."], ["one.mdp", "true"]):
            done = subprocess.run([MEMDUEL, "compare", *words], cwd=place, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode != 2 or "expected commands, measured runs or profiles, found two of them: " not in done.stderr:
                yield f"{words}: exit {done.returncode}\n{done.stderr}"


def processes_in(place):
    """Those that have the folder as their working directory."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and os.readlink(process / "cwd").startswith(str(place)):
                found.append((process / "cmdline").read_text())
        except OSError:
            pass
    return found


def tried(verb, words, code, message, trials):
    """What is wrong with a call, or nothing."""
    with tempfile.TemporaryDirectory() as root:
        place = pathlib.Path(root).resolve()
        (place / "folder").mkdir()
        done = call(place, verb, words)
        wrong = []
        printed = done.stderr + done.stdout
        joined = " ".join(printed.split())
        if done.returncode != code:
            wrong.append(f"exit {done.returncode}, expected {code}")
        if message not in printed and " ".join(message.split()) not in joined:
            wrong.append(f"expected \"{message}\"")
        results = place / "out" / "results.json"
        if trials is None:
            left = sorted(path.name for path in place.iterdir() if path.name != "folder")
            if left:
                wrong.append(f"wrote {left}")
        elif trials == 0:
            if results.exists() or not (place / "out" / "run.sqlite").exists():
                wrong.append("expected a run without results")
        elif not results.exists():
            wrong.append("no results.json")
        elif len(json.loads(results.read_text())["trials"]) != trials:
            wrong.append(f"expected {trials} trials")
        if processes_in(place):
            wrong.append(f"left {processes_in(place)}")
        return f"{verb} {words}: {'; '.join(wrong)}\n{printed}" if wrong else ""


def main():
    calls = [("compare", words, 2, message, None) for words, message in REFUSED]
    calls += [(verb, [command] + [B] * (verb == "compare"), 2, message, None) for command, message in COMMANDS for verb in ("compare", "measure")]
    calls += [("compare", *rest) for rest in FAILED]
    wrong = [one for one in (tried(*each) for each in calls) if one] + list(without_verb()) + list(mixtures())
    print(f"{len(calls)} calls with bad input, {len(wrong)} with another end than expected")
    for one in wrong:
        print(f"WRONG {one}")
    return 1 if wrong else 0


sys.exit(main())
