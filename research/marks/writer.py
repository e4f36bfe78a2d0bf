"""Says in each line when it was written, so that the mark's delay can be read from the run."""

import subprocess
import sys
import time

BUSY = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"

others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(int(sys.argv[1]))]
for number in range(1, 201):
    print("Round", number, "written at", time.monotonic_ns())
    time.sleep(0.02)
for other in others:
    other.kill()
