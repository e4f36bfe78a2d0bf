"""Records this Python process with memray.

Python imports a module of this name before the program, whatever the command line, if its folder is
in PYTHONPATH. `memray run` does not record the programs that a program executes; this does.
"""

import os
import sys


def start():
    import atexit
    import contextlib
    import operator
    import queue
    import time
    import _thread

    capture = "{}/{}-{}".format(os.environ["MEMDUEL_PROFILER_DIR"], time.monotonic_ns(), os.getpid())
    # Only this environment's memray reads the capture, from where this process finds it.
    os.symlink(sys.executable, capture + ".python")
    with open(capture + ".path", "w") as path:
        path.write(os.pathsep.join(sys.path))
    try:
        import memray
    except ImportError:
        return
    # A tracker imports it since memray 1.20, and a thread cannot while site is being imported.
    with contextlib.suppress(ImportError):
        import memray.reporters.module_tools
    tracker = memray.Tracker(
        destination=memray.FileDestination(capture, compress_on_exit=False),
        follow_fork=True,
    )
    # A tracker omits the frames that its thread had when it was entered, as those of `memray run`,
    # which stay below the program's. The frames of this module do not stay. A thread that only
    # calls C functions has none.
    entered = queue.SimpleQueue()
    trackers = map(operator.methodcaller("__enter__"), [tracker])
    _thread.start_new_thread(list, (map(entered.put, trackers),))
    # Where it cannot be entered, the thread prints why, and the program runs without it.
    with contextlib.suppress(queue.Empty):
        atexit.register(entered.get(timeout=5).__exit__, None, None, None)


def import_own():
    """Imports the sitecustomize that the environment itself has.

    This folder stays in sys.path: a program may make the PYTHONPATH of its children of that.
    """
    this = sys.modules.pop(__name__)
    folder = os.path.dirname(__file__)
    place = sys.path.index(folder)
    sys.path.remove(folder)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != __name__:
            raise
        sys.modules[__name__] = this
    finally:
        sys.path.insert(place, folder)


try:
    if "MEMDUEL_PROFILER_DIR" in os.environ:
        start()
finally:
    import_own()
