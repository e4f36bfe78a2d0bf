#!/usr/bin/env python3
"""Types at bash, zsh and fish on a pseudo-terminal and presses Tab: do they complete what memduel --help names?

    tests/package/completions.py PREFIX        (an installation; a shell that is missing fails)
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

SECONDS = 30  # until what is expected has to be on the screen


def named(text, pattern):
    return set(re.findall(pattern, text, re.MULTILINE))


def shells(share, home):
    """The command that starts each, as a user's shell without settings of their own finds what is installed."""
    (home / ".zshrc").write_text(f"PS1='ready> '\nfpath=({share}/zsh/site-functions $fpath)\nautoload -Uz compinit\ncompinit -u -D\n"
                                 "LISTMAX=1000\n")
    (home / ".bashrc").write_text(f"PS1='ready> '\nsource {share}/bash-completion/completions/memduel\n"
                                  "bind 'set page-completions off'\nbind 'set completion-query-items 1000'\n")
    return {"bash": ["bash", "--noprofile", "--rcfile", str(home / ".bashrc"), "-i"],
            "zsh": ["zsh", "-i"],
            "fish": ["fish", "--private", "--init-command", "function fish_prompt; echo -n 'ready> '; end; set -g fish_greeting", "-i"]}


class Terminal:
    """A shell on a pseudo-terminal of 160 columns and 60 lines."""

    def __init__(self, command, environment, folder):
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 160, 0, 0))
        self.screen = ""

    def press(self, keys):
        os.write(self.descriptor, keys.encode())

    def shows(self, wanted):
        """Reads until every wanted text is there; False when it is not in time."""
        end = time.monotonic() + SECONDS
        while not all(text in self.screen for text in wanted):
            ready, _, _ = select.select([self.descriptor], [], [], max(0, end - time.monotonic()))
            if not ready:
                return False
            try:
                read = os.read(self.descriptor, 65536)
            except OSError:
                return False
            self.screen += re.sub(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|[=>])|[\x00-\x08\x0b-\x1f]", "",
                                  read.decode(errors="replace"))
        return True

    def close(self):
        os.close(self.descriptor)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def completes(command, environment, folder, typed, wanted, unwanted):
    terminal = Terminal(command, environment, folder)
    try:
        if not terminal.shows(["ready> "]):
            return "no prompt"
        terminal.screen = ""
        terminal.press(typed + "\t\t")
        if not terminal.shows(wanted):
            return f"found {terminal.screen!r}, expected {sorted(wanted)}"
        found = [word for word in unwanted if re.search(rf"^{word}\b", terminal.screen, re.MULTILINE)]
        return f"{found} should not be in {terminal.screen!r}" if found else None
    finally:
        terminal.close()


def main():
    prefix = pathlib.Path(sys.argv[1]).resolve()
    memduel = prefix / "bin/memduel"
    said = subprocess.run([memduel, "--help"], check=True, capture_output=True, text=True).stdout
    verbs = named(said, r"^  ([a-z][a-z-]+)  +\S")
    of_record = named(subprocess.run([memduel, "record", "--help"], check=True, capture_output=True, text=True).stdout, r"^  (?:-\w,)? *(--[a-z][a-z-]+)")
    assert {"run", "record", "report"} <= verbs and "--exact" in of_record, (verbs, of_record)
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        home = pathlib.Path(made)
        (home / "slow-leak.json").write_text("{}\n")
        environment = {"HOME": made, "ZDOTDIR": made, "PATH": f"{prefix}/bin:{os.environ['PATH']}", "TERM": "xterm", "LANG": "C.UTF-8",
                       "XDG_DATA_DIRS": f"{prefix}/share:/usr/share", "XDG_CONFIG_HOME": made}
        for shell, command in shells(prefix / "share", home).items():
            if not shutil.which(shell):
                sys.exit(f"completions: {shell} is missing: scripts/setup.sh --tests installs it")
            for typed, wanted, unwanted in (
                    ("memduel ", verbs, set()),
                    ("memduel re", {verb for verb in verbs if verb.startswith("re")}, {verb for verb in verbs if not verb.startswith("re")}),
                    ("memduel record --", of_record - {"--help"}, {"--repeats"}),
                    ("memduel record --exa", {"record --exact"}, {"--output"}),
                    ("memduel run --set measure.rep", {"--set measure.repeats="}, set()),
                    ("memduel run slow", {"run slow-leak.json"}, set())):
                problem = completes(command, environment, made, typed, wanted, unwanted)
                print(f"{shell}: {typed!r}: {problem or 'ok'}", flush=True)
                failed += problem is not None
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
