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
    """The cells of every row of every table."""
    return [[unescape(cell.replace("**", "")) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if line.startswith("|") and not set(line) <= set("|-: ")]


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
        match = re.match(r"::(\w+) (?:file=[^,]*,line=\d+,)?title=(.*?)::(.*)$", line)
        if match:
            plain = [re.sub(r"%([0-9A-F]{2})", lambda m: chr(int(m.group(1), 16)), part) for part in match.groups()[1:]]
            lines.append((match.group(1), *plain))
    return lines


def page_data(text):
    match = re.search(r'id="memduel-data"[^>]*>([^<]*)<', text)
    return json.loads(gzip.decompress(base64.b64decode(match.group(1))))


def text_of(cell):
    return "".join(run["text"] for run in cell["text"])


def tables_in(parts):
    """Every table of a document's parts, of those in folds and choices, too."""
    for part in parts:
        if part["kind"] == "Table":
            yield part
        for inner in [part.get("parts", [])] + [option["parts"] for option in part.get("options", [])]:
            yield from tables_in(inner)


def tables_of(document, section):
    return [table for one in document["first_screen"] + document["details"] if one["id"] == section for table in tables_in(one["parts"])]


def change_of(text):
    """A printed change as a number that fits ratios: +3.2% or 2.5×; of another unit, a difference."""
    return Printed(text.replace("×", " times"))
