#!/usr/bin/env python3
"""Hostile circumstances for every verb, drawn from a seed: what is written, how it dies, what it leaves.

    tests/hostile/chaos.py MEMDUEL [--seconds S | --cases N] [--seed S]

Each case is one call of memduel (or two) with jobs, files, descriptors, limits, signals and bytes that somebody's machine could have. Whatever they are:
  - it ends, and not by a signal that nobody sent; its status is one that the documentation names
  - none of its processes outlives it (kill -9 of memduel: after the next run)
  - files that it was not told to write keep their bytes and their kind; devices, FIFOs and symlinks stay what they are
  - what it was told to write is whole or absent
  - no message is a library's, and no foreign byte commands the terminal
Prints one line per broken promise, with the seed that repeats it; fails when there is one.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

LIMIT = 90  # seconds for one call; the longest that is sound takes ten
TOKEN = "MEMDUEL_CHAOS"
STATUSES = {0, 1, 2, 3, 4, 5, 129, 130, 143}
LIBRARY_WORDS = (b"what():", b"terminate called", b"json.exception", b"basic_string", b"std::bad_alloc", b"filesystem error", b"Assertion", b"Sanitizer",
                 b"vector::", b"SQL logic error", b"[json.")

JOBS = {
    "true": ["true"],
    "allocates": ["python3", "-S", "-c", "x = bytearray(3_000_000); import time; time.sleep(0.05)"],
    "sort": ["sort", "/etc/services"],
    "fails": ["sh", "-c", "exit 7"],
    "kills itself": ["sh", "-c", "kill -9 $$"],
    "stops itself": ["sh", "-c", "kill -STOP $$; exit 0"],
    "daemonises": ["sh", "-c", "setsid sleep 30 >/dev/null 2>&1 & exit 0"],
    "forks much": ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do true & done; wait"],
    "closes all": ["python3", "-S", "-c", "import os; os.closerange(0, 4096); x = bytearray(1_000_000)"],
    "talks garbage": ["sh", "-c", "head -c 20000 /dev/urandom; head -c 3000 /dev/urandom >&2; exit 3"],
    "talks escapes": ["sh", "-c", r"printf '\033]0;owned\007\033[2J\302'; printf '\033[31mX\n' >&2; exit 2"],
    "endless line": ["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x"],
    "ignores signals": ["sh", "-c", "trap '' TERM INT HUP; sleep 1.5"],
    "writes to its parent": ["sh", "-c", "kill -WINCH $PPID; kill -CHLD $PPID; kill -CONT $PPID"],
    "new mask": ["sh", "-c", "umask 777; echo x > made 2>/dev/null; exit 0"],
    "removes its directory": ["sh", "-c", "rm -rf -- \"$PWD\"/run/trials 2>/dev/null; exit 0"],
    "odd environment": ["env", "-u", "PATH", "/bin/true"],
    "no environment": ["env", "-i", "/bin/ls", "/"],
    "missing": ["/nonexistent/program"],
    "a directory": ["/tmp"],
    "no permission": ["./unreadable"],
    "bad shebang": ["./bad-shebang"],
    "no format": ["./garbage-program"],
    "static": ["./busy-sh", "-c", ":"],
    "full file": ["sh", "-c", "echo x > /dev/full"],
    "long name": ["sh", "-c", "true", "x" * 3000],
    "hostile name": ["./a\x1b[31m\nb"],
}


class Broken(Exception):
    pass


class Place:
    """A directory with files that must survive, and with odd targets."""

    def __init__(self, folder, draw, memduel):
        self.folder, self.draw, self.memduel = pathlib.Path(folder), draw, memduel
        self.kept = {}
        self.keep("victim", b"the victim's own words\n" * 40)
        self.keep("other.json", b'{"mine": true}\n')
        (self.folder / "occupied").mkdir()
        self.keep("occupied/report.html", b"<html>mine</html>")
        self.keep("occupied/notes.txt", b"mine too")
        (self.folder / "link").symlink_to("linked")
        self.keep("linked-to-nothing-yet", b"untouched")
        (self.folder / "dangling").symlink_to("not-there")
        (self.folder / "loop").symlink_to("loop")
        os.mkfifo(self.folder / "fifo")
        for name, minor in (("null", 3), ("full", 7)):
            if os.geteuid() == 0:
                os.mknod(self.folder / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            else:
                (self.folder / name).symlink_to(f"/dev/{name}")
        self.program("unreadable", b"#!/bin/sh\ntrue\n", 0o000)
        self.program("bad-shebang", b"#!/nonexistent/interpreter -x\n", 0o755)
        self.program("garbage-program", bytes(draw.randrange(256) for _ in range(500)), 0o755)
        self.program("a\x1b[31m\nb", b"#!/bin/sh\nexit 0\n", 0o755)
        if os.path.exists("/bin/busybox"):
            shutil.copy("/bin/busybox", self.folder / "busy-sh")
        else:
            self.program("busy-sh", b"#!/bin/sh\nexit 0\n", 0o755)
        self.inodes = {name: (self.folder / name).lstat() for name in ("link", "dangling", "loop", "fifo", "null", "full")}

    def keep(self, name, content):
        (self.folder / name).write_bytes(content)
        self.kept[name] = content

    def program(self, name, content, mode):
        (self.folder / name).write_bytes(content)
        (self.folder / name).chmod(mode)

    def check(self):
        for name, content in self.kept.items():
            path = self.folder / name
            if not path.exists() or path.read_bytes() != content:
                raise Broken(f"{name} is no longer what its owner wrote")
        for name, before in self.inodes.items():
            now = (self.folder / name).lstat() if os.path.lexists(self.folder / name) else None
            if now is None or stat.S_IFMT(now.st_mode) != stat.S_IFMT(before.st_mode) or now.st_ino != before.st_ino:
                raise Broken(f"{name} was replaced")


def processes(token):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if f"{TOKEN}={token}".encode() in (entry / "environ").read_bytes() and (entry / "stat").read_text().rsplit(")")[-1].split()[0] != "Z":
                found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:80]))
        except OSError:
            pass
    return found


class Call:
    """One call of memduel under drawn circumstances."""

    def __init__(self, place, draw, arguments, token):
        self.place, self.draw, self.token = place, draw, token
        self.arguments = [place.memduel] + arguments
        self.limits, self.closed, self.streams, self.signals = [], [], {}, []
        self.environment = dict(os.environ, **{TOKEN: token})
        self.story = []
        self.killed = False
        self.terminal_bytes_may_be_foreign = False

    def circumstances(self):
        draw = self.draw
        for _ in range(draw.choice([0, 1, 1, 2])):
            kind = draw.choice(["limit", "close", "full", "pipe", "environment", "signal", "signal", "stdin"])
            if kind == "limit":
                what, value = draw.choice([("NOFILE", draw.choice([5, 12, 20, 40, 64, 100, 128])), ("FSIZE", draw.choice([0, 100, 5000, 200_000])),
                                           ("NPROC", 100_000), ("STACK", 256 * 1024), ("CORE", 0), ("AS", draw.choice([60, 200, 900]) * 2**20),
                                           ("CPU", 3), ("DATA", 50 * 2**20)])
                self.limits.append((getattr(resource, "RLIMIT_" + what), value))
                self.story.append(f"ulimit {what} {value}")
            elif kind == "close":
                self.closed = draw.choice([[0], [1], [2], [0, 1, 2], [1, 2]])
                self.story.append(f"closed {self.closed}")
            elif kind == "full":
                self.streams[draw.choice(["stdout", "stderr"])] = "full"
                self.story.append(f"{list(self.streams)} on a full device")
            elif kind == "pipe":
                self.streams[draw.choice(["stdout", "stderr"])] = "deaf"
                self.story.append(f"{list(self.streams)} with no reader")
            elif kind == "stdin":
                self.streams["stdin"] = "/dev/zero"
                self.story.append("stdin endless")
            elif kind == "environment":
                name, value = draw.choice([("TMPDIR", "/nonexistent"), ("TMPDIR", str(self.place.folder / "victim")), ("HOME", None), ("HOME", "/proc/nonexistent"),
                                           ("PATH", ""), ("PATH", None), ("LANG", "tr_TR.UTF-8"), ("LC_ALL", "garbage"), ("TERM", "dumb"), ("COLUMNS", "-3"),
                                           ("COLUMNS", "99999999999"), ("LD_PRELOAD", "/nonexistent.so"), ("MALLOC_PERTURB_", "165"), ("NO_COLOR", "1"),
                                           ("TZ", ":/etc/passwd"), ("X", "\udcff\udcfe"), ("DEBUGINFOD_URLS", "http://127.0.0.1:1"), ("BIG", "x" * 120_000)])
                if value is None:
                    self.environment.pop(name, None)
                else:
                    self.environment[name] = value
                self.story.append(f"{name}={str(value)[:40]!r}")
            elif kind == "signal":
                when = draw.choice([0.0, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0, 2.0]) * draw.random() * 2
                name = draw.choice(["INT", "TERM", "HUP", "KILL", "QUIT", "USR1", "WINCH", "CONT", "STOP", "PIPE", "ALRM", "INT", "TERM"])
                self.signals.append((when, name))
                self.story.append(f"{name} after {when:.2f} s")
        self.signals.sort()

    def run(self):
        child_limits, closed, streams = self.limits, self.closed, self.streams

        def prepare():
            for limit, value in child_limits:
                hard = resource.getrlimit(limit)[1]
                value = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(limit, (value, value))
            for fd in closed:
                os.close(fd)

        files = {}
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        files["stdout"], files["stderr"], files["stdin"] = out, err, subprocess.DEVNULL
        ends = []
        for stream, kind in streams.items():
            if kind == "full":
                files[stream] = open("/dev/full", "wb")
            elif kind == "deaf":
                reading, writing = os.pipe()
                os.close(reading)
                files[stream] = os.fdopen(writing, "wb")
            else:
                files[stream] = open(kind, "rb")
            ends.append(files[stream])
        try:
            program = subprocess.Popen(self.arguments, cwd=self.place.folder, env=self.environment, preexec_fn=prepare, start_new_session=True, **files)
        except (OSError, subprocess.SubprocessError):
            return False  # the limit keeps anything from starting
        for end in ends:
            end.close()
        begin = time.monotonic()
        sent = set()
        for when, name in self.signals:
            try:
                program.wait(max(0, begin + when - time.monotonic()))
                break
            except subprocess.TimeoutExpired:
                program.send_signal(getattr(signal, "SIG" + name))
                sent.add(name)
                if name == "STOP":
                    time.sleep(0.2)
                    program.send_signal(signal.SIGCONT)
        try:
            program.wait(max(1, begin + LIMIT - time.monotonic()))
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
            raise Broken(f"does not end in {LIMIT} s")
        self.status = program.returncode
        self.sent = sent
        self.killed = "KILL" in sent
        out.seek(0), err.seek(0)
        self.out, self.err = out.read(), err.read()
        return True

    def check(self, own_statuses, may_die):
        """`may_die`: the verb has nothing to clean up, so that a signal may end it; any verb may, before it has begun."""
        status = self.status
        deadly = {-getattr(signal, "SIG" + name) for name in self.sent if name in ("KILL", "QUIT", "USR1", "ALRM")}
        if "LD_PRELOAD" in self.environment and self.streams.get("stderr") == "deaf":
            deadly |= {-signal.SIGPIPE}  # the dynamic linker's own complaint
        if may_die or any(when < 0.5 for when, _ in self.signals):
            deadly |= {-getattr(signal, "SIG" + name) for name in self.sent if name in ("INT", "TERM", "HUP", "PIPE")}
        if any(limit == resource.RLIMIT_CPU for limit, _ in self.limits):
            deadly |= {-signal.SIGXCPU, -signal.SIGKILL}
        if any(limit == resource.RLIMIT_AS for limit, _ in self.limits):
            deadly |= {127}  # the loader itself finds no room
        if any(limit == resource.RLIMIT_NOFILE and value < 8 for limit, value in self.limits):
            deadly |= {127}  # nor descriptors
        if status not in own_statuses and status not in deadly:
            raise Broken(f"status {status}")
        for word in LIBRARY_WORDS:
            if word in self.err:
                raise Broken(f"a library speaks: {word.decode()}")
        if not self.terminal_bytes_may_be_foreign:
            for name, text in (("stdout", self.out), ("stderr", self.err)):
                if b"\x1b]" in text or b"\x1b[2J" in text or b"\x07" in text:
                    raise Broken(f"foreign bytes command the terminal on {name}")
            if status == 2 and b"\x1b" in self.err:
                raise Broken("ESC in an error")


def settle(token, seconds):
    """What still runs after a grace."""
    end = time.monotonic() + seconds
    while (left := processes(token)) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def whole(path):
    """A file that looks whole is."""
    if not path.exists() or path.is_symlink() or not path.is_file() or path.stat().st_size == 0:
        return
    data = path.read_bytes()
    if path.name.endswith(".json"):
        try:
            json.loads(data)
        except ValueError as error:
            raise Broken(f"{path.name} is no whole JSON: {error}")
    if path.name.endswith(".html") and not data.rstrip().endswith(b"</html>"):
        raise Broken(f"{path.name} is cut off")


class Cases:
    def __init__(self, memduel, material):
        self.memduel, self.material = memduel, material

    def job(self, draw, but=None):
        """`but`: a stopped command stays stopped, as below a shell; only a trial has a deadline."""
        name = draw.choice([name for name in JOBS if name != but])
        return name, JOBS[name]

    def record(self, draw, place):
        name, command = self.job(draw, but="stops itself")
        mode = draw.choice([[], ["--exact"], ["--count"], ["--interval", "4096"], ["--alone"]])
        target = draw.choice(["out.mdp", "out.json", "link", "dangling", "loop", "null", "full", "occupied", "missing/x.mdp", "out.mdp.part", "", "ä\x1b[1m.mdp",
                              "x" * 250, "out.mdp"])
        words = ["record", *mode] + (["-o", target] if draw.random() < 0.8 else []) + ["--", *command]
        if draw.random() < 0.1:
            words.remove("--")
        return name, words, set(range(0, 256))

    def compare(self, draw, place):
        name, command = self.job(draw)
        other = draw.choice([JOBS["true"], JOBS["allocates"], command])
        quote = lambda words: " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
        out = draw.choice(["run", "run", "run", "occupied", "link", "victim", "missing/deep/run", "null", "\x1b[1mrun", "..", "."])
        words = ["compare", "--a", quote(other), "--b", quote(command), "--out", out, "--repeats", draw.choice(["1", "2", "0", "-1", "x", "1e9", "3"])]
        if words[-1] == "1e9":
            words[-1] = "99999999999999999999"
        for extra in (["--calibrate"], ["--quiet"], ["--gate", "command.peak_rss_bytes<=+2%"], ["--gate", "x"], ["--max-minutes", "0.05"], ["-S"],
                      ["--gate", "default"], ["--gate", "client-\x1b[2J.x<=1"], ["--set", "profile.trials=0"], ["--set", "workload.deadline_seconds=2"]):
            if draw.random() < 0.25:
                words += extra
        if "workload.deadline_seconds=2" not in words:
            words += ["--set", "workload.deadline_seconds=3"]
        return name, words, STATUSES

    def watch(self, draw, place):
        name, command = self.job(draw, but="stops itself")
        words = ["watch", "--interval", draw.choice(["0.05", "1", "0", "-1", "nan", "1e300"]), "--out", draw.choice(["run", "occupied", "link", "victim"]),
                 "--round-pattern", draw.choice([r"(\d+)", "(", "(?<round>x*)*y", ""])]
        if draw.random() < 0.2:
            words += ["--log", draw.choice(["fifo", "missing", "victim", "null", "loop", "occupied"])]
        if draw.random() < 0.3:
            words += ["--pid", draw.choice(["1", "0", "-1", "999999999", "2", "99999999999999"]), "--duration", "0.3"]
            return "pid", words, STATUSES | {125}
        return name, words + ["--", *command], set(range(0, 256))

    def read(self, draw, place):
        source = draw.choice(self.material["profiles"])
        path = place.folder / ("p" + source.suffix)
        data = bytearray(source.read_bytes())
        for _ in range(draw.choice([0, 0, 1, 3, 20])):
            if data:
                data[draw.randrange(len(data))] = draw.randrange(256)
        if draw.random() < 0.3:
            del data[draw.randrange(len(data) + 1):]
        path.write_bytes(data)
        place.kept[path.name] = bytes(data)
        target = draw.choice(["page.html", "link", "null", "full", "dangling", path.name, "occupied", "missing/p", "page.html.part"])
        verb = draw.choice(["summary", "flamegraph", "export", "export"])
        words = [verb, path.name]
        if verb == "flamegraph":
            words += ["-o", target] + (["--diff", path.name] if draw.random() < 0.3 else [])
        if verb == "export":
            words += ["--format", draw.choice(["pprof", "pprof", "folded", "x"])] + (["-o", target] if draw.random() < 0.7 else [])
        return source.name, words, STATUSES

    def judge(self, draw, place):
        shutil.copytree(self.material["run"], place.folder / "r")
        spoilt = draw.choice([None, None, "results.json", "run.sqlite", "config.json", "run.lock"])
        if spoilt and (place.folder / "r" / spoilt).exists():
            path = place.folder / "r" / spoilt
            data = bytearray(path.read_bytes())
            how = draw.choice(["cut", "flip", "empty", "directory", "random", "link"])
            path.unlink()
            if how == "cut":
                path.write_bytes(data[: draw.randrange(len(data) + 1)])
            elif how == "flip":
                for _ in range(10):
                    if data:
                        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
                path.write_bytes(data)
            elif how == "empty":
                path.write_bytes(b"")
            elif how == "directory":
                path.mkdir()
            elif how == "random":
                path.write_bytes(draw.randbytes(3000))
            else:
                path.symlink_to("../victim")
        words = draw.choice([["report", "r"], ["report", "r", "--format", "markdown"], ["report", "r", "--format", "csv"], ["check", "r"],
                             ["check", "r", "--junit", draw.choice(["null", "link", "victim2", "full"])], ["explain", "r", "command.peak_rss_bytes"], ["explain", "r", "a\x1b[2Jb.c"],
                             ["check", "r", "--export", draw.choice(["csv", "bencher", "json"]), draw.choice(["null", "link", "victim2", "full"])],
                             ["merge", "r", "r", "--out", draw.choice(["m", "r", "null", "victim"])], ["report", "r", "--format", "benchmark-action"],
                             ["compare", "r", "r"], ["compare", "r/results.json", "r/results.json"], ["report", "occupied"], ["report", "victim"],
                             ["check", "null"], ["report", "fifo"], ["compare", "r", "victim"], ["check", "r", "--gate", "command.peak_rss_bytes<=1e309"]])
        return f"{spoilt or 'whole'} run", words, STATUSES

    def config(self, draw, place):
        text = self.material["config"]
        for _ in range(draw.choice([1, 1, 2, 4])):
            how = draw.random()
            if how < 0.4:
                at = draw.randrange(len(text))
                text = text[:at] + draw.choice(['"', "{", "}", ",", "[", "null", "1e999", "\\u0000", "-", "\x00", "é", "\udcff", "/*", "NaN", "99999999999999999999"]) + text[at:]
            elif how < 0.7:
                at, length = draw.randrange(len(text)), draw.randrange(30)
                text = text[:at] + text[at + length:]
            else:
                numbers = [word for word in text.replace(",", " ").split() if word.isdigit()]
                if numbers:
                    text = text.replace(draw.choice(numbers), draw.choice(["0", "-1", "1e18", '"1"', "[]", "{}", "true"]), 1)
        (place.folder / "c.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        verb = draw.choice(["run", "run", "plan", "calibrate", "ablate"])
        return "config", [verb, "c.json", "--out", "run", "--max-minutes", "0.02"], STATUSES

    def small(self, draw, place):
        words = draw.choice([["doctor"], ["doctor", "--ci"], ["list", "metrics"], ["list", "profilers"], ["--help"], ["--version"], ["generate", "manual"], ["generate", "bash"],
                             ["list", "x"], ["x"], [], ["--x"], ["run"], ["run", "missing.json"], ["run", "fifo-less"], ["run", "occupied"], ["run", "null"], ["run", "loop"],
                             ["checkpoints", "summary", "occupied"], ["checkpoints", "prune", "occupied"], ["checkpoints", "summary", "loop"],
                             ["budget"], ["budget", "--model", "x"],
                             ["budget", "--model", "gat-large", "--device-memory", "1e400GiB"]])
        return "small", words, STATUSES


def again(place, token, draw):
    """After kill -9 the next run ends what is left, and takes what was measured."""
    call = Call(place, draw, ["compare", "--a", "true", "--b", "true", "--calibrate", "--repeats", "1", "--out", "after", "--quiet"], token)
    call.run()
    if call.status != 0:
        raise Broken(f"the run after kill -9 ends with {call.status}: {call.err[-300:]!r}")


def one(memduel, material, seed):
    draw = random.Random(seed)
    cases = Cases(memduel, material)
    kind = draw.choice(["record", "record", "compare", "compare", "compare", "watch", "read", "read", "judge", "judge", "config", "small"])
    token = f"{os.getpid()}.{seed}"
    folder = tempfile.mkdtemp(prefix="chaos.")
    call = None
    try:
        place = Place(folder, draw, memduel)
        name, words, statuses = getattr(cases, kind)(draw, place)
        call = Call(place, draw, words, token)
        # The command's own words are its own; pprof is binary.
        call.terminal_bytes_may_be_foreign = kind in ("record", "watch") or "pprof" in words
        call.circumstances()
        # A target that the case itself names may change.
        for target in words:
            if target in place.kept and not (kind == "read" and target == words[1]):
                if "-o" in words and words[words.index("-o") + 1] == target:
                    place.kept.pop(target)
        if not call.run():
            return None
        call.check(statuses, may_die=kind in ("read", "judge", "small"))
        daemon_allowed = kind in ("record", "watch")
        if call.killed or (call.status < 0 and call.status != -9 and kind not in ("record", "watch")):
            again(place, token, draw)
        left = settle(token, 8 if not daemon_allowed else 3)
        if daemon_allowed:
            left = [process for process in left if "memduel" in process[1]]
        if left and not (call.status < 0 and daemon_allowed):
            raise Broken(f"left running: {left}")
        place.check()
        written = [place.folder / "page.html"] if words[:1] == ["flamegraph"] else []
        for path in written + [place.folder / run / name for run in ("run", "r") for name in ("results.json", "report.html")
                               if kind in ("compare", "watch", "config") and not call.killed]:
            whole(path)
        if not call.killed and call.status >= 0:
            strays = [path.name for path in place.folder.iterdir() if path.name.startswith(".memduel") or path.name.startswith(".tmp") or ".part." in path.name]
            if strays:
                raise Broken(f"temporary files stay: {strays}")
    except Broken as broken:
        line = f"seed {seed}: {kind} ({name}): {broken}; {call.story if call else ''}; {call.arguments[1:] if call else ''}"
        tail = (call.err[-400:] if hasattr(call, "err") else b"")
        return f"{line[:900]}\n      {tail!r}"
    finally:
        for pid, _ in processes(token):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        shutil.rmtree(folder, ignore_errors=True)
    return None


def use_own_cache(folder):
    """memduels with another cache directory leave alone what these cases leave behind, and these leave alone theirs."""
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
    os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")


def prepare(memduel, folder):
    """A run and profiles of this build to spoil."""
    folder = pathlib.Path(folder)
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    subprocess.run([memduel, "compare", "--a", "sort /etc/services", "--b", "sort -r /etc/services", "--repeats", "4", "--out", "run"], check=True, **quiet)
    subprocess.run([memduel, "record", "-o", "sampled.mdp", "--", "sort", "/etc/services"], check=True, **quiet)
    subprocess.run([memduel, "record", "--exact", "-o", "exact.mdp", "--", "sort", "/etc/services"], check=True, **quiet)
    profiles = [folder / "sampled.mdp", folder / "exact.mdp"]
    for form, name in (("pprof", "x.pb.gz"), ("folded", "x.folded")):
        subprocess.run([memduel, "export", "exact.mdp", "--format", form, "-o", name], check=True, **quiet)
        profiles.append(folder / name)
    config = {"name": "chaos", "workload": {"kind": "command", "processes": [{"role": "server", "argv": ["sh", "-c", "sleep 0.1; echo Round 1"], "end": "wait"}],
                                            "marks": [{"role": "server", "pattern": "Round (?<round>\\d+)"}], "deadline_seconds": 3},
              "variants": [{"name": "a"}, {"name": "b", "env": {"B": "1"}}], "baseline": "a", "measure": {"repeats": 2}}
    return {"run": folder / "run", "profiles": profiles, "config": json.dumps(config, indent=1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("memduel")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    memduel = os.path.abspath(options.memduel)
    begin, count, broken = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        use_own_cache(folder)
        material = prepare(memduel, folder)
        seed = options.seed
        while (options.cases is None or count < options.cases) and (options.seconds is None or time.monotonic() - begin < options.seconds):
            failure = one(memduel, material, seed)
            count, seed = count + 1, seed + 1
            if failure:
                broken += 1
                print(failure, flush=True)
    print(f"{count} cases in {time.monotonic() - begin:.0f} s, {broken} broken")
    return 1 if broken or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
