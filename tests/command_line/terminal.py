#!/usr/bin/env python3
"""`memduel compare` with options of hyperfine on a pseudo-terminal of 80 columns: terminal.py MEMDUEL

Progress is one live line that disappears, what is printed fits, and Ctrl-C leaves no process and prints how to resume."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shlex
import struct
import sys
import tempfile
import termios
import time

MEMDUEL = os.path.abspath(sys.argv[1])
COLUMNS = 80
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(place, words, interrupted_at=None):
    """Exit code and all bytes. Ctrl-C is typed when `interrupted_at` appears in them."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(place)
        os.execve(MEMDUEL, ["memduel", *words], {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": f"{place}/state"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    printed, end = b"", time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            some = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            some = b""
        if not some:
            break
        printed += some
        if interrupted_at and interrupted_at in printed:
            os.write(terminal, b"\x03")
            interrupted_at = None
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    # The terminal itself echoes ^C.
    return os.waitstatus_to_exitcode(status), printed.decode(errors="replace").replace("^C", "")


def rows_of(printed):
    """Each line's states, one written over the other."""
    return [[ESCAPE.sub("", state) for state in line.rstrip("\r").split("\r")] for line in printed.split("\n")]


def expect_fits(printed, words):
    for row in rows_of(printed):
        for state in row:
            is_path_or_command = "memduel " in state or "/" in state
            assert len(state) <= COLUMNS or is_path_or_command, f"{words}: {len(state)} columns: {state}"


def expect_one_live_line(printed, words):
    live = [row for row in rows_of(printed) if any(re.match(r"trial \d+ of", state) for state in row)]
    assert len(live) == 1, f"{words}: {len(live)} lines of progress\n{printed}"
    assert len(live[0]) > 2, f"{words}: {live}"
    assert not re.match(r"trial \d+ of", live[0][-1]), f"{words}: the progress stays: {live[0][-1]}"


def processes_with(text):
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and int(process.name) != os.getpid() and text in (process / "cmdline").read_text():
                found.append(process.name)
        except OSError:
            pass
    return found


def expect_no_process(text):
    for _ in range(50):
        if not processes_with(text):
            return
        time.sleep(0.1)
    raise AssertionError(f"{len(processes_with(text))} processes are left")


def measured(place):
    quick = ["-w", "1", "-r", "4", "--set", "profile.trials=0"]
    for words in (["-L", "n", "1,2,3", "sleep 0.0{n}"],
                  ["-n", "a command with a name that is long", "sleep 0.02", "-n", "another command with a name that is long", "sleep 0.03"],
                  ["-S", "--prepare", "echo prepared", "--conclude", "echo concluded", "--setup", "echo set up", "--cleanup", "echo cleaned", "sleep 0.02", "sleep 0.03 | cat"],
                  ["--env", "A=1", "--env", "A=2", "sleep 0.02", "sleep 0.02"],
                  ["--export-json", "x.json", "-i", "sh -c 'sleep 0.02; exit 3'", "sleep 0.02"],
                  ["sleep 0.02"]):
        code, printed = on_a_terminal(place, ["compare", *quick, *words])
        assert code == 0, f"{words}: exit {code}\n{printed}"
        expect_fits(printed, words)
        expect_one_live_line(printed, words)


def interrupted(place):
    mark = f"0.3{os.getpid()}"  # of the commands' own command lines
    words = ["compare", "-w", "0", "-r", "4", "--set", "profile.trials=0", "--out", "ended", "--setup", "echo >> setup", "--cleanup", "echo >> cleanup",
             "--prepare", "echo >> prepare", "--conclude", "echo >> conclude", f"sleep {mark}1", f"sleep {mark}2"]
    code, printed = on_a_terminal(place, words, b"trial 3 of 8")
    assert code == 130, f"exit {code}\n{printed}"
    expect_fits(printed, "interrupted")
    expect_no_process(f"sleep\0{mark}")
    lines = lambda name: (place / name).read_text().count("\n") if (place / name).exists() else 0
    assert lines("setup") == 1 and lines("cleanup") == 0, "--cleanup runs after the last trial only"
    assert lines("conclude") >= lines("prepare"), "--conclude runs after an interrupted trial, too"
    shown = " ".join(ESCAPE.sub("", printed).split())
    resume = re.search(r"(memduel compare .*--resume)", shown)
    assert resume, printed
    code, printed = on_a_terminal(place, shlex.split(resume.group(1))[1:])
    assert code == 0, f"exit {code}\n{printed}"
    trials = json.loads((place / "ended" / "results.json").read_text())["trials"]
    assert len(trials) == 8 and all(one["status"] == "ok" for one in trials), trials
    assert lines("setup") == 2 and lines("cleanup") == 1, (lines("setup"), lines("cleanup"))


def main():
    with tempfile.TemporaryDirectory() as root:
        measured(pathlib.Path(root))
        interrupted(pathlib.Path(root))
    print("compare on a terminal: fits, one live line, and Ctrl-C leaves no process")


main()
