"""A Slurm of two nodes on this machine, by scripts/slurm/up.sh, and what the tests on it share."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOLDS = "import time; x = bytearray({} << 20); time.sleep(0.5)"


def is_possible():
    return os.geteuid() == 0 and all(map(shutil.which, ("munged", "slurmctld", "slurmd", "sbatch")))


def run(*words, expect=0, **options):
    """What a command printed, both streams."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != expect:
        sys.exit(f"slurm: {' '.join(map(str, words))} exited with {done.returncode}, expected {expect}: {done.stderr}{done.stdout}")
    return done.stdout + done.stderr


def wait_for(what, seconds, condition):
    for _ in range(seconds * 5):
        if condition():
            return
        time.sleep(0.2)
    sys.exit(f"slurm: {what} took more than {seconds} s")


def duel_in(place, name="duel"):
    """Two commands that differ by 10 MiB."""
    config = place / f"{name}.json"
    command = lambda mib: ["/usr/bin/python3", "-c", HOLDS.format(mib)]
    config.write_text(json.dumps({
        "name": name,
        "workload": {"kind": "command", "processes": [{"role": "command", "argv": command(30)}]},
        "variants": [{"name": "a"}, {"name": "b", "argv": {"command": command(20)}}],
        "baseline": "a",
        "profile": {"trials": 1},
    }))
    return config


@contextlib.contextmanager
def cluster(*lines):
    """A directory to work in; SLURM_CONF is set. `lines` go into slurm.conf."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="memduel-slurm-"))
    directory = place / "cluster"
    try:
        run(ROOT / "scripts/slurm/up.sh", directory, *lines)
        os.environ["SLURM_CONF"] = str(directory / "slurm.conf")
        yield place
    finally:
        subprocess.run([ROOT / "scripts/slurm/down.sh", directory], check=False)
        shutil.rmtree(place, ignore_errors=True)
