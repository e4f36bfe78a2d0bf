#!/usr/bin/env python3
"""Counts the cases of the GoogleTest programs that CTest ran, and names those that failed or were skipped, with the reason.

    scripts/test_cases.py BUILD/tests/cases            a line for the counts, one for each case that did not pass
    scripts/test_cases.py BUILD/tests/cases --names    PROGRAM.SUITE.CASE of every case, sorted
"""
import pathlib
import re
import sys
import xml.etree.ElementTree


def cases(directory):
    """(name, outcome, reason) of every case that ran; a program that crashed wrote no file."""
    for file in sorted(directory.glob("*.xml")):
        program = re.sub(r"\.\d+$", "", file.stem)
        for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
            name = f"{program}.{case.get('classname')}.{case.get('name')}"
            failure, skipped = case.find("failure"), case.find("skipped")
            if failure is not None:
                yield name, "failed", failure.get("message", "")
            elif skipped is not None:
                yield name, "skipped", skipped.get("message", "")
            elif case.get("status") == "run":
                yield name, "passed", ""


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--names"]):
        sys.exit(__doc__)
    found = list(cases(pathlib.Path(sys.argv[1])))
    if len(sys.argv) == 3:
        print("\n".join(sorted(name for name, _, _ in found)))
        return
    for name, outcome, reason in found:
        if outcome != "passed":
            last = reason.strip().split("\n")[-1]
            print(f"{outcome}: {name}: {last}")
    count = {kind: sum(outcome == kind for _, outcome, _ in found) for kind in ("passed", "failed", "skipped")}
    print(f"cases in the GoogleTest programs: {', '.join(f'{number} {kind}' for kind, number in count.items())}")


if __name__ == "__main__":
    main()
