#!/usr/bin/env python3
"""Every sentence, every constant and every six lines of code stand once, and every class can be held in the head.

    tests/architecture/once.py

A sentence is a text of four words or more in a source that is no test; adjacent C++ literals are one text. Two places with the same one are a fault, each
language for itself. So is a constant that two files give the same value; the recorder may use no other room and has its own. So are six lines in a row that
stand twice, comments, includes and braces left out, a class with more than 12 private functions, and one whose functions are defined in more than one file.
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST = re.compile(r"(_test|_fuzz)\.(cpp|h)$|(^|/)test_[^/]*\.h$|/test_|/testing/|^tests/|^bench/")
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])\'|`(?P<template>(?:\\.|[^`\\])*)`', re.DOTALL
)
WORDS = 4
LINES = 6
NO_CODE = re.compile(r"//|#|/?\*|import |from |namespace |[{}();]*$|(public|private|protected):$")
MOST_PRIVATE = 12
CONSTANT = re.compile(r"^(?:inline |static )*const(?:expr)? [\w:<>* ]*\b(k[A-Z]\w*) = ([^;\n]+);", re.MULTILINE)
RECORDER = "profilers/recorder/"
CLASS = re.compile(r"^(?:class|struct) (?:\[\[\w+\]\] )?(?:MEMDUEL_\w+ )?(\w+)(?: final)?(?: : [^{;]*)? \{$", re.MULTILINE)
FUNCTION = re.compile(r"^  (?:\[\[nodiscard\]\] |static |virtual |constexpr |explicit |inline )*(?:const )?[\w:<>,&*\s]+?[\s&*](\w+)\((?!\*)", re.MULTILINE)


def sources(pattern):
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True).stdout.split()
    files = {name: (ROOT / name).read_text() for name in names if re.search(pattern, name) and (ROOT / name).exists()}
    # Statistical tests are named as tests are.
    return {name: source for name, source in files.items() if not TEST.search(name) or (name.startswith("analysis/statistics/") and "gtest" not in source)}


def texts(source):
    """Of a source, with the line that each begins on."""
    found = []
    end = None
    for match in TOKEN.finditer(source):
        text = next((match[name] for name in ("text", "raw", "template") if match[name] is not None), None)
        if text is None:
            continue
        if end is not None and not source[end : match.start()].strip():
            found[-1][0] += text
        else:
            found.append([text, source.count("\n", 0, match.start()) + 1])
        end = match.end()
    return found


def repeated_sentences(files):
    places = collections.defaultdict(list)
    for name, source in files.items():
        for text, line in texts(source):
            if len(re.findall(r"[A-Za-z]{2,}", text)) >= WORDS and " " in text.strip():
                places[text].append(f"{name}:{line}")
    return [f'"{text}" stands in {", ".join(where)}' for text, where in places.items() if len(where) > 1]


def repeated_constants(files):
    places = collections.defaultdict(list)
    for name, source in files.items():
        for constant, value in CONSTANT.findall(source):
            places[name.startswith(RECORDER), constant, value].append(name)
    return [f"{constant} = {value} stands in {', '.join(where)}" for (_, constant, value), where in places.items() if len(where) > 1]


def repeated_lines(files):
    code = {
        name: [(number, " ".join(line.split())) for number, line in enumerate(source.split("\n"), 1) if not NO_CODE.match(line.strip())]
        for name, source in files.items()
    }
    first, faults = {}, []
    for name, lines in code.items():
        passed = 0
        for at in range(len(lines) - LINES + 1):
            window = tuple(line for _, line in lines[at : at + LINES])
            file, place, line = first.setdefault(window, (name, at, lines[at][0]))
            if at >= passed and (file != name or at >= place + LINES):
                faults.append(f"{name}:{lines[at][0]} repeats {file}:{line}")
                passed = at + LINES
    return faults


def body_of(source, begin):
    """From the brace at `begin` to its end."""
    depth = 0
    for at in range(begin, len(source)):
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        if depth == 0:
            return source[begin + 1 : at]
    return source[begin + 1 :]


def without_bodies(body):
    """Declarations alone: what stands in braces is left out."""
    kept, depth = [], 0
    for letter in body:
        if letter == "}":
            depth -= 1
        if depth == 0:
            kept.append(letter)
        if letter == "{":
            depth += 1
    return "".join(kept)


def large_classes(files):
    faults, count = [], 0
    for name, source in files.items():
        plain = re.sub(r"//[^\n]*", "", source)
        for match in CLASS.finditer(plain):
            count += 1
            parts = re.split(r"^ (public|private|protected):\n", without_bodies(body_of(plain, match.end() - 1)), flags=re.MULTILINE)
            private = "".join(parts[i + 1] for i in range(1, len(parts), 2) if parts[i] == "private")
            functions = [function for function in FUNCTION.findall(private) if function not in ("operator", match[1])]
            if len(functions) > MOST_PRIVATE:
                faults.append(f"{name}: {match[1]} has {len(functions)} private functions, expected at most {MOST_PRIVATE}")
    return faults, count


def scattered_classes(files):
    """Functions of one class in several files. Equal names of classes in different rooms are told apart by their header."""
    declared = collections.defaultdict(list)
    for name, source in files.items():
        for match in CLASS.finditer(source):
            declared[match[1]].append(name)
    faults = []
    for class_name, headers in declared.items():
        if len(headers) > 1:
            continue
        room = str(pathlib.Path(headers[0]).parent)
        where = [
            name
            for name, source in files.items()
            if name.startswith(room) and name.endswith(".cpp") and re.search(rf"^(?!.*=)[\w:<>,&*\s\[\]]*\b{class_name}::~?\w+\(", source, re.MULTILINE) and re.search(rf"^[^\s/#].*\b{class_name}::~?\w+\([^;]*$", source, re.MULTILINE)
        ]
        if len(where) > 1:
            faults.append(f"{class_name} is defined in {', '.join(where)}")
    return faults


def main():
    code = sources(r"\.(cpp|h)$")
    viewer = sources(r"\.ts$")
    if len(code) < 500 or len(viewer) < 30:
        sys.exit(f"once: found {len(code)} and {len(viewer)} sources only")
    large, classes = large_classes(code)
    faults = repeated_sentences(code) + repeated_sentences(viewer) + repeated_constants(code) + repeated_lines({**code, **viewer}) + large + scattered_classes(code)
    print("\n".join([*faults, f"{len(code) + len(viewer)} sources, {classes} classes, {len(faults)} faults"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
