#!/usr/bin/env python3
"""Names, lines and inlined chains as memduel reads them, against llvm-symbolizer, for one program built in many ways.

    tests/symbols/check.py NAMES_AT [FILTER]

NAMES_AT is the program built from names_at.cpp. Builds shapes.cpp with gcc and clang and shapes.rs with rustc, as far as these are
installed, asks both tools of addresses all over the code, and prints a row per build. Every frame counts: function, file and line.
llvm-symbolizer is asked for linkage names, which c++filt then writes out, since demanglers differ in spaces. Stripped and split
builds are held to the same program built without. Where binutils' addr2line contradicts llvm-symbolizer, nobody can be right; such
frames are counted in a column of their own. Exit status: 1 when less than 99% of a build's frames are equal, or when one that is
answered from a stripped file is another function; 77 without llvm-symbolizer.
"""

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SYMBOLIZER = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
MOST_ADDRESSES = 400
WANTED = 0.99


class Build:
    """One way to build a program; `twin`: the flags of the build whose names are expected, where it is another."""

    def __init__(self, name, command, twin=None, after=None, only_function=False):
        self.name, self.command, self.twin, self.after, self.only_function = name, command, twin, after, only_function


def debug_link(program):
    subprocess.run(["objcopy", "--only-keep-debug", program, f"{program}.debug"], check=True)
    subprocess.run(["strip", "--strip-all", program], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={program}.debug", program], check=True, cwd=program.parent)


def builds_of_cpp():
    compilers = [c for c in ("g++", "clang++-19") if shutil.which(c)]
    for compiler, optimisation in itertools.product(compilers, ("-O0", "-O2", "-O3")):
        base = [compiler, "-std=c++20", optimisation]
        name = f"{compiler} {optimisation}"
        for dwarf in ("-gdwarf-4", "-gdwarf-5"):
            yield Build(f"{name} -g {dwarf}", base + ["-g", dwarf])
            yield Build(f"{name} -g -gsplit-dwarf {dwarf}", base + ["-g", "-gsplit-dwarf", dwarf], twin=base + ["-g", dwarf])
        yield Build(f"{name} -g1", base + ["-g1"])
        yield Build(f"{name} stripped", base + ["-g", "-s"], twin=base + ["-g"], only_function=True)
    for compiler in compilers:
        base = [compiler, "-std=c++20", "-O2", "-g"]
        yield Build(f"{compiler} -O2 -g -no-pie", base + ["-fno-pie", "-no-pie"])
        yield Build(f"{compiler} -O2 -g -static-pie", base + ["-static-pie", "-fPIE"])
        yield Build(f"{compiler} -O2 -g -gz=zlib", base + ["-gz=zlib"])
        yield Build(f"{compiler} -O2 -g -ffunction-sections", base + ["-ffunction-sections", "-Wl,--gc-sections"])
        yield Build(f"{compiler} -O2 -g, debug link", base, twin=base, after=debug_link)
    if "g++" in compilers:
        yield Build("g++ -O2 -g -flto", ["g++", "-std=c++20", "-O2", "-g", "-flto"])


def builds_of_rust():
    if not shutil.which("rustc"):
        return
    for mangling, level in itertools.product(("legacy", "v0"), ("0", "3")):
        flags = ["rustc", "-C", f"opt-level={level}", "-C", "debuginfo=2"]
        if mangling == "v0":
            flags += ["-C", "symbol-mangling-version=v0"]
        yield Build(f"rustc opt-level={level} {mangling}", flags)


def run(command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def built(command, source, program, after=None):
    subprocess.run([*command, source, "-o", program], check=True, capture_output=True, cwd=program.parent)
    if after:
        after(program)
    return program


def addresses_of(program, static):
    """All over .text; of a static program only where its own functions lie."""
    for line in run(["readelf", "-SW", program]).splitlines():
        found = re.match(r"\s*\[\s*\d+\] \.text\s+PROGBITS\s+(\w+) \w+ (\w+)", line)
        if found:
            begin, size = (int(number, 16) for number in found.groups())
    if not static:
        step = max(1, size // MOST_ADDRESSES)
        return list(range(begin, begin + size, step))
    own = [line.split() for line in run(["nm", "-S", program]).splitlines() if re.search(r" [tT] (_ZN3app|main$|plain_c$|_ZL10file_local)", line)]
    return [at for begin, size, *_ in own for at in range(int(begin, 16), int(begin, 16) + int(size, 16), 3)]


def plain(name):
    """What compilers append to a function that they specialised, split or moved is left out, and Rust's hashes."""
    name = re.sub(r"( \[clone [^\]]*\])+$", "", name)
    name = re.sub(r"(\.(constprop|isra|part|cold|lto_priv|llvm)(\.\d+)*)+$", "", name)
    name = re.sub(r"(?<=\w)\[[0-9a-f]{6,16}\]", "", name)
    return re.sub(r"::h[0-9a-f]{16}$", "", name)


def written_out(names):
    return dict(zip(names, run(["c++filt"], input="\n".join(names) + "\n").splitlines())) if names else {}


def expected_names(program, addresses):
    text = run([SYMBOLIZER, f"--obj={program}", "--inlines", "--no-demangle", "--output-style=JSON"],
               input="".join(f"{at:#x}\n" for at in addresses))
    symbols = [json.loads(line).get("Symbol", []) for line in text.splitlines() if line]
    names = written_out(sorted({s["FunctionName"] for chain in symbols for s in chain if s["FunctionName"]}))
    return [[(plain(names[s["FunctionName"]]), s["FileName"], s["Line"]) for s in chain if s["FunctionName"]] for chain in symbols]


def names_of_memduel(names_at, program, addresses):
    chains = [[]]
    for line in run([names_at, program], input="".join(f"{at:x}\n" for at in addresses)).splitlines():
        if line == ".":
            chains.append([])
            continue
        function, file, number = line.split("\t")
        chains[-1].append((plain(function), file, int(number)))
    return chains[:-1]


def names_of_addr2line(program, at):
    lines = run(["addr2line", "-i", "-f", "-C", "-e", program, f"{at:#x}"]).splitlines()
    chain = []
    for function, place in zip(lines[::2], lines[1::2]):
        file, _, line = place.partition(" ")[0].rpartition(":")
        chain.append((plain(function), file, int(line) if line.isdigit() else 0))
    return chain


def tidied(chain):
    """Without debug information llvm-symbolizer gives the name that the compiler gave its object, at line 0."""
    return [(function, os.path.normpath(file) if file and (line or "/" in file) else "", line) for function, file, line in chain]


def compare(build, expected, got, twin, addresses):
    """Frames that are equal, all frames, frames that nobody can tell, and the first differences."""
    equal = all_frames = untold = 0
    examples = []
    for at, want, have in zip(addresses, expected, got):
        # What starts every program has symbols without sizes, of which nobody can say where they end.
        if not want or want[-1][1] == "crtstuff.c":
            continue
        want, have = tidied(want), tidied(have)
        if build.only_function:
            if not have:
                continue  # an answer is not owed
            want, have = [(want[-1][0],) if want else ("",)], [(have[-1][0],)]
        same = sum(a == b for a, b in zip(want[::-1], have[::-1]))
        total = max(len(want), len(have))
        if same != total:
            # llvm-symbolizer says nothing of a line 0; addr2line may say another.
            other = tidied(names_of_addr2line(twin, at))
            if not build.only_function and other != want:
                untold += total
                continue
            examples.append(f"    {at:#x}: expected {want}\n{'':>12}found    {have}")
        equal += same
        all_frames += total
    return equal, all_frames, untold, examples


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    names_at, wanted = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    if not SYMBOLIZER:
        print("llvm-symbolizer is not installed (package llvm-19)")
        return 77
    failed = False
    print(f"{'build':<44}{'frames':>8}{'equal':>8}{'untold':>8}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (build, source) in enumerate([(b, "shapes.cpp") for b in builds_of_cpp()] + [(b, "shapes.rs") for b in builds_of_rust()]):
            if wanted not in build.name:
                continue
            here = folder / str(number)
            here.mkdir()
            program = built(build.command, HERE / source, here / "shapes", build.after)
            twin = built(build.twin, HERE / source, here / "twin") if build.twin else program
            addresses = addresses_of(twin, "-static-pie" in build.command)
            equal, frames, untold, examples = compare(build, expected_names(twin, addresses),
                                                      names_of_memduel(names_at, program, addresses), twin, addresses)
            if frames == 0 and not build.only_function:
                sys.exit(f"{build.name}: no frame was compared")
            wrong = equal < frames if build.only_function else equal < WANTED * frames
            failed = failed or wrong
            print(f"{build.name:<44}{frames:>8}{equal / frames if frames else 1:>8.1%}{untold:>8}", flush=True)
            if wrong:
                print("\n".join(examples[:5]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
