#!/usr/bin/env python3
"""Holds the sentences of the docs to what a reader takes in at once: at most 25 words, and none that begins with "Of", "At", "Where" or "What" and a clause.

    tests/architecture/sentences.py

Words in parentheses do not count. Tables, headings, code and lists of references are passed over, and questions may begin with "What".
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MOST_WORDS = 25
PASSED_OVER = re.compile(r"[|#<]|    (?!\s*[-*\d])")


def paragraphs(text):
    """Each with the line that it begins on; a point of a list is a paragraph."""
    found, code, references = [], False, False
    opens = True
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#"):
            references = "References" in line
        if line.strip().startswith("```"):
            code = not code
        if code or references or not line.strip() or line.strip().startswith("```") or PASSED_OVER.match(line):
            opens = True
            continue
        point = re.match(r"\s*(?:[-*]|\d+\.) (.*)", line)
        if opens or point:
            found.append([number, point[1] if point else line.strip()])
        else:
            found[-1][1] += " " + line.strip()
        opens = False
    return found


def faults_of(page):
    for number, text in paragraphs(page.read_text()):
        for sentence in re.split(r"(?<=[.!?:;])\s+", text.replace("**", "").replace("*", "")):
            words = len(re.sub(r"\([^)]*\)", "", sentence).split())
            if words > MOST_WORDS:
                yield f"{page.relative_to(ROOT)}:{number}: {words} words: {sentence}"
            if re.match(r"(Of|At|Where|What) ", sentence) and not sentence.endswith("?"):
                yield f"{page.relative_to(ROOT)}:{number}: begins with a clause: {sentence}"


def main():
    if len(PAGES) < 20:
        sys.exit(f"sentences: found {len(PAGES)} pages only")
    faults = [fault for page in PAGES for fault in faults_of(page)]
    print("\n".join([*faults, f"{len(PAGES)} pages, {len(faults)} faults"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
