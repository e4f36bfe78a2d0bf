"""What the formats of a report say about its rows and gates, read back into numbers."""
import base64
import gzip
import html
import json
import re
import xml.etree.ElementTree

UNIT = {"B": 1, "KiB": 1024, "MiB": 1048576, "GiB": 1073741824, "TiB": 1099511627776, "ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
NUMBER = re.compile(r"^([+−-]?)(\d+(?:\.\d+)?)(e[+−-]?\d+)?\s*(%|times|percentage points?|[a-zA-Zµ]+(?:/[a-z]+)?)?$")


class Printed:
    """A printed number: it fits every value that rounds to it."""

    def __init__(self, text):
        match = NUMBER.match(text.strip())
        self.text = text.strip()
        self.ok = bool(match)
        if not match:
            return
        sign, digits, power, unit = match.groups()
        self.unit = unit or ""
        scale = float("1" + power.replace("−", "-")) if power else 1
        if self.unit == "%":
            factor = 0.01
        elif self.unit.startswith("percentage"):
            factor = 0.01
        else:
            factor = UNIT.get(self.unit.split("/")[0], 1)
        decimals = len(digits.split(".")[1]) if "." in digits else 0
        self.value = (-1 if sign in ("−", "-") else 1) * float(digits) * scale * factor
        self.half = 0.5 * 10.0 ** -decimals * scale * factor

    def fits(self, value):
        return value is not None and abs(value - self.value) <= self.half * (1 + 1e-6) + 1e-12 * abs(value)

    def fits_change(self, ratio):
        """A change as a ratio: +3.2% or 2.5 times."""
        if ratio is None:
            return False
        return self.fits(ratio if self.unit == "times" else ratio - 1)


def unescape(cell):
    return html.unescape(re.sub(r"\\(.)", r"\1", cell)).strip()


def markdown_rows(text):
    """{(candidate, role, metric): cells} of the table of all rows."""
    rows = {}
    header = None
    for line in text.splitlines():
        if not line.startswith("| "):
            header = None if header and not line.startswith("|") else header
            continue
        cells = [unescape(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[:3] == ["candidate", "role", "metric"]:
            header = cells
        elif header and not set(line) <= set("|-: "):
            candidate, role, metric = cells[:3]
            metric, _, gate = metric.partition(" ")
            rows[candidate, role, metric] = {**dict(zip(header[3:], cells[3:])), "gate": gate.strip("()")}
    return rows


def junit_cases(text):
    """[(candidate, gate, element, message)]"""
    suite = xml.etree.ElementTree.fromstring(text)
    cases = []
    for case in suite.iter("testcase"):
        child = next(iter(case), None)
        cases.append((case.get("classname").partition(".")[2], case.get("name"), "" if child is None else child.tag, "" if child is None else child.get("message")))
    counted = {kind: sum(c[2] == element for c in cases) for kind, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))}
    declared = {kind: int(suite.get(kind)) for kind in counted}
    return cases, counted == declared and int(suite.get("tests")) == len(cases)


def github_lines(text):
    """[(command, title, message)]"""
    lines = []
    for line in text.splitlines():
        match = re.match(r"::(\w+) title=(.*?)::(.*)$", line)
        if match:
            plain = [re.sub(r"%([0-9A-F]{2})", lambda m: chr(int(m.group(1), 16)), part) for part in match.groups()[1:]]
            lines.append((match.group(1), *plain))
    return lines


def page_data(text):
    match = re.search(r'id="memduel-data"[^>]*>([^<]*)<', text)
    return json.loads(gzip.decompress(base64.b64decode(match.group(1))))


def terminal_rows(text):
    """[(variant's shown name, role, metric, baseline, candidate, change, verdict)] of the tables."""
    rows, candidate = [], None
    for line in text.splitlines():
        match = re.match(r"role\s+metric\s+(\S.*?)\s+(\S+)\s+change verdict$", line)
        if match:
            candidate = match.group(2)
            continue
        if candidate is None:
            continue
        match = re.match(r"(\S+)\s+(\S+_\S+|\S+)\s+(.*) (improved|regressed|unchanged|inconclusive|changed)$", line)
        if not match:
            candidate = None
            continue
        numbers = re.findall(r"(?<!\S)(?:-(?!\S)|[+−-]?\d[\d.e+−]*(?:%(?!\S)| (?:times|(?:[KMGT]i)?B(?:/\w+)?|ns|µs|us|ms|s|min|h|percentage points?|\S*…)(?!\S))?)", match.group(3))
        rows.append((candidate, match.group(1), match.group(2), *[n.strip() for n in numbers], match.group(4)))
    return rows


def sentences(text):
    """The first screen's sentences: lines that begin with a sign, with what is wrapped below them."""
    found, current = [], None
    for line in text.splitlines():
        if re.match(r"^[▲▼?•=✓◆] ", line):
            current = [line]
            found.append(current)
        elif current is not None and line.startswith("  ") and line.strip():
            current.append(line.strip())
        else:
            current = None
    return [" ".join(part) for part in found]
