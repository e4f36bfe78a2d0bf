"""The programs: each keeps as many objects as its first argument says, and waits as many milliseconds as its second says before it ends."""
import argparse
import dataclasses
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Program:
    name: str
    command: list
    count: int
    """Of objects whose heap is about 5% larger; the kernel's count stands beside it in the tables."""
    five_percent: int


# Java's heap grows by its collector's regions: from 800,000 objects on nothing is added for 8% more, and then 19% at once.
PROGRAMS = [
    Program("CPython", ["/usr/bin/python3", HERE / "objects.py"], 300_000, 318_000),
    Program("node", ["node", HERE / "objects.js"], 400_000, 500_000),
    Program("Java", ["java", "-cp", "{dir}", "Objects"], 800_000, 880_000),
    Program("Java, 1.6 million", ["java", "-cp", "{dir}", "Objects"], 1_600_000, 1_720_000),
    Program("PHP", ["php", HERE / "objects.php"], 400_000, 425_000),
    Program("Go", ["{dir}/objects"], 6_000_000, 6_360_000),
    Program("Ruby", ["ruby", HERE / "objects.rb"], 400_000, 418_000),
    Program("R", ["Rscript", HERE / "objects.R"], 300_000, 365_000),
]


def parser(doc):
    """Of the words that every script here takes."""
    options = argparse.ArgumentParser(description=doc.splitlines()[0])
    options.add_argument("memduel", type=lambda word: pathlib.Path(word).resolve())
    options.add_argument("directory", type=pathlib.Path, nargs="?")
    options.add_argument("--only", nargs="*")
    return options


def asked_of(options, name):
    """What the command line says; without a directory one is made."""
    asked = options.parse_args()
    asked.directory = (asked.directory or pathlib.Path(tempfile.mkdtemp(prefix=f"memduel-{name}-"))).resolve()
    return asked


def build(directory):
    """The programs that are compiled, where there is a compiler."""
    if shutil.which("javac"):
        subprocess.run(["javac", "-d", directory, HERE / "Objects.java"], check=True)
    if shutil.which("go"):
        subprocess.run(["go", "build", "-o", directory / "objects", HERE / "objects.go"], check=True)


def installed(directory, only=None):
    """Each program that is there, built in `directory`. Names and leaves out those that are not installed."""
    directory.mkdir(parents=True, exist_ok=True)
    build(directory)
    for program in PROGRAMS:
        if only and program.name not in only:
            continue
        program.command = [str(word).format(dir=directory) for word in program.command]
        if shutil.which(program.command[0]):
            yield program
        else:
            print(f"{program.name} is not installed and left out", flush=True)
