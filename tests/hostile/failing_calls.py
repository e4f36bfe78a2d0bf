#!/usr/bin/env python3
"""Every system call of memduel fails once, or a signal comes while it runs: strace injects it, one call of memduel for each.

    tests/hostile/failing_calls.py MEMDUEL [--seconds S | --cases N] [--seed S] [--verbs NAME...]

A verb is run once in peace to count its calls; a case then picks one of them, and an error that the kernel may give there, or a signal. Half the cases reach the
processes that memduel starts, too (strace -f). chaos.py's promises must hold: an end with a documented status, nothing left running or lying about, files of
others untouched, results whole or absent, no library's words. Needs strace and the right to trace.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import chaos

# What a machine may really answer. A call that cannot fail in practice (close, munmap of one's own) would test nothing but itself.
ERRORS = {
    "openat": ["EACCES", "EMFILE", "ENFILE", "ENOENT", "ENOSPC", "EIO", "ENOMEM", "EINTR"],
    "read": ["EIO", "EINTR"], "pread64": ["EIO", "EINTR"], "write": ["ENOSPC", "EIO", "EDQUOT", "EINTR"], "pwrite64": ["ENOSPC", "EIO", "EDQUOT"],
    "writev": ["ENOSPC", "EIO"], "fsync": ["EIO", "ENOSPC"], "fdatasync": ["EIO", "ENOSPC"], "ftruncate": ["EIO", "ENOSPC"], "fallocate": ["ENOSPC", "EOPNOTSUPP"],
    "rename": ["EXDEV", "EACCES", "EIO", "ENOSPC"], "renameat": ["EIO"], "renameat2": ["EINVAL", "EIO"], "linkat": ["EPERM", "ENOSPC", "EIO", "EXDEV"],
    "unlink": ["EBUSY", "EACCES", "EIO"], "unlinkat": ["EBUSY", "EACCES"], "mkdir": ["EACCES", "ENOSPC", "EDQUOT"], "rmdir": ["EBUSY"],
    "newfstatat": ["EACCES", "EIO", "ENOMEM"], "fstat": ["EIO"], "statx": ["EACCES", "EIO"], "readlink": ["EACCES", "EIO"], "access": ["EACCES"],
    "getdents64": ["EIO", "ENOENT"], "fcntl": ["EAGAIN", "ENOLCK", "EINVAL"], "flock": ["ENOLCK", "EINTR"], "statfs": ["EIO", "ENOSYS"],
    "mmap": ["ENOMEM"], "clone3": ["EAGAIN", "ENOMEM"], "clone": ["EAGAIN", "ENOMEM"], "vfork": ["EAGAIN", "ENOMEM"], "fork": ["EAGAIN"],
    "execve": ["EACCES", "ENOENT", "ENOMEM", "ETXTBSY"], "socketpair": ["EMFILE", "ENFILE"], "socket": ["EMFILE", "EACCES"], "pipe2": ["EMFILE", "ENFILE"],
    "memfd_create": ["EMFILE", "ENOSYS"], "sendmsg": ["ENOBUFS", "EPIPE", "EINTR"], "recvmsg": ["ENOBUFS", "EINTR", "ECONNRESET"], "sendto": ["ENOBUFS", "EPIPE"],
    "recvfrom": ["EINTR", "ECONNRESET"], "poll": ["EINTR", "ENOMEM"], "ppoll": ["EINTR"], "dup": ["EMFILE"], "dup2": ["EMFILE"],
    "dup3": ["EMFILE"], "pidfd_open": ["ENOSYS", "EMFILE"], "kill": ["EPERM"], "setsid": ["EPERM"], "prctl": ["EINVAL"], "personality": ["EPERM"],
    "prlimit64": ["EPERM"], "setrlimit": ["EPERM"], "chmod": ["EPERM"], "fchmod": ["EPERM"], "getrandom": ["ENOSYS", "EINTR"], "sched_setaffinity": ["EINVAL"],
    "process_vm_readv": ["EPERM", "ENOSYS"], "ioctl": ["ENOTTY"], "timerfd_create": ["EMFILE"], "signalfd4": ["EMFILE"], "eventfd2": ["EMFILE"], "epoll_ctl": ["ENOSPC"],
    "epoll_create1": ["EMFILE"], "epoll_wait": ["EINTR"], "setpgid": ["EPERM"], "chdir": ["EACCES"], "getcwd": ["ENOENT"], "madvise": ["EINVAL"],
}
SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGWINCH", "SIGCHLD", "SIGALRM", "SIGUSR1"]
QUIET = ["--repeats", "1"]
VERBS = {
    "compare": ["compare", "--a", "true", "--b", "sort /etc/services", *QUIET, "--out", "out"],
    "resume": ["compare", "--a", "true", "--b", "sort /etc/services", *QUIET, "--out", "half", "--resume"],
    "run": ["run", "config.json", "--out", "out"],
    "share": ["run", "config.json", "--repeats", "2", "--seed", "1", "--shard", "1/1", "--out", "out"],
    "merge": ["merge", "shard-1", "shard-2", "--out", "out"],
    "record": ["record", "-o", "x.mdp", "--", "sh", "-c", "sort /etc/services > sorted; exit 7"],
    "watch": ["watch", "--out", "out", "--", "sh", "-c", "sleep 0.3; exit 7"],
    "report": ["report", "run"],
    "check": ["check", "run", "--gate", "command.peak_rss_bytes<=+500%", "--junit", "junit.xml", "--export", "bencher", "run.json"],
    "explain": ["explain", "run", "command.peak_rss_bytes"],
    "summary": ["summary", "sampled.mdp"],
    "flamegraph": ["flamegraph", "exact.mdp", "-o", "page.html"],
    "export": ["export", "exact.mdp", "--format", "pprof", "-o", "x.pb.gz"],
    "list": ["list", "meters"], "doctor": ["doctor"], "plan": ["plan", "config.json"],
}
MAY_ALSO_END_WITH = {"record": {7, 125, 126, 127}, "watch": {7, 125, 126, 127}}


def environment(token):
    return dict(os.environ, **{chaos.TOKEN: token})


def calls_of(memduel, folder, words, follow):
    """How often each call is made: {name: count} over the calls that can be failed."""
    log = folder / "calls"
    subprocess.run(["strace", *(["-f"] if follow else []), "-qq", "-o", log, memduel, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=environment("count"), timeout=chaos.LIMIT)
    counts = collections.Counter(match[1] for match in re.finditer(rb"^(?:\d+ +)?([a-z0-9_]+)\(", log.read_bytes(), re.M))
    log.unlink()
    return {name.decode(): count for name, count in counts.items() if name.decode() in ERRORS}


def half_done(memduel, folder):
    """A run that was ended in its middle, for --resume."""
    program = subprocess.Popen([memduel, *VERBS["resume"][:-1]], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.6)
    program.send_signal(signal.SIGTERM)
    program.wait()


def shares(memduel, folder, config):
    """Two shares of a run, for merge."""
    (folder / "config.json").write_text(config)
    for number in (1, 2):
        words = ["run", "config.json", "--repeats", "4", "--seed", "1", "--shard", f"{number}/2", "--out", f"shard-{number}", "--quiet"]
        subprocess.run([memduel, *words], cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Ground:
    def __init__(self, memduel, material):
        self.memduel, self.material = memduel, material
        self.counts = {}

    def folder(self, under, draw):
        place = chaos.Place(under, draw, self.memduel)
        shutil.copytree(self.material["run"], place.folder / "run")
        for name in ("half", "shard-1", "shard-2"):
            shutil.copytree(self.material[name], place.folder / name)
        for profile in self.material["profiles"]:
            shutil.copy(profile, place.folder)
        (place.folder / "config.json").write_text(self.material["config"])
        return place

    def counted(self, verb, follow):
        if (verb, follow) not in self.counts:
            with tempfile.TemporaryDirectory() as under:
                self.counts[verb, follow] = calls_of(self.memduel, self.folder(under, random.Random(0)).folder, VERBS[verb], follow)
        return self.counts[verb, follow]


def injection(draw, counts):
    name = draw.choice(sorted(counts))
    # The first mapping is the dynamic loader's, which dies without it in any program.
    when = draw.randint(2 if name == "mmap" else 1, max(counts[name], 2 if name == "mmap" else 1))
    if draw.random() < 0.2:
        what = draw.choice(SIGNALS)
        return what, f"{name}:signal={what}:when={when}"
    what = draw.choice(ERRORS[name])
    then = draw.choice(["", "", "", "+"])  # from there on, as on a disk that stays full
    return what, f"{name}:error={what}:when={when}{then if what not in ('EINTR', 'EAGAIN') else ''}"


def statuses(verb, what, rule):
    good = chaos.STATUSES | MAY_ALSO_END_WITH.get(verb, set())
    if what.startswith("SIG"):
        good |= {-getattr(signal, what), 128 + getattr(signal, what)}
    if rule.startswith(("execve", "mmap", "openat", "read:", "pread64", "fstat", "newfstatat")):
        good |= {1, 126, 127, -signal.SIGKILL}  # strace's own start, and the dynamic linker
    if rule == "mmap:error=ENOMEM:when=1":
        good |= {-signal.SIGSEGV}  # the dynamic linker's first words
    return good


def one(ground, seed, verbs):
    draw = random.Random(seed)
    verb = draw.choice(verbs)
    follow = draw.random() < 0.5
    what, rule = injection(draw, ground.counted(verb, follow))
    token = f"f{os.getpid()}-{seed}"
    under = pathlib.Path(tempfile.mkdtemp(prefix="failing-"))
    text = b""
    try:
        place = ground.folder(under, draw)
        before = {path.name for path in place.folder.iterdir()}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            program = subprocess.Popen(["strace", *(["-f"] if follow else []), "-qq", "-o", "/dev/null", "-e", f"inject={rule}", ground.memduel, *VERBS[verb]],
                                       cwd=place.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment(token), start_new_session=True)
            try:
                program.wait(chaos.LIMIT)
            except subprocess.TimeoutExpired:
                stuck = [line for _, line in chaos.processes(token)]
                program.kill()
                program.wait()
                raise chaos.Broken(f"does not end in {chaos.LIMIT} s: {stuck}")
            out.seek(0), err.seek(0)
            text = out.read() + err.read()
        if program.returncode not in statuses(verb, what, rule):
            raise chaos.Broken(f"status {program.returncode}")
        for word in chaos.LIBRARY_WORDS:
            if word in text:
                raise chaos.Broken(f"a library speaks: {word.decode()}")
        if left := chaos.settle(token, 8):
            raise chaos.Broken(f"left running: {left}")
        place.check()
        killed = program.returncode in (-signal.SIGKILL, 137) or what == "SIGKILL"
        for name in ("out/results.json", "out/report.html", "half/results.json", "half/report.html", "run/results.json", "run/report.html", "page.html"):
            if not killed:
                chaos.whole(place.folder / name)
        removing_failed = rule.startswith(("unlink", "rmdir", "rename", "getdents64", "linkat", "openat", "newfstatat", "fcntl"))
        strays = [name for name in {path.name for path in place.folder.iterdir()} - before if name.startswith((".memduel", ".tmp")) or ".part." in name or ".merging-" in name]
        if strays and not killed and program.returncode >= 0 and not removing_failed:
            raise chaos.Broken(f"temporary files stay: {strays}")
        if program.returncode == 0 and verb in ("compare", "run", "share", "merge", "resume") and not (place.folder / ("half" if verb == "resume" else "out") / "results.json").exists():
            raise chaos.Broken("status 0 without results")
        if program.returncode == 0 and verb in ("flamegraph", "export") and not (place.folder / VERBS[verb][-1]).exists():
            raise chaos.Broken("status 0 without the file")
        said = text.strip() or rule.startswith("write")
        if program.returncode not in (0, 1, 7) and not what.startswith("SIG") and not said:
            raise chaos.Broken(f"status {program.returncode} without a word")
    except chaos.Broken as broken:
        return f"seed {seed}: {verb}{' -f' if follow else ''} {rule}: {broken}\n      {text[-400:]!r}"
    finally:
        for pid, _ in chaos.processes(token):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        shutil.rmtree(under, ignore_errors=True)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("memduel")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbs", nargs="+", choices=sorted(VERBS), default=sorted(VERBS))
    options = parser.parse_args()
    memduel = os.path.abspath(options.memduel)
    begin, count, broken = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        chaos.use_own_cache(folder)
        material = chaos.prepare(memduel, folder)
        half_done(memduel, pathlib.Path(folder))
        shares(memduel, pathlib.Path(folder), material["config"])
        for name in ("half", "shard-1", "shard-2"):
            material[name] = pathlib.Path(folder) / name
        ground = Ground(memduel, material)
        seed = options.seed
        while (options.cases is None or count < options.cases) and (options.seconds is None or time.monotonic() - begin < options.seconds):
            failure = one(ground, seed, options.verbs)
            count, seed = count + 1, seed + 1
            if failure:
                broken += 1
                print(failure, flush=True)
    print(f"{count} cases in {time.monotonic() - begin:.0f} s, {broken} broken")
    return 1 if broken or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
