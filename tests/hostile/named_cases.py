#!/usr/bin/env python3
"""Hostile circumstances by name, each with the answer that is right: files, descriptors, limits, signals, namespaces, users, encodings, git, a run's own files.

    tests/hostile/named_cases.py MEMDUEL [NAME...]

chaos.py draws its cases; these were thought of, and are the same each time. A case is a bash script in a directory with files that must survive; $M is
memduel. It holds when the script ends with one of the statuses, all that it printed matches the pattern, and chaos.py's promises are kept. Cases that need
root's rights are said and left out without them.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import chaos

LIMIT = 60  # seconds of one case
DUEL = '$M compare --a true --b "sort /etc/services" --repeats 1 --quiet'
TWINS = "$M compare --a 'sleep {0}' --b 'sleep {0}' --calibrate --repeats 1 --quiet --out run"
BESIDE = '$M compare -S --a true --b "{}" --repeats 1 --quiet --out run'
AS_NOBODY = "chmod -R a+rwX . && setpriv --reuid=65534 --clear-groups"
REPOSITORY = """git init -q repo && cd repo && git config user.email a@b && git config user.name n
printf '#!/bin/sh\\ntrue\\n' > p; chmod +x p; git add p; git commit -qm one; echo x > x; git add x; git commit -qm two
"""
REVISIONS = "$M compare --ref-a HEAD~1 --ref-b HEAD --build {} --repeats 1 --quiet --out ../run -- ./p"
WORKTREES = "; status=$?; git worktree list | wc -l; exit $status"
FINISHED = DUEL + " --out run && "
AGAIN = DUEL + " --out run --resume"

CASES = []


def case(name, status, says, script, root=False):
    CASES.append((name, {status} if isinstance(status, int) else status, says, script, root))


# Files
case("a full file system", 4, "disk is full", f"mount -t tmpfs -o size=64k none disk; {DUEL} --out disk/run", root=True)
case("a profile for a full file system", 0, r"may not write that much \(df", "mount -t tmpfs -o size=4k none disk; head -c 4096 /dev/zero > disk/fill\n"
     "$M record --exact -o disk/x.mdp -- sort /etc/services > /dev/null", root=True)
case("a page for a full file system", 4, "disk/x.html: cannot write: No space left", "mount -t tmpfs -o size=8k none disk; $M flamegraph profile.mdp -o disk/x.html",
     root=True)
case("a run on a read-only file system", 4, "Read-only file system", f"mount -t tmpfs none disk; mount -o remount,ro disk; {DUEL} --out disk/run", root=True)
case("a recording on a read-only file system", 125, "Read-only file system", "mount -t tmpfs none disk; mount -o remount,ro disk\n"
     "$M record -o disk/x.mdp -- touch ran; status=$?; test ! -e ran && exit $status", root=True)
case("a job that removes the run", 4, "it was removed or moved", BESIDE.format("rm -rf $PWD/run"))
case("a job that renames the run", 4, "it was removed or moved", BESIDE.format("mv $PWD/run $PWD/elsewhere"))
case("a store that is cut", 4, "malformed", "truncate -s 100 measured/run.sqlite; $M report measured")
case("a store of another program", 4, "not a run store of memduel", "rm measured/run.sqlite\n"
     "python3 -c \"import sqlite3; c = sqlite3.connect('measured/run.sqlite'); c.execute('create table trials(a)'); c.commit()\"; $M report measured")
for kind, make in (("directory", "mkdir"), ("pipe", "mkfifo"), ("endless device", "ln -s /dev/zero")):
    case(f"a store that is a {kind}", 4, "not a regular file", f"rm measured/run.sqlite; {make} measured/run.sqlite; $M report measured")
case("results of another program", 4, "neither results of memduel", "echo {} > r.json; $M compare measured r.json")
case("a profile of a terabyte", 4, "no profile of a known format", "truncate -s 1T big.mdp; $M summary big.mdp")
case("a packed bomb", 4, "no profile of a known format", "ulimit -v 500000; head -c 500000000 /dev/zero | gzip -1 > bomb.pb.gz; $M summary bomb.pb.gz")
case("random bytes", 4, "no profile of a known format", "$M summary /dev/urandom")
case("a process's memory", 4, "cannot be read to its end", "$M summary /proc/self/mem")
case("a profile from a pipe", 0, "Exact counters", "cat profile.mdp | $M summary /dev/stdin")
case("stacks from a pipe", 0, "folded stacks", "echo 'a;b 5' | $M summary <(cat)")
case("a hard link", 0, "replaced x.mdp", "ln victim x.mdp; $M record -o x.mdp -- true")
case("a chain of links", 0, "KEPT", "ln -s l2 l1; ln -s l3 l2; $M record -o l1 -- true; test -L l1 && test -L l2 && test -f l3 && echo KEPT")
case("a reader that has seen enough", 0, "^0$", "$M export profile.mdp --format folded -o /dev/stdout | head -c 10 > /dev/null; echo ${PIPESTATUS[0]}")
case("a pipe as the target", 0, "GOT", "cat fifo > got & $M export profile.mdp --format folded -o fifo; wait; test -s got && echo GOT")
case("a recording for a command", 0, "GOT", "$M record -o >(cat > got) -- sort /etc/services > /dev/null; sleep 0.5; test -s got && echo GOT")
case("a name of 256 bytes", 4, "File name too long", "$M export profile.mdp --format folded -o $(printf 'x%.0s' $(seq 256))")
case("a path of 4,200 bytes", 4, "File name too long", "$M export profile.mdp --format folded -o $(printf 'x/%.0s' $(seq 2100))y")
case("a run in a path of 1,000 bytes", 4, "SQLite takes at most 512", f"d=$(printf 'x%.0s' $(seq 200)); {DUEL} --out $d/$d/$d/$d/$d/run")
case("a directory for temporary files of 200 bytes", 0, "", f"d=$PWD/$(printf 'x%.0s' $(seq 200)); mkdir $d; TMPDIR=$d {DUEL} --out run")
case("no directory for temporary files", 0, "", f"TMPDIR=/nonexistent {DUEL} --out run")
case("a file above the run", 4, "Not a directory", f"{DUEL} --out victim/run")
case("a pipe for a run", 4, "Not a directory", f"{DUEL} --out fifo")
case("the profile as its own target", 2, "over a file that this command reads", "$M export profile.mdp --format folded -o profile.mdp")
case("the profile's link as the target", 2, "over a file that this command reads", "ln -s profile.mdp y.mdp; $M export profile.mdp --format folded -o y.mdp")
case("the profile's hard link as the target", 2, "over a file that this command reads", "ln profile.mdp y.mdp; $M export profile.mdp --format folded -o y.mdp")
case("a link in place of the results", 0, "LINK", "rm measured/results.json; ln -s ../victim measured/results.json; $M report measured\n"
     "test -L measured/results.json && echo LINK")
case("a link in place of the page", 0, "report.html", "rm measured/report.html; ln -s ../victim measured/report.html; $M report measured")
case("a link in place of the logs", 2, "found a symlink", f"mkdir run elsewhere; ln -s ../elsewhere run/logs; {DUEL} --out run")
case("a page in place of a run", 4, "not a run directory", "$M report measured/report.html")
case("a gate on a role that is not there", 2, r"the roles of this run are command, all, or \* for all", "$M check measured --gate 'nobody.peak_rss_bytes<=+5%'")
case("an experiment from a pipe", 0, "Report: run/report.html", "$M run <(cat config.json) --out run")
case("a memduel-fl of another form", 4, "of another version", "mkdir b; cp $M b/memduel; for l in $(dirname $M)/memduel-launcher $(dirname $M)/../lib; do ln -s $l b/; done\n"
     "printf '#!/bin/sh\\necho {}\\n' > b/memduel-fl; chmod +x b/memduel-fl; b/memduel doctor")
case("a config in place of a run", 4, "not a run directory", "$M check config.json --gate 'server.peak_rss_bytes<=+5%'")
case("another's JSON in place of a profile", 4, "no profile of a known format", "$M flamegraph other.json -o page.html")
case("a recording that its command removes", 3, "the command removed it", "mkdir d; $M record -o d/x.mdp -- sh -c 'rm -rf d; exit 3'")
case("a program that removes itself", 0, "/me ", "cp /bin/bash me; $M record --exact -o x.mdp -- ./me -c 'rm -f me; echo gone; test ! -e me'")
case("300 images", 0, "x.images", "$M record -o x.mdp -- sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done'")
case("a file system that fills up meanwhile", 4, "disk is full", "mount -t tmpfs -o size=3m none disk; " + BESIDE.format("dd if=/dev/zero of=$PWD/disk/fill bs=1M 2>&1; true")
     .replace("--out run", "--out disk/run") + "; status=$?; test ! -e disk/run/results.json && exit $status", root=True)
case("a file system that fills up and empties", 0, "WHOLE", "mount -t tmpfs -o size=6m none disk; "
     + BESIDE.format("dd if=/dev/zero of=$PWD/disk/fill bs=1M 2>&1; rm $PWD/disk/fill").replace("--out run", "--out disk/run")
     + " && python3 -m json.tool disk/run/results.json > /dev/null && echo WHOLE", root=True)
case("a run in shared memory", 0, "", f"d=$(mktemp -d /dev/shm/memduel-XXXXXX); {DUEL} --out $d/run; status=$?; rm -r $d; exit $status")
case("a run in the current directory", 0, "results.json", f"mkdir e; cd e; {DUEL} --out . && ls")
case("percent signs and braces in the run's name", 0, r"^r%s%n\{\{\}\}$|^r%s%n\{\}$", f"{DUEL} --out 'r%s%n{{{{}}}}' && ls -d r%*")
case("a calibration that is no JSON", 0, "", f"mkdir -p h/.cache/memduel; head -c 1000 /dev/urandom > h/.cache/memduel/calibration.json; HOME=$PWD/h {DUEL} --out run")
case("no rights for anybody's new files", 0, "Permission denied", AS_NOBODY + " bash -c 'umask 777; $M record -o x.mdp -- sort /etc/services > /dev/null'; status=$?\n"
     "test -z \"$(ls -d .memduel-record-* 2> /dev/null)\" && exit $status", root=True)

# Descriptors
case("no standard descriptor", 0, "WHOLE", f"{DUEL} --out run <&- >&- 2>&-; status=$?\npython3 -m json.tool run/results.json > /dev/null && echo WHOLE; exit $status")
case("the marks' descriptor in use", 0, "", f"exec 100>>victim; {DUEL} --out run")
case("200 descriptors in use", 0, "", f'for i in $(seq 3 200); do eval "exec $i>>victim"; done; {DUEL} --out run')
case("a full device for a summary", 4, "stdout: cannot write", "$M summary profile.mdp > /dev/full")
case("a full device for a report's summary", 0, "WHOLE", '$M compare --a true --b "sort /etc/services" --repeats 1 --out run 2> /dev/full > log\n'
     "status=$?; test -s run/results.json && echo WHOLE; exit $status")
case("nobody reads the summary", 0, "^0$", '$M compare --a true --b "sort /etc/services" --repeats 1 --out run 2> /dev/null | true; echo ${PIPESTATUS[0]}')
case("a terminal of one column", 0, "Report: run/report.html",
     'script -qec "stty cols 1; $M compare --a true --b true --calibrate --repeats 1 --out run" /dev/null')
case("a terminal of no column", 0, "Exact counters", 'script -qec "stty cols 0 rows 0; $M summary profile.mdp" /dev/null')

# Limits
case("30 descriptors", 3, "128 are needed", f"ulimit -n 30; {DUEL} --out run")
case("10 descriptors for a summary", 0, "Exact counters", "ulimit -n 10; $M summary profile.mdp")
case("files of 4 KiB", 4, "check the free disk space", f"ulimit -f 4; {DUEL} --out run")
case("no process", 3, "cannot start the launcher", AS_NOBODY + " prlimit --nproc=0 $M compare --a true --b true --calibrate --repeats 1 --quiet --out run", root=True)
case("300 MB of addresses", 0, "", f"ulimit -v 300000; {DUEL} --out run")
case("no locked memory", 0, "", f"ulimit -l 0; {DUEL} --out run")
case("a job out of CPU time", 3, "", BESIDE.format("ulimit -t 1; while :; do :; done"))
case("a job that limits its parent", 0, "", BESIDE.format("prlimit --pid \\$PPID --nofile=5"))
case("one core", 0, "", f"taskset -c 0 {DUEL} --out run")
case("no randomised addresses", 0, "", f"setarch -R {DUEL} --out run")
case("a real-time class", 0, "", f"chrt -f 10 {DUEL} --out run", root=True)
case("no queue for signals", 0, "", f"ulimit -i 0; {DUEL} --out run")
case("a stack without limit", 0, "", f"ulimit -s unlimited; {DUEL} --out run")
case("1.9 MB of variables", 0, "", f"for i in $(seq 100); do export V$i=$(printf 'x%.0s' $(seq 18500)); done; {DUEL} --out run")
case("1,000 processes", 0, "", BESIDE.format("i=0; while [ \\$i -lt 1000 ]; do sleep 1 & i=\\$((i + 1)); done; wait"))
case("3,000 threads", 0, "", "printf 'import threading, time\\nfor i in range(3000): threading.Thread(target=time.sleep, args=(1,)).start()\\n' > t.py\n"
     "$M compare --a true --b 'python3 t.py' --repeats 1 --quiet --out run")

# Signals
case("children ignored by whoever starts it", 0, "", f"trap '' CHLD; {DUEL} --out run")
case("children ignored, and a command's status", 7, "x.mdp", "trap '' CHLD; $M record -o x.mdp -- sh -c 'exit 7'")
case("every signal blocked by whoever starts it", 143, "stopped by a signal", "python3 -c 'import os, signal, sys\n"
     "signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, 65)) - {9, 19, 32, 33})\nos.execv(sys.argv[1], sys.argv[1:])' " + TWINS.format(20) + " & sleep 1; kill $!; wait $!")
case("interruptions ignored", 0, "", f"trap '' INT QUIT; {DUEL} --out run")
case("stopped and continued", 0, "", TWINS.format(0.3) + " & p=$!; sleep 0.2; kill -TSTP $p; sleep 0.5; kill -CONT $p; wait $p")
case("ended in a profile trial", 143, "stopped by a signal", TWINS.format(0.5) + " --set profile.trials=1 & p=$!; sleep 2.2; kill $p; wait $p")
case("ended by timeout", 124, "stopped by a signal", "timeout 1 " + TWINS.format(60))
case("killed", 137, "", TWINS.format(60) + " & sleep 1; kill -9 $!; wait $!")
case("a job that kills the launcher", 3, "internal errors of memduel", BESIDE.format("kill -9 \\$PPID; sleep 5"))
case("a job that kills memduel", {137, -9}, "", BESIDE.format("kill -9 \\$(cut -d' ' -f4 /proc/\\$PPID/stat); sleep 5"))
case("a job that stops memduel", 0, "", BESIDE.format("p=\\$(cut -d' ' -f4 /proc/\\$PPID/stat); kill -STOP \\$p; sleep 0.5; kill -CONT \\$p"))
case("a terminal that goes away", 0, "143|36608", "python3 -c 'import os, pty, sys, time\npid, fd = pty.fork()\nif pid == 0: os.execvp(sys.argv[1], sys.argv[1:])\n"
     "time.sleep(1); os.close(fd); print(os.waitpid(pid, 0)[1])' " + TWINS.format(3))
case("a command that dumps core", 139, "ended abruptly", "ulimit -c unlimited; $M record -o x.mdp -- sh -c 'kill -SEGV $$'")
case("interrupted twice on a terminal", 0, "^130 soon$", """python3 - $M <<'X'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    job = "trap '' INT TERM; sleep 20"
    os.execvp(sys.argv[1], [sys.argv[1], "compare", "-S", "--a", job, "--b", "sleep 1", "--repeats", "1", "--out", "run"])
time.sleep(1); os.write(fd, b"\\x03"); time.sleep(0.3); os.write(fd, b"\\x03")
begin = time.time()
try:
    while os.read(fd, 9999): pass
except OSError:
    pass
print(os.waitpid(pid, 0)[1] >> 8, "soon" if time.time() - begin < 2 else "late")
X""")

# Namespaces and users
case("another PID namespace's /proc", 3, "shows another PID namespace", f"unshare --pid --fork {DUEL} --out run", root=True)
case("a PID namespace", 0, "", f"unshare --pid --fork --mount-proc {DUEL} --out run", root=True)
case("a user namespace", 0, "", f"unshare --user {DUEL} --out run", root=True)
case("network, IPC, host name and control groups of its own", 0, "", f"unshare --net --ipc --uts --cgroup {DUEL} --out run", root=True)
case("no /sys", 0, "", f"mount -t tmpfs none /sys; {DUEL} --out run", root=True)
case("no /dev", 3, "opening /dev/null", f"mount -t tmpfs none /dev; {DUEL} --out run", root=True)
case("a read-only directory for temporary files", 0, "", f"mount -t tmpfs -o ro none disk; TMPDIR=$PWD/disk {DUEL} --out run", root=True)
case("another user's profile", 4, "Permission denied", "chmod 755 .; chmod 000 profile.mdp; setpriv --reuid=65534 --clear-groups $M summary profile.mdp", root=True)
case("another user's run to report", 4, "Permission denied", "chmod -R a+rX .; setpriv --reuid=65534 --clear-groups $M report measured", root=True)
case("another user's run to check", 0, "peak_rss_bytes",
     "chmod -R a+rX .; setpriv --reuid=65534 --clear-groups $M check measured --gate 'command.peak_rss_bytes<=+500%'", root=True)
case("a setuid program", 0, "setuid or setgid", f"cp /bin/ls s; chmod 4755 s; {AS_NOBODY} $M record -o x.mdp -- ./s /", root=True)
case("the dynamic linker as the program", 0, "statically linked", "$M record -o x.mdp -- /lib64/ld-linux-x86-64.so.2 /bin/ls /")

# Encodings and variables
case("a directory's name that is no UTF-8", 2, "current directory is not UTF-8", f"d=$(printf 'd\\377\\033[1m'); mkdir \"$d\"; cd \"$d\"; {DUEL} --out run")
case("an argument that is no UTF-8", 2, "argument 3, .* is not UTF-8", '$M compare --a "$(printf "echo \\377")" --b true --repeats 1 --out run')
case("a variable that is no UTF-8", 0, "", f"X=$(printf '\\377\\376') {DUEL} --out run")
case("a config in UTF-16", 2, "encode the file in UTF-8", "iconv -t UTF-16 config.json > c.json; $M run c.json --quiet --out run")
case("a config that goes on behind a zero byte", 2, "found a byte of value 0", "cp config.json c.json; printf '\\0{' >> c.json; $M run c.json --quiet --out run")
case("half a surrogate", 2, "surrogate", "sed 's/chaos/a\\\\ud800/' config.json > c.json; $M run c.json --quiet --out run")
case("escapes in an arm's name", 2, r"\$\.variants\[1\]\.name", "sed 's/\"name\": \"b\"/\"name\": \"b\\\\u001b[31m\"/' config.json > c.json; $M run c.json --quiet --out run")
case("a Turkish locale", 0, "", f"LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8 {DUEL} --out run")
case("a line break in the run's name", 0, "", f"{DUEL} --out $'run\\nx'")
case("HOME is a file", 0, "", f"HOME=$PWD/victim {DUEL} --out run")
case("a library of the user's preloaded", 0, "", f"echo 'int x;' | cc -shared -x c -o p.so -; LD_PRELOAD=$PWD/p.so {DUEL} --out run")
case("glibc's own checks", 0, "", f"MALLOC_CHECK_=3 MALLOC_PERTURB_=1 GLIBC_TUNABLES=glibc.malloc.tcache_count=0 {DUEL} --out run")
case("variables that are none", 0, "", """python3 -c 'import ctypes, sys
words = [word.encode() for word in sys.argv[1:]]
argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
env = (ctypes.c_char_p * 4)(b"NOTHING", b"=x", b"PATH=/usr/bin:/bin", None)
ctypes.CDLL(None).execve(words[0], argv, env)' """ + DUEL + " --out run")
case("no argument at all", 2, "subcommand", "python3 -c 'import ctypes, os\nctypes.CDLL(None).execve(os.environ[\"M\"].encode(), (ctypes.c_char_p * 1)(None), None)'")
case("memduel's own variables", 0, "", f"MEMDUEL_TRIAL=x MEMDUEL_RECORDER_DIR=/nonexistent MEMDUEL_MARKS_FD=99 MEMDUEL_RECORDER_MODE=bogus {DUEL} --out run")
case("the linker's variables", 0, "", f"LD_BIND_NOW=1 LD_LIBRARY_PATH=/nonexistent:$PWD {DUEL} --out run")

# Git
case("no repository", 2, "not a git repository", "$M compare --ref-a main --ref-b HEAD --build true --out run -- true")
case("a bare repository", 2, "must be run in a work tree", "git init -q --bare b; cd b; $M compare --ref-a main --ref-b HEAD --build true --out ../run -- true")
case("an empty repository", 2, 'expected a revision, found "main"', "git init -q repo; cd repo; $M compare --ref-a main --ref-b HEAD --build true --out ../run -- true")
case("an option as a revision", 2, "expected a revision", REPOSITORY + "$M compare --ref-a=--upload-pack=touch --ref-b HEAD --build true --out ../run -- ./p")
case("equal revisions", 0, "Nothing was built differently", REPOSITORY + "$M compare --ref-a HEAD --ref-b HEAD --build true --repeats 1 --out ../run -- ./p")
case("a hook that fails", 0, "^1$", REPOSITORY + "printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout\n"
     + REVISIONS.format("true") + WORKTREES)
case("files that are not committed", 0, "M x", REPOSITORY + "echo dirty >> x; " + REVISIONS.format("true") + "; status=$?; git status --short; exit $status")
case("a build that fails", 3, "does not build(.|\n)*^1$", REPOSITORY + REVISIONS.format("false") + WORKTREES)
case("a build that removes itself", {0, 3}, "^1$", REPOSITORY + REVISIONS.format("'rm -rf ../run/builds'") + " -S" + WORKTREES)
case("another user's repository", 2, "dubious ownership", REPOSITORY + "cd ..; chown -R 12345 repo; cd repo; " + REVISIONS.format("true"), root=True)
case("a worktree as the repository", 0, "^2$", REPOSITORY + "git worktree add -q ../w HEAD~1; cd ../w; "
     "$M compare --ref-a HEAD --ref-b master --build true --repeats 1 --quiet --out ../run -- ./p" + WORKTREES)
case("git's variables point elsewhere", 0, "", REPOSITORY + "GIT_DIR=/nonexistent " + REVISIONS.format("true"))

# A run's own files
case("a finished run resumed", 0, "", FINISHED + AGAIN)
case("another command resumed", 2, "the config changed", FINISHED + '$M compare --a true --b "sort -u /etc/services" --repeats 1 --quiet --out run --resume')
case("nothing to resume", 2, "found no run to resume", AGAIN)
case("two at once", 0, "contains another run", TWINS.format(0.5) + " & sleep 0.3; " + TWINS.format(0.5) + "; test $? = 2 && wait $!")
case("a lock that somebody left", 0, "", FINISHED + "echo 999999 > run/run.lock; " + AGAIN)
case("a lock that is a directory", 4, "run.lock: cannot create the lock file", FINISHED + "rm -f run/run.lock; mkdir run/run.lock; " + AGAIN)
case("two at once elsewhere", 0, "^0$", "mkdir e; (cd e && exec " + TWINS.format(0.5) + ") & " + TWINS.format(0.5) + "; echo $?; wait $!")
case("three at once without a name", 0, "^3$", f"export XDG_STATE_HOME=$PWD/state; {DUEL} & a=$!; {DUEL} & b=$!; {DUEL} && wait $a && wait $b && ls -d state/memduel/runs/*/report.html | wc -l")
case("a duel within a duel", 0, "results.json", BESIDE.format("$M compare --a true --b 'sort /etc/services' --repeats 1 --quiet --out $PWD/inner") + " --ignore-failure && ls inner")
case("a duel that is recorded", 0, "results.json", f"$M record -o x.mdp -- {DUEL} --out run 2> /dev/null && ls run")
case("a recording that is recorded", 0, "y.mdp", "$M record -o x.mdp -- $M record -o y.mdp -- sort /etc/services 2> /dev/null > /dev/null && ls *.mdp")

# Watching
case("a kernel thread", 2, "a kernel thread", "p=$(pgrep -x kthreadd) && $M watch --pid $p --duration 1 --out w", root=True)
case("a process that has ended", 2, "the process has exited", "python3 -c 'import os, time\np = os.fork()\nif not p: os._exit(0)\n"
     "print(p, flush=True)\ntime.sleep(2)' > pid & sleep 0.5; $M watch --pid $(cat pid) --duration 1 --out w; status=$?; wait; exit $status")
case("memduel itself", 2, "this is the PID of this memduel", "sh -c 'exec $M watch --pid $$ --duration 1 --out w'")
case("a watch from a directory that is gone", 125, r"^memduel: (?!filesystem error).*No such file or directory", "mkdir d; cd d; rmdir ../d; $M watch --out w -- true")
case("a watched command that is not there, without --", 125, "cannot run it: No such file", "$M watch --out w /nonexistent")
case("nobody", 2, "there is no such process", "$M watch --pid 4194303 --duration 1 --out w")
case("a log that is a pipe", 125, "expected a regular file", "$M watch --round-pattern 'r([0-9]+)' --log fifo --out w --quiet -- sleep 1")
case("a process that ends", 0, "ended after", "sleep 1 & $M watch --pid $! --out w --quiet")

# Jobs
case("a gigabyte of output", 0, "^19[0-9]{2}$", BESIDE.format("head -c 1000000000 /dev/zero") + "; status=$?; du -sm run | cut -f1; exit $status")
case("3,000 files", 0, "", BESIDE.format("mkdir many; cd many; seq 3000 | xargs touch"))
case("a directory that nobody may enter", 0, "", BESIDE.format("mkdir x; touch x/y; chmod 000 x"))
case("600 directories deep", 0, "", BESIDE.format("i=0; while [ \\$i -lt 600 ]; do mkdir dddddddddd; cd dddddddddd; i=\\$((i + 1)); done"))


def broken(memduel, material, name, statuses, says, script, root):
    """What did not hold; nothing where all did."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="named."))
    token = f"named.{os.getpid()}.{name.replace(' ', '-')}"
    try:
        place = chaos.Place(folder, random.Random(1), memduel)
        shutil.copytree(material["run"], folder / "measured")
        shutil.copy(material["profiles"][1], folder / "profile.mdp")
        (folder / "config.json").write_text(material["config"])
        (folder / "disk").mkdir()
        words = (["unshare", "--mount"] if root else []) + ["bash", "-c", script]
        done = subprocess.run(words, cwd=folder, env=dict(os.environ, M=memduel, LC_ALL="C.UTF-8", **{chaos.TOKEN: token}), timeout=LIMIT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = done.stdout.decode(errors="replace")
        if done.returncode not in statuses:
            return f"ends with {done.returncode}, expected {sorted(statuses)}: {said[-400:]}"
        if not re.search(says, said, re.MULTILINE):
            return f"does not say {says!r}: {said[-400:]}"
        for word in chaos.LIBRARY_WORDS:
            if word in done.stdout:
                return f"a library speaks: {said[-400:]}"
        place.check()
        if left := chaos.settle(token, 8):
            return f"left running: {left}"
    except subprocess.TimeoutExpired:
        return f"does not end in {LIMIT} s"
    except chaos.Broken as promise:
        return str(promise)
    finally:
        for pid, _ in chaos.processes(token):
            os.kill(pid, 9)
        shutil.rmtree(folder, ignore_errors=True)
    return None


def main():
    memduel, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tried, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        chaos.use_own_cache(folder)
        material = chaos.prepare(memduel, folder)
        for name, statuses, says, script, root in CASES:
            if names and name not in names:
                continue
            if root and os.geteuid() != 0:
                print(f"{name}: left out, needs root")
                continue
            tried += 1
            if failure := broken(memduel, material, name, statuses, says, script, root):
                failed += 1
                print(f"{name}: {failure}", flush=True)
    print(f"{tried} cases, {failed} broken")
    return 1 if failed or tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
