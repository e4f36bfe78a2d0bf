"""memduel upgrade-config rewrites what was renamed and nothing else.

    upgrade_config_test.py SCRIPT
"""
import json
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OLD = '{ "workload": { "kind": "command" }, "arms": [] }\n'
NEW = '{ "workload": { "kind": "command" }, "variants": [] }\n'


def table_of(name):
    """A table of the script, by running it as a module."""
    script = {"__name__": "memduel_upgrade_config"}
    exec(compile(SCRIPT.read_text(), str(SCRIPT), "exec"), script)  # pylint: disable=exec-used
    return script[name]


class UpgradeConfig(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)

    def tearDown(self):
        self.place.cleanup()

    def file(self, text, name="c.json"):
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def run_script(self, *words, given=None, **options):
        return subprocess.run([SCRIPT, *map(str, words)], cwd=self.folder, input=given, capture_output=True, text=True, check=False, **options)

    def test_renames_each_key_and_value(self):
        path = self.file((HERE / "old.jsonc").read_text())
        expected = (HERE / "new.jsonc").read_text()
        ended = self.run_script(path)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(path.read_text(), expected)
        self.assertIn(f'{path}:7 "arms" -> "variants"\n', ended.stdout)
        self.assertIn(f'{path}:16 "tree.peak_rss_bytes<=+2%|+1MiB:advisory" -> "all.peak_rss_bytes<=+2%|+1MiB:advisory"\n', ended.stdout)
        self.assertEqual(len(ended.stdout.splitlines()), 28)

    def test_changes_nothing_a_second_time(self):
        path = self.file((HERE / "new.jsonc").read_text())
        for words in ([path], ["--check", path]):
            ended = self.run_script(*words)
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))
        self.assertEqual(path.read_text(), (HERE / "new.jsonc").read_text())

    def test_leaves_old_words_that_are_no_keys(self):
        text = ('{ "name": "optimizations", "workload": { "kind": "command", "processes": [ { "role": "tree", "argv": ["arms", "tracers", "tree.heap_held_free_bytes<=1"], "env": { "arms": "1" } } ],\n'
                '  "metrics": { "arms": { "better": "lower" } }, "files": [ { "name": "arm", "path": "arms" } ] },\n'
                '  "variants": [ { "name": "arms", "preset": "x", "argv": { "arms": ["as_coded"] } } ], "gates": ["trees.x<=1"] } // "arms": []\n')
        path = self.file(text)
        ended = self.run_script("--check", path)
        self.assertEqual((ended.returncode, ended.stdout), (0, ""))
        self.assertEqual(self.run_script("--stdout", path).stdout, text)

    def test_leaves_the_presets_and_switches_of_another_provider(self):
        path = self.file('{ "provider": ["./p"], "workload": { "kind": "own" },\n'
                         '  "arms": [ { "preset": "appfl-as-coded", "optimizations": { "batch_size": "static_as_coded" } } ] }')
        self.assertEqual(self.run_script("--stdout", path).stdout,
                         '{ "provider": ["./p"], "workload": { "kind": "own" },\n'
                         '  "variants": [ { "preset": "appfl-as-coded", "switches": { "batch_size": "static_as_coded" } } ] }')

    def test_keeps_all_bytes_around_a_change(self):
        path = self.file('\ufeff{\r\n\t"workload":{"kind":"command","x":"\\u00e9 \\\\ \\" é"},/* a\r\n*/"\\u0061rms" :[]\r\n}')
        self.run_script(path)
        self.assertEqual(path.read_bytes().decode(), '\ufeff{\r\n\t"workload":{"kind":"command","x":"\\u00e9 \\\\ \\" é"},/* a\r\n*/"variants" :[]\r\n}')

    def test_rewrites_the_places_that_a_suite_names(self):
        path = self.file('{ "name": "arms", "experiments": [ { "config": "arms.json", "name": "arms",\n'
                         '  "set": { "arms.lean.optimizations.arms": "arms", "profile.tracers": ["recorder"], "workload.arms": 1, "profile": { "tracers": [] }, "gates": ["tree.x<=1"] },\n'
                         '  "matrix": { "arms.0.preset": ["appfl-as-coded", "own"], "measure.repeats": [2] } } ] }')
        ended = self.run_script(path)
        self.assertEqual(ended.returncode, 0)
        self.assertEqual(path.read_text(),
                         '{ "name": "arms", "experiments": [ { "config": "arms.json", "name": "arms",\n'
                         '  "set": { "variants.lean.switches.arms": "arms", "profile.profilers": ["recorder"], "workload.arms": 1, "profile": { "profilers": [] }, "gates": ["all.x<=1"] },\n'
                         '  "matrix": { "variants.0.preset": ["appfl-as-implemented", "own"], "measure.repeats": [2] } } ] }')

    def test_check_changes_no_file(self):
        path = self.file(OLD)
        ended = self.run_script("--check", path)
        self.assertEqual((ended.returncode, ended.stdout), (1, f'{path}:1 "arms" -> "variants"\n'))
        self.assertEqual(path.read_text(), OLD)

    def test_writes_to_standard_output(self):
        path = self.file(OLD)
        for ended, name in ((self.run_script("--stdout", path), path), (self.run_script("-", given=OLD), "-")):
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, NEW, f'{name}:1 "arms" -> "variants"\n'))
        self.assertEqual(path.read_text(), OLD)
        self.assertEqual(self.run_script("--stdout", path, path).returncode, 2)

    def test_keeps_mode_and_links(self):
        path = self.file(OLD)
        path.chmod(0o640)
        link = self.folder / "link.json"
        link.symlink_to("c.json")
        self.assertEqual(self.run_script(link).returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual((path.read_text(), stat.S_IMODE(path.stat().st_mode)), (NEW, 0o640))
        self.assertEqual(sorted(os.listdir(self.folder)), ["c.json", "link.json"])

    def test_leaves_a_file_that_cannot_be_written_whole(self):
        path = self.file(OLD)

        def allow_no_bytes():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        ended = self.run_script(path, preexec_fn=allow_no_bytes)
        self.assertEqual((ended.returncode, ended.stdout), (4, ""))
        self.assertEqual(ended.stderr, f"memduel upgrade-config: {path}: File too large\n")
        self.assertEqual(path.read_text(), OLD)
        self.assertEqual(os.listdir(self.folder), ["c.json"])

    def test_refuses_what_is_no_config_and_goes_on(self):
        faults = [("{", "line 1: not valid JSON"), ('{\n "workload": {},\n "arms": [,] }', "line 3: not valid JSON"), ('{\n "a": "b\n"}', "line 2: not valid JSON"),
                  ("[]", 'found no key "workload"'), ('"workload"', 'found no key "workload"'), ('{"schema": "memduel.results/1", "arms": []}', 'found no key "workload"'),
                  ('{"workload": {}, "arms": [], "variants": []}', 'found both "arms" and "variants"'), (b'{"workload": "\xff"}', "not UTF-8"),
                  ("[" * 100000 + "]" * 100000, "nested too deeply")]
        for text, said in faults:
            bad, good = self.file(text, "bad.json"), self.file(OLD)
            ended = self.run_script(bad, good)
            self.assertEqual(ended.returncode, 2, text[:50])
            self.assertIn(f"memduel upgrade-config: {bad}: ", ended.stderr)
            self.assertIn(said, ended.stderr)
            self.assertEqual(bad.read_bytes(), text if isinstance(text, bytes) else text.encode())
            self.assertEqual(good.read_text(), NEW)
        self.assertEqual(self.run_script("none.json").returncode, 4)

    def test_leaves_the_configs_of_this_version(self):
        configs = [*(ROOT / "configs").glob("*.json"), *(ROOT / "configs/templates").glob("*.json"), *(ROOT / "configs/suites").glob("*.json"),
                   *(ROOT / "examples").glob("*/*.json"), *(ROOT / "tests/foreign/jobs").glob("*.json")]
        configs = [path for path in configs if path.name != "switches.json"]
        self.assertGreater(len(configs), 40)
        ended = self.run_script("--check", *configs)
        changes = [line for line in ended.stdout.splitlines() if '"tree.' not in line]
        self.assertEqual((changes, ended.stderr), ([], ""))

    def test_knows_the_names_that_memduel_refuses(self):
        source = (ROOT / "model/renamed_since_1.cpp").read_text()
        table = re.search(r"kKeysOfConfigs = \{(.*?)\n\};", source, re.DOTALL).group(1)
        rows = re.findall(r'RenamedKey\{"([^"]*)", "([^"]*)", "([^"]*)"\}', table)
        self.assertGreater(len(rows), 5)
        new = {old: now for _, old, now in rows}
        in_memduel = {(tuple(new.get(step, step) for step in place.split("/") if step), old): now for place, old, now in rows}
        in_script = {(place, old): now for place, names in table_of("KEYS").items() for old, now in names.items()}
        unmatched = set(in_memduel)
        for (place, old), now in in_script.items():
            found = [key for key in in_memduel
                     if key[1] == old and len(key[0]) == len(place) and all(step in ("*", own) for step, own in zip(key[0], place))]
            self.assertEqual([in_memduel[key] for key in found], [now], (place, old))
            unmatched -= set(found)
        self.assertEqual(unmatched, set())
        removed = (ROOT / "model/removed.cpp").read_text()
        for kind, names in (("preset", table_of("PRESETS")), ("switch_value", {**table_of("CLEANUPS"), **table_of("BATCH_SIZES")})):
            self.assertEqual(dict(re.findall(rf'Removed::{kind}, "([^"]*)",\s*"it was renamed: ([^"]*)"', removed)), names)


if __name__ == "__main__":
    unittest.main()
