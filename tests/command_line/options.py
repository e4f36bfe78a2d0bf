#!/usr/bin/env python3
"""Gives every command and form each option that its help offers, alone and in pairs: an option changes something that can be seen, or it is refused
with exit code 2. A new option needs a row in SAMPLES, or this test fails.
    options.py MEMDUEL [--all]     --all: also the pairs of the forms that take longer"""
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MEMDUEL = os.path.abspath(sys.argv[1])
ALL = "--all" in sys.argv[2:]

# An example of each option's value. A run of a second has no time for --max-minutes 0.001, which is refused.
SAMPLES = {
    "--a": ["sleep 0.042"], "--b": ["sleep 0.043"], "--name": ["first"], "--prepare": ["touch prepared"], "--ignore-failure": [], "--shell": ["sh"],
    "--calibrate": [], "--parameter-list": ["n", "1,2"], "--parameter-scan": ["n", "1", "2"], "--parameter-step-size": ["1"], "--env": ["B=2"],
    "--setup": ["touch set-up"], "--conclude": ["touch concluded"], "--cleanup": ["touch cleaned"], "--default-shell": [], "--no-shell": [], "--export-json": ["r.json"], "--export-csv": ["r.csv"],
    "--export-markdown": ["r.md"], "--build-a": ["build-a"], "--build-b": ["build-b"], "--ref-a": ["HEAD~1"], "--ref-b": ["HEAD"],
    "--build": ["cp p q"], "--keep": ["p"], "--variant": ["y"], "--variants": ["x,y"], "--out": ["run"], "--resume": [], "--repeats": ["2"], "--warmup": ["2"],
    "--seed": ["42"], "--max-minutes": ["0.001"], "--set": ["measure.interval_ms=7"], "--data-dir": ["."], "--gate": ["all.peak_rss_bytes<=+800%"],
    "--gate-strict": [], "--on-inconclusive": ["fail"], "--no-default-gates": [], "--bisect": [], "--quiet": [], "--verbose": [],
    "--export": ["csv", "export.csv"], "--junit": ["junit.xml"], "--shard": ["1/1"], "--launcher": ["slurm"], "--shards": ["1"], "--partition": ["p"],
    "--nodes": ["1"], "--time": ["1"], "--mem": ["1G"], "--sbatch": ["--exclusive"], "--retries": ["1"], "--detect": ["30%"], "--slurm": ["1"],
    "--repeats-per-comparison": ["6"], "--baseline": ["lean"], "--candidate": ["second"], "--format": ["csv"], "--confidential": [], "--process": ["2"],
    "--stacks": ["1"], "--frames": ["1"], "--all-frames": [], "--diff": ["other.mdp"], "--kind": ["allocated"], "--output": ["output"], "--ci": [],
    "--profiler": ["heaptrack"], "--interval": ["64"], "--exact": [], "--count": [], "--snapshot-at": ["rss=1KiB"], "--peak-from": ["snapshot.mdp"],
    "--alone": [], "--slowdown": ["500"], "--confirm": ["5"], "--headroom": ["50%"], "--limit": ["process"], "--pid": ["1"], "--round-pattern": ["round (\\d+)"],
    "--log": ["no.log"], "--pss-interval": ["0.1"], "--duration": ["1"], "--json": [], "--warn": ["0.0001"], "--critical": ["0.0001"],
    "--metrics": ["watch.prom"], "--no-why": [], "--min-runs": ["2"], "--max-runs": ["2"], "--template": ["appfl"],
}

# What no call of a second can show.
UNSEEN = {("record", "--debuginfod"): "it needs a server", ("watch", "--pss-interval"): "it changes when PSS is read",
          ("watch", "--critical"): "it changes a word of a warning at a load that is not there", ("plan", "--variants"): "it changes the minutes",
          ("need", "--slowdown"): "it needs a slow program", ("check", "--gate-strict"): "it changes the outcome of a worsening near its bound",
          ("compare", "--gate-strict"): "the same", ("compare", "--no-shell"): "it is the default", ("measure", "--no-shell"): "it is the default"}

# Programs of their own, which tests/integration tries.
OTHER_PROGRAMS = {"budget", "checkpoints", "fl"}

# Pairs that are refused, since the options exclude each other.
CONFLICTS = {frozenset(pair) for pair in [
    ("--quiet", "--verbose"), ("--parameter-list", "--parameter-scan"), ("--default-shell", "--no-shell"), ("--shell", "--no-shell"), ("--shell", "--default-shell"),
    ("--exact", "--interval"), ("--exact", "--count"), ("--count", "--interval"),
    ("--count", "--snapshot-at")]}

# Beside a gate, --bisect implies none.
APART = {frozenset(("--gate", "--bisect"))}

# They choose the form, whose other options may be refused first.
SELECTORS = {"--shard", "--launcher", "--slurm"}

CONFIG = {"name": "t", "workload": {"kind": "command", "processes": [{"role": "server", "argv": ["sleep", "0.03"]}]},
          "variants": [{"name": "x"}, {"name": "y", "env": {"A": "1"}}, {"name": "z", "env": {"A": "2"}}], "baseline": "x", "profile": {"trials": 0},
          "measure": {"repeats": 1, "meters": ["procfs"]}, "gates": ["all.peak_rss_bytes<=+900%"]}

# Of kind "tiny": switches to take apart, and data sets.
PROVIDER = """import json, sys
SWITCHES = [{"name": n, "summary": n, "values": [{"value": "no", "summary": "no"}, {"value": "yes", "summary": "yes"}]} for n in ("one", "two")]
PRESETS = [{"name": "lean", "summary": "lean", "switches": {"one": "yes", "two": "yes"}},
           {"name": "second", "summary": "second", "switches": {"two": "yes"}}]
if sys.argv[1] == "catalogue":
    print(json.dumps({"schema": "memduel.catalogue/2", "name": "tiny", "version": "1", "switches": SWITCHES, "presets": PRESETS, "site": True}))
elif sys.argv[1] == "site":
    print(json.dumps({"schema": "memduel.site_has/1", "environment": {"data": json.load(sys.stdin).get("data_dir", "none")}, "values": {}}))
else:
    request = json.load(sys.stdin)
    arms = [{"name": arm["name"], "append": {"server": [f"{n}={v}" for n, v in arm["switches"].items()]}} for arm in request["variants"]]
    processes = [{"role": "server", "argv": ["sh", "-c", "sleep 0.03"]}]
    print(json.dumps({"schema": "memduel.expanded/2", "workload": {"kind": "command", "processes": processes}, "variants": arms,
                      "default_gates": [{"role": "server", "metric": "peak_rss_bytes"}]}))
"""


def call(words, place):
    """Slurm's commands fail, wherever it is installed."""
    path = f"{place}/no-slurm:{os.environ['PATH']}"
    done = subprocess.run([MEMDUEL, *words], cwd=place, capture_output=True, text=True, errors="replace", timeout=120, stdin=subprocess.DEVNULL,
                          env={**os.environ, "XDG_CACHE_HOME": f"{place}/cache", "XDG_STATE_HOME": f"{place}/state", "NO_COLOR": "1", "PATH": path})
    return done.returncode, done.stdout, done.stderr


def must(words, place):
    code, out, err = call(words, place)
    assert code == 0, f"memduel {' '.join(words)}: exit {code}\n{out}{err}"


def offered(command):
    """The options in the help of a command, before its examples."""
    help_text = subprocess.run([MEMDUEL, command, "--help"], capture_output=True, text=True, check=True).stdout
    lines = itertools.takewhile(lambda line: not line.startswith("Example"), help_text.splitlines())
    found = [re.match(r"  (?:-\w, )?(--[a-z-]+)", line) for line in lines]
    return [match.group(1) for match in found if match and match.group(1) != "--help"]


class Form:
    """@param base the options of a call without the one in question, then its words.
    @param measures whether it leaves a run in run/.
    @param pairs when pairs are tried: in each test, with --all, never.
    @param samples other values for this form.
    @param conflicts pairs that this form refuses beside CONFLICTS.
    @param mask whether numbers of its output differ from call to call.
    @param copies whether it changes what is there, so that each call gets a copy.
    @param unseen options that this form takes and whose effect its call cannot show, each with the reason."""

    def __init__(self, name, command, base, words=(), tail=(), measures=False, pairs="normal", samples=None, copies=False, conflicts=(), mask=False,
                 unseen=None):
        self.name, self.command, self.base, self.words, self.tail = name, command, base, list(words), list(tail)
        self.measures, self.pairs, self.samples, self.copies = measures, pairs, {**SAMPLES, **(samples or {})}, copies
        self.mask, self.unseen = mask, unseen or {}
        self.conflicts = CONFLICTS | {frozenset(pair) for pair in conflicts}

    def line(self, options):
        """With `options`, which take the place of the same in the base."""
        given = {**self.base, **{option: self.samples[option] for option in options}}
        words = [self.command, *self.words]
        for option, values in given.items():
            words += [option, *values]
        return words + self.tail

    def seen(self, options, source):
        """What can be seen of a call with these options, as a dict."""
        place = pathlib.Path(tempfile.mkdtemp(prefix="memduel-options-"))
        try:
            for entry in source.iterdir():
                if self.copies and entry.is_dir():
                    shutil.copytree(entry, place / entry.name)
                elif self.copies:
                    shutil.copy2(entry, place)
                else:
                    (place / entry.name).symlink_to(entry)
            before = set(os.listdir(place))
            if "--resume" in options:
                call(self.line([one for one in options if one != "--resume"]), place)
            before_call = trials_in(place)
            code, out, err = call(self.line(options), place)
            out, err = out.replace(str(place), "PLACE"), err.replace(str(place), "PLACE")
            seen = {"code": code, "err": err if code == 2 else ""}
            for path in place.rglob("*"):
                top = path.relative_to(place).parts[0]
                if top not in before and top not in ("run", "state", "cache"):
                    seen[f"file {path.relative_to(place)}"] = sha(path) if not self.measures else True
            seen.update(self.of_run(place, out, trials_in(place) != before_call) if self.measures else {"text": masked(out + err) if self.mask else out + err})
            if self.command == "record":
                seen.update(of_profile(place))
            if self.command == "plan":
                seen["change"] = re.findall(r"change of [0-9.]+%", out)
            if self.command == "watch":
                seen.update(warned="warning" in err, rounds="ended" in err, quiet=not err, samples=re.search(r"(\d+)\s+samples", err) is not None)
            if self.command == "report" and (place / "run-1/report.html").exists():
                seen["page"] = sha(place / "run-1/report.html")
            return seen
        finally:
            shutil.rmtree(place)

    def of_run(self, place, out, has_trials):
        run = place / "run"
        seen = {"trials": has_trials,
                "output": "none" if not out.strip() else "all" if re.search(r"^Reproduce$", out, re.M) else "summary",
                "comparisons": re.findall(r"comparisons of \d+", out)}
        for config in [run / "config.json"] if (run / "config.json").exists() else sorted(run.glob("*/config.json")):
            for path, value in flat(json.loads(config.read_text().replace(str(place), "PLACE"))).items():
                seen["config " + path] = value == 42 if path.endswith("/seed") else value
        if (run / "results.json").exists():
            environment = json.loads((run / "results.json").read_text())["environment"]
            seen.update({"environment " + key: environment.get(key) for key in ("data", "reproduce")})
        return seen


def trials_in(place):
    """Their values, which a complete run does not measure again; of a shard, which has no results, the times of their logs."""
    trials = {path: json.loads(path.read_text()).get("trials") for path in place.glob("run/**/results.json")}
    return trials or {path: path.stat().st_mtime_ns for path in place.glob("run/**/logs/*")}


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def masked(text):
    """Without what differs between two calls of one command line."""
    return re.sub(r"(?<!of )\d[\d.,]*(?: (?:m?s|[KM]iB|B)\b)?(?! runs)", "N", text)


def of_profile(place):
    """The lines of a profile's summary that say how it was made."""
    made = place / "made.mdp"
    text = call(["summary", "made.mdp"], place)[1] if made.exists() else ""
    return {"profile": [line for line in text.splitlines() if line.startswith(("mode", "interval"))],
            "snapshot": "snapshot" in text, "images": len(list(place.glob("made.*")))}


def flat(value, path=""):
    if isinstance(value, dict):
        return {key: one for name, each in value.items() for key, one in flat(each, f"{path}/{name}").items()}
    if isinstance(value, list):
        return {key: one for at, each in enumerate(value) for key, one in flat(each, f"{path}/{at}").items()} or {path: "[]"}
    return {path: value}


def changes(seen, base):
    return {key: seen.get(key) for key in seen.keys() | base.keys() if seen.get(key) != base.get(key)}


OUT = {"--out": ["run"]}
QUICK = {"--repeats": ["1"], "--set": ["profile.trials=0"], **OUT}
COMMANDS = {"--a": ["sleep 0.04"], "--b": ["sleep 0.041"], **QUICK}
BUILDS = {"--build-a": ["build-a"], "--build-b": ["build-b"], **QUICK}
REVISIONS = {"--ref-a": ["HEAD~1"], "--ref-b": ["HEAD"], **QUICK}
SHELL = ["--", "sh", "-c", "ls / >/dev/null; ls /etc >/dev/null"]
ROUNDS = ["--", "sh", "-c", "echo round 1; sleep 0.2; echo round 2; sleep 0.1"]

FORMS = [
    Form("run", "run", OUT, ["t.json"], measures=True),
    Form("run of a share", "run", {"--shard": ["1/1"], "--repeats": ["2"], "--seed": ["7"], **OUT}, ["t.json"], measures=True, pairs="all",
         samples={"--repeats": ["4"]}),
    Form("run of a suite", "run", OUT, ["suite.json"], measures=True, pairs="all"),
    Form("compare of commands", "compare", COMMANDS, measures=True),
    Form("measure", "measure", QUICK, ["sleep 0.04"], measures=True, samples={"--limit": ["peak_rss<=1KiB"]}),
    Form("compare of one command", "compare", QUICK, ["sleep 0.04"], measures=True, pairs="none",
         samples={"--gate": ["all.peak_rss_bytes<=1KiB"]}),
    Form("compare of a scan", "compare", {"--a": ["sleep 0.04{n}"], "--parameter-list": ["n", "3,4"], **QUICK}, measures=True, pairs="none",
         samples={"--a": ["sleep 0.040{n}"]}),
    Form("compare of builds", "compare", BUILDS, tail=["--", "p", "0.03"], measures=True, pairs="all"),
    Form("compare of a config in builds", "compare", BUILDS, tail=["builds.json"], measures=True, pairs="all"),
    Form("compare of revisions", "compare", {"--build": ["cp p q"], **REVISIONS}, tail=["--", "q", "0.03"], measures=True, copies=True, pairs="all"),
    Form("compare of measured runs", "compare", {"--gate": ["default"], "--on-inconclusive": ["fail"]}, ["run-1", "run-2"],
         samples={"--on-inconclusive": ["pass"], "--variant": ["b"]}),
    Form("calibrate", "calibrate", {"--repeats-per-comparison": ["5"], "--repeats": ["6"], **OUT}, ["t.json"], measures=True, pairs="all"),
    Form("plan", "plan", OUT, ["t.json"], measures=True, pairs="none"),
    Form("plan of a script", "plan", {"--slurm": ["1"], "--repeats": ["4"], "--seed": ["7"], **OUT}, ["t.json"]),
    Form("ablate", "ablate", {"--candidate": ["lean"], "--repeats": ["1"], **OUT}, ["tiny.json"], measures=True, pairs="all"),
    Form("run with data sets", "run", OUT, ["tiny.json"], measures=True, pairs="none"),
    Form("runs", "runs", {}),
    Form("merge", "merge", OUT, ["share"], measures=True),
    Form("check", "check", {"--on-inconclusive": ["fail"]}, ["run-1"], samples={"--on-inconclusive": ["pass"]},
         conflicts=[("--no-default-gates", "--on-inconclusive")]),
    Form("check of a watched job", "check", {"--gate": ["all.peak_rss_bytes<=900MiB"]}, ["watched"],
         samples={"--gate": ["all.peak_rss_bytes<=1KiB"]},
         unseen={"--bisect": "a gate that passes is 0 either way", "--on-inconclusive": "a ceiling on a watched job is never inconclusive"}),
    Form("compare of benchmark files", "compare", {"--gate": ["default"], "--on-inconclusive": ["fail"]},
         ["google_benchmark_a.json", "google_benchmark_b.json"],
         samples={"--on-inconclusive": ["pass"], "--variant": ["benchmarks"], "--gate": ["allocate.peak_heap_bytes<=1KiB"]},
         unseen={"--variant": "such a file has one variant"}),
    Form("compare of profiles", "compare", {}, ["many.mdp", "more.mdp"]),
    Form("report", "report", {}, ["run-1"], copies=True, pairs="none"),
    Form("summary", "summary", {}, ["many.mdp"]),
    Form("summary of two profiles", "summary", {"--diff": ["more.mdp"]}, ["many.mdp"]),
    Form("summary of a folder", "summary", {}, ["run-1"]),
    Form("flamegraph", "flamegraph", {"--output": ["page.html"]}, ["many.mdp"]),
    Form("export", "export", {"--format": ["folded"]}, ["many.mdp"], samples={"--format": ["pprof"]}, pairs="none"),
    Form("explain", "explain", {}, ["run-1"]),
    Form("doctor", "doctor", {}, mask=True),
    Form("list", "list", {}, ["templates"]),
    Form("record", "record", {"--output": ["made.mdp"]}, tail=SHELL, pairs="none", mask=True),
    Form("need", "need", {"--confirm": ["6"]}, ["t.json"], pairs="none", mask=True, samples={"--set": ["baseline=y"]}),
    Form("watch", "watch", OUT, tail=ROUNDS, measures=True, pairs="none", samples={"--gate": ["all.peak_rss_bytes<=1KiB"]}),
]


def make_source(source):
    """The files that every call finds."""
    (source / "t.json").write_text(json.dumps(CONFIG))
    (source / "suite.json").write_text('{"name": "s", "experiments": [{"config": "t.json", "name": "one"}]}')
    (source / "provider.py").write_text(PROVIDER)
    tiny = {"name": "tiny", "provider": ["python3", "provider.py"], "workload": {"kind": "tiny"}, "baseline": "original",
            "variants": [{"name": "original"}, {"name": "second", "preset": "second"}, {"name": "lean", "preset": "lean"}],
            "measure": {"repeats": 1, "meters": ["procfs"]}, "profile": {"trials": 0}, "gates": ["all.peak_rss_bytes<=+900%"]}
    (source / "tiny.json").write_text(json.dumps(tiny))
    program = pathlib.Path(shutil.which("sleep")).read_bytes()
    for name, more in (("build-a", b""), ("build-b", b"\n")):
        (source / name).mkdir()
        (source / name / "p").write_bytes(program + more)
        (source / name / "p").chmod(0o755)
    builds = {**CONFIG, "workload": {"kind": "command", "processes": [{"role": "server", "argv": ["p", "0.03"]}]}, "gates": []}
    (source / "builds.json").write_text(json.dumps(builds))
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost"]
    subprocess.run(["git", "init", "--quiet"], cwd=source, check=True)
    for number, more in enumerate((b"", b"\n")):
        (source / "p").write_bytes(program + more)
        (source / "p").chmod(0o755)
        (source / "kept").write_text(str(number))
        subprocess.run([*git, "add", "p", "kept"], cwd=source, check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", str(number)], cwd=source, check=True)
    for number in (1, 2):
        must(["compare", "--a", "sort /etc/services", "--b", "sort -r /etc/services", "--repeats", "2", "--quiet", "--set", "profile.trials=1", "--out",
              f"run-{number}"], source)
    must(["watch", "--out", "watched", "--quiet", "--", "sleep", "0.3"], source)
    for name in ("google_benchmark_a.json", "google_benchmark_b.json"):
        shutil.copy2(pathlib.Path(__file__).parent.parent / "integration" / "testdata" / name, source)
    must(["run", "t.json", "--shard", "1/1", "--repeats", "2", "--seed", "1", "--out", "share", "--quiet"], source)
    for name in ("many.mdp", "other.mdp"):
        must(["record", "--exact", "-o", name, "--", "sh", "-c", "sort /etc/services > /dev/null; ls -l / > /dev/null; true"], source)
    must(["record", "--exact", "-o", "more.mdp", "--", "sh", "-c", "ls -l /etc > /dev/null; true"], source)
    must(["record", "--snapshot-at", "rss=1KiB", "-o", "snapshot.mdp", "--", "sort", "/etc/services"], source)
    shutil.rmtree(source / "cache", ignore_errors=True)
    (source / "no-slurm").mkdir()
    for name in ("sbatch", "sinfo", "squeue", "scontrol", "sacct", "srun", "scancel"):
        (source / "no-slurm" / name).write_text("#!/bin/sh\nexit 1\n")
        (source / "no-slurm" / name).chmod(0o755)


def check_alone(form, source, pool, base):
    """Returns faults, and what each option that is not refused changes."""
    faults = []
    options = [option for option in offered(form.command) if option in SAMPLES]
    changes_of = {}
    for option, seen in zip(options, pool.map(lambda option: form.seen([option], source), options)):
        refused = 125 if form.command in ("record", "watch") else 2
        if seen["code"] == refused:
            if refused == 2 and option not in SELECTORS and not any(name in seen["err"] for name in [option, *form.base]):
                faults.append(f"{form.name}: {option} is refused without its name: {seen['err']}")
            continue
        changes_of[option] = changes(seen, base)
        expected = form.base.get(option) != form.samples[option] and (form.command, option) not in UNSEEN and option not in form.unseen
        if expected and not changes_of[option]:
            faults.append(f"{form.name}: {option} changes nothing that can be seen")
    return faults, changes_of


def check_pairs(form, source, pool, base, changes_of):
    """Each of two options still changes what it changes alone, unless the other changes the same."""
    faults = []
    pairs = [pair for pair in itertools.combinations([option for option in changes_of if option not in SELECTORS], 2) if frozenset(pair) not in APART]
    for (one, other), seen in zip(pairs, pool.map(lambda pair: form.seen(list(pair), source), pairs)):
        pair = f"{form.name}: {one} with {other}"
        if (seen["code"] == 2) != (frozenset((one, other)) in form.conflicts):
            faults.append(f"{pair}: exit {seen['code']} {seen['err']}")
        if seen["code"] == 2:
            continue
        for this, that in ((one, other), (other, one)):
            without = {**base, **changes_of[that]}
            lost = [key for key, value in changes_of[this].items() if seen.get(key) not in (value,) and seen.get(key) == without.get(key)]
            if lost and not (set(lost) <= changes_of[that].keys()):
                faults.append(f"{pair}: {this} is lost: {lost[:3]}")
    return faults


def check_form(form, source, pool):
    faults = [f"{form.command}: {option} has no sample: add a row to SAMPLES of {sys.argv[0]}" for option in offered(form.command)
              if option not in SAMPLES and (form.command, option) not in UNSEEN]
    base = form.seen([], source)
    if base["code"] not in (0, 5):
        return [f"{form.name}: exit {base['code']} without another option\n{base}"]
    alone, changes_of = check_alone(form, source, pool, base)
    faults += alone
    if form.pairs == "normal" or (form.pairs == "all" and ALL):
        faults += check_pairs(form, source, pool, base, changes_of)
    return faults


def main():
    faults = []
    with tempfile.TemporaryDirectory(prefix="memduel-options-") as folder, concurrent.futures.ThreadPoolExecutor(3 * os.cpu_count()) as pool:
        source = pathlib.Path(folder)
        make_source(source)
        commands = set(re.findall(r"^  ([a-z]+) ", subprocess.run([MEMDUEL, "--help"], capture_output=True, text=True).stdout, re.M))
        missing = commands - {form.command for form in FORMS} - {"memduel"} - OTHER_PROGRAMS
        faults += [f"no form of {command} is tested" for command in missing]
        for form in FORMS:
            if not sys.argv[3:] or form.name in sys.argv[3:]:
                before = os.times()
                faults += check_form(form, source, pool)
                print(form.name, round(os.times().elapsed - before.elapsed, 1), "s", round(sum(os.times()[:4]) - sum(before[:4]), 1), "s of CPU", flush=True)
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
