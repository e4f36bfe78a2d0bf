#!/usr/bin/env python3
"""Modules see each other's public headers alone, and none sees a module that needs it.

    tests/architecture/private_headers.py BUILD_DIR

A module is a folder with a folder include/; a header of it outside of include/ is private. The compiler itself is asked, with the flags of each target that
is no test: a file is preprocessed that asks `__has_include` for every private header of every other module, by its bare name and by each path to it up to the
one from the root. A test or a program of research/ that is given private headers (`OF` in a CMakeLists.txt) is left out. What no flag can prevent is
looked for in the sources: `#include "../`, and modules that need each other in a circle. Prints what it finds.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_MODULE = ("tests", "research", "examples", "include")
TEST = re.compile(r"(_test|_fuzz)\.\w+$|(^|/)test_|^(tests|research)/")


def tracked(*patterns):
    names = subprocess.run(["git", "-C", ROOT, "ls-files", *patterns], capture_output=True, text=True, check=True).stdout.split("\n")
    return [pathlib.PurePath(name) for name in names if name]


def module_of(path, modules):
    return max((module for module in modules if path.is_relative_to(module)), key=lambda module: len(module.parts), default=None)


def targets_of(build):
    """Target -> its folder and the flags with which its files are searched for headers, from compile_commands.json."""
    targets = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        made = re.search(r" -o (\S*)CMakeFiles/([\w-]+)\.dir", entry["command"])
        folder = pathlib.PurePath(made.group(1)) if made else None
        if folder is None or folder.parts[:1] in (("tests",), ("research",)) or re.search(r"^memduel-bench-|^memduel_test_|_(test|fuzz|headers)$", made.group(2)):
            continue
        words = shlex.split(entry["command"])
        flags = {words[0]: None}
        for i, word in enumerate(words):
            if word in ("-isystem", "-iquote"):
                flags[f"{word} {words[i + 1]}"] = None
            elif re.match(r"-(I|D|std)", word):
                flags[word] = None
        targets.setdefault(made.group(2), (folder, {}))[1].update(flags)
    return {name: (folder, [word for flag in flags for word in flag.split(" ", 1)]) for name, (folder, flags) in targets.items()}


def paths_to(path):
    """What an include of `path` may say: a/b.h is "b.h" or "a/b.h"."""
    return {str(pathlib.PurePath(*path.parts[i:])) for i in range(len(path.parts))}


def seen(flags, names):
    """Those of `names` that a file compiled with `flags` could include."""
    with tempfile.TemporaryDirectory() as folder:
        probe = pathlib.Path(folder, "probe.cpp")
        probe.write_text("".join(f'#if __has_include("{name}")\nseen {name}\n#endif\n' for name in names))
        run = subprocess.run([*flags, "-E", "-P", str(probe)], capture_output=True, text=True, check=True)
    return {line.removeprefix("seen ") for line in run.stdout.splitlines() if line.startswith("seen ")}


def circles(needs):
    """Modules that need each other, as one line for each circle that a walk finds."""
    found, state = [], {}

    def visit(module, way):
        state[module] = "open"
        for other in sorted(needs.get(module, ())):
            if state.get(other) == "open":
                found.append(" needs ".join(map(str, [*way[way.index(other):], other])))
            elif other not in state:
                visit(other, [*way, other])
        state[module] = "done"

    for module in sorted(needs):
        if module not in state:
            visit(module, [module])
    return found


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    headers = [path for path in tracked("*.h") if path.parts[0] not in NO_MODULE]
    modules = {pathlib.PurePath(*path.parts[:path.parts.index("include")]) for path in headers if "include" in path.parts}
    private = {}
    for path in headers:
        if "include" not in path.parts and (module := module_of(path, modules)) is not None:
            private.setdefault(module, []).append(path)
    targets = targets_of(build)
    faults, with_target = [], set()
    of_compiler = seen(next(iter(targets.values()))[1][:1], sorted({path.name for paths in private.values() for path in paths}))  # GCC has an unwind.h
    for target, (folder, flags) in sorted(targets.items()):
        module = module_of(folder, modules)
        with_target.add(module)
        own = {name for path in private.get(module, []) for name in paths_to(path.relative_to(module))}
        others = {str(path) for paths in private.values() for path in paths}
        others |= {name for other, paths in private.items() if other != module for path in paths for name in paths_to(path)}
        faults += [f"{target} of {folder} can include {name}" for name in sorted(seen(flags, sorted(others - own - of_compiler)))]
        if target == f"memduel_{folder.name}" and not {str(path.relative_to(module)) for path in private.get(module, [])} <= seen(flags, sorted(own)):
            faults.append(f"{target} does not see its own private headers: the question is wrong, for it would see those of others, too")
    # What a build leaves out is not looked at; no module that it has may be missing.
    built = {module for module in modules if (build / module).is_dir() and list((ROOT / module).glob("*.cpp"))}
    faults += [f"{module} has no target in {build / 'compile_commands.json'}" for module in sorted(built - with_target)]

    needs, names = {}, {module.name: module for module in modules}
    for path in tracked("*.cpp", "*.h", "*.c"):
        text = (ROOT / path).read_text(errors="replace")
        faults += [f'{path} has #include "../' for _ in re.findall(r'^\s*#\s*include\s+"\.\./', text, re.MULTILINE)]
        user = module_of(path, modules)
        if user is None or TEST.search(str(path)):
            continue
        for name in re.findall(r'^\s*#\s*include\s+"(\w+)/', text, re.MULTILINE):
            if name in names and names[name] != user and not (ROOT / user / name).is_dir():
                needs.setdefault(user, set()).add(names[name])
    faults += circles(needs)
    for fault in faults:
        print(fault)
    print(f"{len(modules)} modules, {len(targets)} targets, {sum(map(len, private.values()))} private headers, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
