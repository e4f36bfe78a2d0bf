"""memduel as a Python package: the program, and where it lies."""

import pathlib

PROGRAM = pathlib.Path(__file__).parent / "bin" / "memduel"
