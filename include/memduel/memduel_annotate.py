"""Tell memduel where rounds and phases begin and end, from Python 3.8 or later on Linux.

    import memduel_annotate as memduel
    memduel.idle()                      # libraries loaded, model not yet built
    for n in range(1, rounds + 1):
        memduel.round_begin(n)
        memduel.phase("train")          # process-wide; the next call ends it, None ends it too
        memduel.gauge("loss", 0.3, better="lower")
        memduel.round_end(n)

The same marks, over the same wire, as memduel/annotate.h, which describes them
(bench/trial/marks/wire_test.cpp compares the two). When nobody listens a call does nothing. Copy this file to your program, or put its directory on PYTHONPATH.
"""

import ctypes
import math
import os
import re
import socket
import stat
import threading
import time

_IDLE, _ROUND_BEGIN, _ROUND_END, _PHASE, _THREAD_PHASE = 1, 2, 3, 4, 5
_lock = threading.Lock()


def _find_recorder():
    """The preloaded recorder's entry; None without one. PyDLL keeps the interpreter's lock: the call
    takes microseconds."""
    try:
        entry = ctypes.PyDLL(None).memduel_recorder_mark
    except (AttributeError, OSError):
        return None
    entry.argtypes, entry.restype = [ctypes.c_int, ctypes.c_int, ctypes.c_char_p], None
    return entry


def _find_socket():
    """The inherited socket; None when there is none, or its number means something else by now."""
    number = os.environ.get("MEMDUEL_MARKS_FD", "")
    inode = os.environ.get("MEMDUEL_MARKS_INODE")
    if not re.fullmatch("[0-9]{1,7}", number):
        return None
    try:
        about = os.fstat(int(number))
        if not stat.S_ISSOCK(about.st_mode) or inode not in (None, str(about.st_ino)):
            return None
        return socket.socket(fileno=os.dup(int(number)))
    except OSError:
        return None


_recorder = _find_recorder()
_socket = _find_socket()
_pid = os.getpid()
_started = False


def _send(line):
    global _socket
    try:
        _socket.sendall(line.encode() + b"\n", socket.MSG_NOSIGNAL)
    except OSError:  # a listener that is gone ends the sending for good
        _socket = None


def _reset_peak(value):
    try:
        with open("/proc/self/clear_refs", "wb", buffering=0) as file:
            file.write(value)
        return None
    except OSError as error:
        return error.errno


def _listens():
    """Whether this process has somebody to send to; says `start` first. Under the lock."""
    global _started
    if _socket is None or os.getpid() != _pid:  # a forked child is silent
        return False
    if not _started:
        _started = True
        refused = _reset_peak(b"0") not in (None, 22)  # EINVAL: a byte that means nothing
        _send("start %d%s" % (_pid, " no_reset" if refused else ""))
    return _socket is not None


def _mark(kind, text=""):
    with _lock:
        if not _listens():
            return
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        with open("/proc/self/status") as file:
            status = dict(re.findall(r"(?m)^(\w+):\s+(\d+) kB", file.read()))
        sizes = (status.get(name) for name in ("VmHWM", "VmRSS", "RssAnon", "RssFile"))
        sizes = " ".join("-" if size is None else str(int(size) * 1024) for size in sizes)
        _reset_peak(b"5")
        _send("%s %d%s %s" % (kind, now, text, sizes))


def _name(name):
    """At most 64 bytes in which white space and control bytes are '_'."""
    kept = re.sub(rb"[\x00-\x20\x7f]", b"_", name.encode()[:64]).decode(errors="ignore")
    return kept if kept not in ("", "-") else "_"


def _tell_recorder(kind, number=0, name=None):
    if _recorder is not None:
        _recorder(kind, number, None if name is None else name.encode())


def idle():
    """The process is set up and has not built its model yet: RSS here is the idle level."""
    _tell_recorder(_IDLE)
    _mark("idle")


def round_begin(n):
    """Round `n` (from 1) begins; one that still runs ends here."""
    _tell_recorder(_ROUND_BEGIN, n)
    _mark("round_begin", " %d" % n)


def round_end(n):
    """Round `n` ends, and with it the running phase."""
    _tell_recorder(_ROUND_END, n)
    _mark("round_end", " %d" % n)


def phase(name):
    """The whole process enters phase `name`, or none with None."""
    _tell_recorder(_PHASE, 0, name)
    _mark("phase", " -" if name is None else " " + _name(name))


def thread_phase(name):
    """The calling thread alone enters phase `name` (None: back to the process-wide one)."""
    _tell_recorder(_THREAD_PHASE, 0, name)


def gauge(metric, value, better=None):
    """A number that the program knows, with its unit in its name; one that is not finite is not
    sent. `better` declares which values are better, "higher" or "lower": memduel never guesses it."""
    if better not in (None, "higher", "lower"):
        raise ValueError('better is %r, expected "higher", "lower" or None' % (better,))
    value = float(value)
    if not math.isfinite(value):
        return
    with _lock:
        if _listens():
            number = "%d" % value if value.is_integer() and abs(value) <= 2**53 else value.hex()
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            declared = "" if better is None else " " + better
            _send("gauge %d %s %s%s" % (now, _name(metric), number, declared))
