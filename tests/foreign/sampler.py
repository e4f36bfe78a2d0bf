"""An own look at resident sets, which shares nothing with memduel: /proc/PID/statm of all descendants of a process."""

import os
import threading
import time

PAGE = os.sysconf("SC_PAGE_SIZE")


def _parents():
    """{pid: parent pid} of all processes."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                found[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            pass
    return found


def descendants(root):
    children = {}
    for pid, parent in _parents().items():
        children.setdefault(parent, []).append(pid)
    found, left = [], [root]
    while left:
        for pid in children.get(left.pop(), []):
            found.append(pid)
            left.append(pid)
    return found


def _command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def _resident(pid):
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


class Sampler:
    """Samples while the block runs: [(monotonic ns, {(pid, its command): resident bytes})]. Numbers of processes come again."""

    def __init__(self, root, interval=0.001, look_for_new=0.01):
        self.root, self.interval, self.look_for_new = root, interval, look_for_new
        self.samples, self.processes = [], set()
        self.name = f"own sampler, {interval * 1000:.0f} ms"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        seen, looked = {}, 0.0
        while not self._stop.is_set():
            now = time.monotonic()
            if now - looked >= self.look_for_new:
                seen, looked = {pid: _command(pid) or seen.get(pid, "") for pid in descendants(self.root)}, now
                self.processes.update(seen.items())
            self.samples.append((time.monotonic_ns(), {process: _resident(process[0]) for process in seen.items()}))
            time.sleep(self.interval)

    def peak(self, wanted, begin_ns, end_ns, one=False):
        """The largest sampled sum over the processes whose command `wanted` (a compiled pattern) finds; of `one` alone. None: it did not come to look."""
        mine = {(pid, command) for pid, command in self.processes if wanted.search(command)}
        together = max if one else sum
        looks = [[size for process, size in sizes.items() if process in mine] for at, sizes in self.samples if begin_ns <= at <= end_ns]
        return max((together(look) for look in looks if look), default=None)
