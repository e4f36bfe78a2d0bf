#!/usr/bin/env python3
"""Counts the cases of the GoogleTest programs that CTest ran last, and lists those that failed or were skipped, with the reason.

    scripts/test_cases.py BUILD/tests/cases            a line for each case that did not pass, then the counts; exits with 1 if a case failed
    scripts/test_cases.py BUILD/tests/cases --names    PROGRAM.SUITE.CASE of every case, sorted

A program that crashed or timed out has no file. CTest reports it as failed.
"""
import pathlib
import sys
import xml.etree.ElementTree


def cases(directory):
    """Yields (name, outcome, reason) of every case that ran."""
    for file in sorted(directory.glob("*.xml")):
        for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
            name = f"{file.stem}.{case.get('classname')}.{case.get('name')}"
            failure, skipped = case.find("failure"), case.find("skipped")
            if failure is not None:
                yield name, "failed", failure.get("message", "")
            elif skipped is not None:
                yield name, "skipped", skipped.get("message", "").split("\n", 1)[-1]
            elif case.get("status") == "run":
                yield name, "passed", ""


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--names"]):
        sys.exit(__doc__)
    found = list(cases(pathlib.Path(sys.argv[1])))
    if len(sys.argv) == 3:
        print("\n".join(sorted(name for name, _, _ in found)))
        return 0
    for name, outcome, reason in found:
        if outcome != "passed":
            print(f"{outcome}: {name}: {' '.join(reason.split())[:300]}")
    count = {kind: sum(outcome == kind for _, outcome, _ in found) for kind in ("passed", "failed", "skipped")}
    print(f"cases in the GoogleTest programs: {', '.join(f'{number} {kind}' for kind, number in count.items())}")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
