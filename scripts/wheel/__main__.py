"""`python -m memduel` and the command `memduel`: becomes the program."""

import os
import sys

from memduel import PROGRAM


def main():
    os.execv(PROGRAM, ["memduel", *sys.argv[1:]])


if __name__ == "__main__":
    main()
