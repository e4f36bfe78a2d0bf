"""The program that pool_provider.py plans: workers that add up the numbers of a file, round by round.

    pool.py DIR WORKERS ROUNDS coordinator
    pool.py DIR WORKERS ROUNDS worker INDEX reading=whole|lines numbers=list|array
    pool.py DIR ROWS 0 rows
"""
import array
import os
import pathlib
import sys
import time

directory, count, rounds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])


def write(name, text):
    """Whole or not at all: others wait for the file."""
    (directory / f"{name}.new").write_text(text)
    os.rename(directory / f"{name}.new", directory / name)


def wait_for(name):
    while not (directory / name).exists():
        time.sleep(0.002)
    return (directory / name).read_text()


def make_rows():
    write("rows.txt", "".join(f"{row % 1000 / 8}\n" for row in range(count)))


def coordinate():
    import memduel_annotate as memduel
    total = 0.0
    for number in range(1, rounds + 1):
        memduel.round_begin(number)
        write(f"go-{number}", "")
        total += sum(float(wait_for(f"sum-{number}-{worker}")) for worker in range(1, count + 1))
        memduel.round_end(number)
    write("sum.txt", f"{total}\n")


def numbers_of(file, switches):
    lines = file.read().splitlines() if switches["reading"] == "whole" else file
    return array.array("d", map(float, lines)) if switches["numbers"] == "array" else [float(line) for line in lines]


def work(index, switches):
    for number in range(1, rounds + 1):
        wait_for(f"go-{number}")
        with open(directory / "rows.txt") as file:
            numbers = numbers_of(file, switches)
        write(f"sum-{number}-{index}", repr(sum(numbers)))


role = sys.argv[4]
if role == "rows":
    make_rows()
elif role == "coordinator":
    coordinate()
else:
    work(int(sys.argv[5]), dict(switch.split("=") for switch in sys.argv[6:]))
