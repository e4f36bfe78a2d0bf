#!/usr/bin/env python3
"""Starts each template of `memduel list templates` against the installed release of its framework.

    tests/templates/check.py MEMDUEL [TEMPLATE ...]      exit 77: the framework of none of them is installed

A user's edits are made to the text of the template, and each must find its place. Every role and every log pattern that the template has must
then be seen in a trial of each variant, and no process may be left.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import typing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES, INSTALLED = ROOT / "examples", ROOT / "build/examples"
BENCHMARKS = pathlib.Path(os.environ.get("MEMDUEL_BENCHMARKS", ROOT / "build/release/tests/recorder-programs/benchmarks"))
FLOWER, FLOWER_BEFORE, NVFLARE, APPFL = (INSTALLED / name for name in ("flower", "flower-1.37", "nvflare", "appfl"))
MARK = "MEMDUEL_TEMPLATE_TEST"  # a variable that all processes of a trial inherit


@dataclasses.dataclass
class Template:
    """What a user of a template does: installs a release, writes an app, starts memduel in a virtual environment, and replaces text."""

    needs: list  # files of the release
    fix: str  # the command that installs it
    edits: dict  # text to its replacement; {app} is a copy of `app`
    app: pathlib.Path | None = None
    environment: pathlib.Path | None = None
    build: typing.Callable = lambda app: None
    benchmarks: tuple = ()  # roles that the program makes by itself
    unmatched: int = 0  # log patterns of releases that are not started here


def edit(file, edits):
    text = file.read_text()
    for old, new in edits.items():
        assert old in text, f"{file} has no {old}"
        text = text.replace(old, new)
    file.write_text(text)


def train_and_validate(app):
    """The example does neither, but the template has patterns for both."""
    edit(app / "server.yaml", {"num_global_epochs: 5": "num_global_epochs: 2", "mode: epoch": "mode: step\n    do_validation: true",
                               "num_local_steps: 5": "num_local_steps: 1"})
    edit(app / "data.py", {"return TensorDataset(": "return (TensorDataset(", ", None\n": ",) * 2\n"})


def compile_program(app):
    for name in ("mnist", "mnist-after"):
        subprocess.run(["cc", "-o", str(app / name), str(app / "mnist.c")], check=True)


def link_benchmarks(app):
    for name in ("benchmarks", "benchmarks-after"):
        (app / name).symlink_to(BENCHMARKS)


TEMPLATES = {
    "flower-deployment": Template([FLOWER / "bin/flwr"], "examples/flower/setup.sh", {"my-flower-app": "{app}"}, HERE / "flower_app", FLOWER),
    "flower-simulation": Template([FLOWER / "bin/flwr"], "examples/flower/setup.sh", {"my-flower-app": "{app}"}, HERE / "flower_app", FLOWER),
    "flower-server": Template([FLOWER / "bin/flwr", FLOWER_BEFORE / "bin/flwr"], "examples/flower/setup.sh",
                              {"my-flower-server": "{app}", "/opt/venv-before": str(FLOWER_BEFORE), "/opt/venv-after": str(FLOWER)},
                              HERE / "flower_server", unmatched=1),
    "nvflare-simulator": Template([NVFLARE / "env/bin/nvflare"], "examples/nvflare/setup.sh",
                                  {"my-nvflare-job": str(NVFLARE), "jobs/gc-1": "jobs/gc-server-and-clients"}, environment=NVFLARE / "env"),
    "appfl": Template([APPFL / "bin/python"], "examples/appfl/setup.sh", {"my-appfl-job": "{app}"}, EXAMPLES / "appfl", APPFL,
                      build=train_and_validate),
    "cpp-program": Template([pathlib.Path("/usr/bin/cc")], "scripts/setup.sh --tool", {'"cwd": "."': '"cwd": "{app}"'}, HERE / "program",
                            build=compile_program),
    "google-benchmark": Template([BENCHMARKS], "scripts/build.sh release",
                                 {'"cwd": "."': '"cwd": "{app}"', "BM_Aggregate": "two_blocks_an_iteration"}, HERE / "program", build=link_benchmarks,
                                 benchmarks=("two_blocks_an_iteration/iterations:16",)),
}


def without_comments(text):
    return json.loads("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//")))


def roles_of(config):
    """The roles that the template names."""
    workload = config["workload"]
    for process in workload["processes"]:
        count = process.get("count", 1)
        yield from [process["role"]] if count == 1 else [f"{process['role']}-{index}" for index in range(1, count + 1)]
    yield from (match["role"] for match in workload.get("match", []))


def has_rounds(config, role):
    marks = config["workload"].get("marks", [])
    return any("(?<round>" in mark["pattern"] and re.fullmatch(mark["role"] + r"(-\d+)?", role) for mark in marks)


def processes_with(variable):
    """Command lines of the processes that have inherited `variable`, a text NAME=VALUE."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            pass
    return found


def problems_of(name, template, memduel, folder):
    """Writes the template, edits it, runs it once for each variant, and yields what is wrong."""
    app = folder / "app"
    if template.app:
        shutil.copytree(template.app, app)
    template.build(app)
    text = subprocess.run([memduel, "list", "--template", name], capture_output=True, text=True, check=True).stdout
    for old, new in template.edits.items():
        if old not in text:
            yield f"the template has no {old} to be replaced"
        text = text.replace(old, new.replace("{app}", str(app)))
    (folder / "job.json").write_text(text)
    config = without_comments(text)

    environment = {**os.environ, MARK: str(folder), "XDG_STATE_HOME": str(folder / "state")}
    if template.environment:
        environment["PATH"] = f"{template.environment / 'bin'}:{environment['PATH']}"
    out = folder / "out"
    ended = subprocess.run([memduel, "run", str(folder / "job.json"), "--out", str(out), "--repeats", "1", "--warmup", "0",
                            "--set", "profile.trials=0", "--on-inconclusive", "pass"],
                           env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    left = processes_with(f"{MARK}={folder}")
    if left:
        yield f"processes are left: {left}"
    # 1: a gate failed. One trial of each variant decides nothing, but a gate of another exit status names something that does not exist.
    if ended.returncode not in (0, 1):
        yield f"memduel run ends with {ended.returncode}:\n{ended.stdout}"
        return

    results = json.loads((out / "results.json").read_text())
    trials = [trial for trial in results["trials"] if trial["status"] == "ok"]
    if sorted(trial["variant"] for trial in trials) != sorted(variant["name"] for variant in config["variants"]):
        yield f"not every variant has a trial:\n{ended.stdout}"
    for trial in trials:
        roles = {role["role"]: role for role in trial["roles"]}
        for role in roles_of(config):
            where = f"{role} in {trial['variant']}"
            if not roles.get(role, {}).get("metrics", {}).get("peak_rss_bytes"):
                yield f"{where} was not seen"
            # Each job has two rounds or more. One without marks is one round.
            elif has_rounds(config, role) and len(roles[role]["rounds"]) < 2:
                yield f"{where} has no rounds"
        for role in template.benchmarks:
            if not roles.get(role, {}).get("metrics", {}).get("allocation_count"):
                yield f"{role} in {trial['variant']} has no allocations"
    unmatched = [note["message"] for note in results["warnings"] + results["limitations"] if note["code"] == "pattern_never_matched"]
    if len(unmatched) != template.unmatched:
        yield f"expected {template.unmatched} log patterns that never match, found {unmatched}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memduel", type=os.path.abspath)
    parser.add_argument("templates", nargs="*", metavar="TEMPLATE", help=", ".join(TEMPLATES))
    options = parser.parse_args()
    if unknown := set(options.templates) - TEMPLATES.keys():
        parser.error(f"unknown template {', '.join(sorted(unknown))}; expected {', '.join(TEMPLATES)}")
    listed = re.findall(r"^(\S+):", subprocess.run([options.memduel, "list", "templates"], capture_output=True, text=True, check=True).stdout, re.M)
    failed = [f"{name} is a template of memduel or of this test, but not of both" for name in sorted(set(listed) ^ TEMPLATES.keys())]
    started = 0
    for name in options.templates or TEMPLATES:
        template = TEMPLATES[name]
        missing = [str(file) for file in template.needs if not file.exists()]
        if missing and template.environment and template.environment.exists():
            failed.append(f"{name}: the release in {template.environment} has no {', '.join(missing)}")
            continue
        if missing:
            print(f"{name} is not started: {', '.join(missing)} is missing; the fix: {template.fix}")
            continue
        started += 1
        with tempfile.TemporaryDirectory(prefix="memduel-template-") as folder:
            found = [f"{name}: {problem}" for problem in problems_of(name, template, options.memduel, pathlib.Path(folder))]
        print(f"{name}: {'failed' if found else 'every role and log pattern was seen'}", flush=True)
        failed += found
    for problem in failed:
        print(problem, file=sys.stderr)
    return 1 if failed else 0 if started else 77


sys.exit(main())
