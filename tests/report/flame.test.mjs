// Records a program, opens its flame graph from disk and holds the page to `memduel summary`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";

import { axe_source, launch, open_report } from "./browser.mjs";
import { profile_json } from "./profile_json.mjs";

const dir = mkdtempSync(join(tmpdir(), "memduel-flame-"));
const memduel = (...words) => execFileSync(process.env.MEMDUEL_PROGRAM, words, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
const program = (name) => join(process.env.MEMDUEL_RECORDER_PROGRAMS, name);
const leaks = join(dir, "leaks.mdp");
const other = join(dir, "other.mdp");
const sampled = join(dir, "sampled.mdp");
const foreign = (name) => new URL(`../../profilers/readers/testdata/${name}`, import.meta.url).pathname;
let browser;
let summary;
let json;

before(async () => {
  memduel("record", "--exact", "-o", leaks, "--", program("leaks_in_upload"));
  memduel("record", "--interval", "20000", "-o", sampled, "--", program("leaks_in_upload"));
  memduel("record", "--exact", "-o", other, "--", program("random_allocator"), "5");
  for (const file of [leaks, sampled]) memduel("flamegraph", file);
  memduel("flamegraph", leaks, "--diff", other, "-o", join(dir, "diff.html"));
  memduel("flamegraph", leaks, "--diff", sampled, "-o", join(dir, "within.html"));
  memduel("flamegraph", leaks, "--diff", leaks, "-o", join(dir, "same.html"));
  memduel("flamegraph", foreign("heaptrack.gz"), "-o", join(dir, "heaptrack.html"));
  memduel("flamegraph", foreign("go_cpu.pb.gz"), "-o", join(dir, "cpu.html"));
  summary = (file) => memduel("summary", file);
  json = profile_json(leaks);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(dir, { recursive: true, force: true });
});

const page_of = (file) => file.replace(".mdp", ".html");
const total = async (page) => (await page.textContent("p.total data")).trim();
const bytes = async (page) => Number(await page.getAttribute("p.total data", "value"));
const select = (label) => `label.select:has(> span:text-is("${label}")) select`;
const show = (page, view) => page.selectOption(select("Show"), view);

/** "live at peak  2.41 MiB ± 12.0 KiB" of the summary. */
function said(text, label) {
  const line = text.split("\n").find((l) => l.trim().startsWith(label) && !l.includes("with malloc's overhead"));
  return line.trim().slice(label.length).replace(/ in \d+ allocations?.*| \(.*/, "").trim();
}

test("by thread: what each of eight allocates by its own closed form", async () => {
  // The program's generator: block sizes of a thread follow from its seed.
  const steps = 1000;
  const expected = [...Array(8).keys()].map((thread) => {
    let seed = thread * 77 + 1;
    let sum = 0;
    for (let i = 0; i < steps; ++i) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      sum += 16 + ((seed >>> 8) % 500);
    }
    return sum;
  });
  const file = join(dir, "threads.mdp");
  memduel("record", "--exact", "-o", file, "--", program("cross_thread"), String(steps));
  memduel("flamegraph", file);
  const { page, faults } = await open_report(browser, page_of(file));
  await show(page, "allocated");
  await page.getByLabel(/^Focus/).fill("work\\(");
  await page.getByLabel(/^Focus/).press("Enter");
  assert.equal(await bytes(page), expected.reduce((sum, one) => sum + one, 0));
  const threads = await page.locator(`${select("Allocated by thread")} option`).evaluateAll((all) => all.map((one) => one.value).filter((value) => value !== ""));
  const shown = [];
  for (const thread of threads) {
    await page.selectOption(select("Allocated by thread"), thread);
    shown.push(await bytes(page));
  }
  const ascending = (a, b) => a - b;
  assert.deepEqual(shown.filter((one) => one > 0).sort(ascending), expected.sort(ascending));
  assert.deepEqual(faults, []);
  await page.close();
});

test("a browser that cannot decode base64 by itself shows the same", async () => {
  const shown = [];
  for (const first of [() => {}, () => delete Uint8Array.fromBase64]) {
    const { page, faults } = await open_report(browser, page_of(leaks), { first });
    shown.push(await total(page));
    assert.deepEqual(faults, []);
    await page.close();
  }
  const peak = said(summary(leaks), "live at peak");
  assert.deepEqual(shown, [peak, peak]);
});

describe("every page has no error, no request, no overflow and no violation", () => {
  for (const file of ["leaks.html", "sampled.html", "diff.html", "heaptrack.html", "cpu.html"])
    test(file, async () => {
      for (const scheme of ["light", "dark"]) {
        const { page, faults } = await open_report(browser, join(dir, file), { scheme });
        await page.evaluate(axe_source);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html}`), []);
        await page.setViewportSize({ width: 360, height: 740 });
        assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth), true);
        assert.deepEqual(faults, []);
        await page.close();
      }
    });
});

describe("numbers", () => {
  for (const file of [leaks, sampled])
    test(`of each kind equal memduel summary: ${file.slice(dir.length + 1)}`, async () => {
      const { page } = await open_report(browser, page_of(file));
      const text = summary(file);
      assert.equal(await total(page), said(text, "live at peak"));
      for (const [view, label] of [
        ["live", "live at end"],
        ["allocated", "allocated"],
        ["temporary", "temporary"],
      ]) {
        await show(page, view);
        // The exact counters are the first to say "allocated".
        const estimates = text.slice(text.search(/Estimated from samples|From every allocation/));
        assert.equal(await total(page), said(estimates, label));
      }
      await page.close();
    });

  test("allocated in a phase and a round equal the profile's sites", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=live" });
    const sum = (fits) => json.sites.filter((s) => s.heap === "malloc" && fits(s)).reduce((all, s) => all + s.live.bytes, 0);
    const upload = json.phases.indexOf("upload");
    await page.selectOption(select("Allocated in phase"), { label: "upload" });
    assert.equal(await bytes(page), sum((s) => s.phase === upload));
    await page.selectOption(select("Allocated in round"), "3");
    assert.equal(await bytes(page), sum((s) => s.phase === upload && s.round === 3));
    assert.ok((await bytes(page)) >= 256 * 1024);
    await page.close();
  });

  test("a cell of the retention matrix equals the profile's and shows its stacks", async () => {
    const { page } = await open_report(browser, page_of(leaks));
    const cells = await page.$$eval("table.retention td[data-bytes]", (all) => all.map((cell) => ({ ...cell.dataset })));
    assert.deepEqual(
      cells.map((c) => [Number(c.born), Number(c.end), Number(c.bytes)]).sort(),
      json.retention.map((c) => [c.born, c.end, c.total.bytes]).sort(),
    );
    const wanted = json.retention.find((c) => c.born === 2 && c.end === 5).total.bytes;
    await page.click("td[data-born='2'][data-end='5'] button");
    assert.equal(await bytes(page), wanted);
    assert.match(await page.textContent("table.functions tbody tr"), /leak_in_upload/);
    await page.close();
  });
});

describe("finding", () => {
  test("a regular expression says how much it matches, in either order", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=live" });
    await page.fill("input[type=search]", "leak_in_up(load|set)");
    assert.match(await page.textContent(".found"), /^1 box: 1\.25 MiB, /);
    await page.check("input[value=callees]", { force: true });
    assert.match(await page.textContent(".found"), /^1 box: 1\.25 MiB, /);
    await page.fill("input[type=search]", "(");
    assert.equal(await page.textContent(".found"), "not a regular expression");
    await page.close();
  });

  test("a search goes to the widest match, and on to the others by Enter, by n and by buttons", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=allocated&frames=all" });
    await page.fill("input[type=search]", "^(malloc|calloc|operator new.*|leak_in_upload.*|main)$");
    await page.check("input[value=callees]", { force: true });
    const [, count] = (await page.textContent(".found")).match(/^(\d+) boxes: .* · 1 of \1$/);
    const look = () => page.textContent(".look");
    const amount = (text) => {
      const [, number, unit] = text.match(/: ([\d.]+) ([KMG]?i?B)/);
      return Number(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit);
    };
    const widest = await look();
    await page.focus("input[type=search]");
    await page.keyboard.press("Enter");
    const second = await look();
    assert.ok(amount(second) <= amount(widest), `${second} after ${widest}`);
    assert.match(await page.textContent(".found"), new RegExp(` · 2 of ${count}$`));
    await page.keyboard.press("Shift+Enter");
    assert.equal(await look(), widest);
    await page.getByRole("button", { name: "Next match" }).click();
    assert.equal(await look(), second);
    await page.focus(".flame");
    await page.keyboard.press("N");
    assert.equal(await look(), widest);
    await page.close();
  });

  test("the keyboard walks to the leak, zooms in and out again", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=live&order=callees" });
    const pixels = () => page.$eval(".flame canvas", (canvas) => canvas.toDataURL());
    await page.focus(".flame");
    const whole = await pixels();
    await page.keyboard.press("ArrowDown");
    assert.match(await page.textContent(".look"), /leak_in_upload.*: 1\.25 MiB/);
    await page.keyboard.press("Enter");
    assert.notEqual(await pixels(), whole);
    await page.keyboard.press("ArrowUp");
    assert.match(await page.textContent(".look"), /^all: /);
    await page.keyboard.press("Escape");
    assert.match(await page.textContent(".look"), /^all: /);
    assert.equal(await pixels(), whole);
    await page.close();
  });

  test("a click zooms to the box under the pointer", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=live&order=callees" });
    const graph = await page.$(".flame");
    const box = await graph.boundingBox();
    const names = [];
    for (let x = 4; x < box.width; x += box.width / 50) {
      await page.mouse.move(box.x + x, box.y + 30);
      names.push(await page.textContent(".look"));
    }
    const at = names.findIndex((name) => name.includes("leak_in_upload"));
    assert.ok(at >= 0, "its box is in the second row");
    await page.mouse.click(box.x + 4 + (at * box.width) / 50, box.y + 30);
    await page.mouse.move(box.x + box.width - 8, box.y + 30);
    assert.match(await page.textContent(".look"), /leak_in_upload/, "it is as wide as the graph");
    await page.close();
  });
});

describe("what stays out", () => {
  const frames_of = (page) => page.$$eval("table.functions tbody tr th", (all) => all.map((head) => head.title));

  test("frames that every program has, unless all are asked for; the total stays", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=allocated" });
    const starts = /^__libc_start/;
    const all = await bytes(page);
    assert.ok((await frames_of(page)).every((name) => !starts.test(name) && !name.startsWith("std::")));
    await page.check("input[value=all]", { force: true });
    assert.ok((await frames_of(page)).some((name) => starts.test(name)));
    assert.equal(await bytes(page), all);
    await page.close();
  });

  test("stacks without what is in focus, stacks with what is ignored, frames that are hidden", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=live" });
    const live = json.sites.filter((site) => site.heap === "malloc").reduce((all, site) => all + site.live.bytes, 0);
    const set = async (label, text) => {
      await page.fill(`label.select:has(> span:text-is("${label}")) input`, text);
      await page.keyboard.press("Tab");
    };
    await set("Focus", "leak_in_upload");
    const focused = await bytes(page);
    assert.equal(focused, 5 * 256 * 1024);
    await set("Focus", "");
    await set("Ignore", "leak_in_upload");
    assert.equal(await bytes(page), live - focused);
    await set("Ignore", "");
    await set("Hide", "leak_in_upload");
    assert.equal(await bytes(page), live);
    assert.ok((await frames_of(page)).every((name) => !name.includes("leak_in_upload")));
    await set("Hide", "(");
    assert.equal(await page.getAttribute(`label.select:has(> span:text-is("Hide")) input`, "aria-invalid"), "true");
    assert.equal(await bytes(page), live);
    await page.close();
  });
});

describe("one function", () => {
  test("has its callers above and what it calls below", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=live" });
    await page.locator("table.functions tbody tr", { hasText: "leak_in_upload" }).getByRole("button", { name: /callers/ }).click();
    const look = async (place) => {
      await page.focus(`${place}`);
      await page.keyboard.press("ArrowDown");
      return page.textContent(".look");
    };
    assert.match(await look(".flame >> nth=0"), /leak_in_upload\(\).*: 1\.25 MiB/);
    await page.keyboard.press("ArrowDown");
    assert.match(await page.textContent(".look"), /^main.*: 1\.25 MiB/, "who calls it");
    assert.match(await look(".flame >> nth=1"), /leak_in_upload\(\).*: 1\.25 MiB/);
    await page.close();
  });

  test("is said beside the pointer, and its box has an outline", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=live&order=callees" });
    const graph = await page.$(".flame");
    const box = await graph.boundingBox();
    const pixels = () => page.$eval(".flame canvas", (canvas) => canvas.toDataURL());
    const before = await pixels();
    await page.mouse.move(box.x + 30, box.y + 30);
    assert.notEqual(await pixels(), before);
    const tip = await page.$eval(".flame-tip", (element) => ({ text: element.textContent, ...element.getBoundingClientRect().toJSON() }));
    assert.equal(tip.text, await page.textContent(".look"));
    assert.ok(Math.abs(tip.top - (box.y + 46)) < 30 && tip.left >= box.x, "it is where the pointer is");
    await page.mouse.move(box.x + 30, box.y - 30);
    assert.equal(await page.isVisible(".flame-tip"), false);
    await page.close();
  });

  test("is among the ten largest, as a list that leads to its box", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=live" });
    await page.getByText("The ten largest boxes").click();
    const first = page.locator("details ol button").first();
    assert.match(await first.textContent(), /leak_in_upload.*: 1\.25 MiB/);
    await first.click();
    assert.match(await page.textContent(".look"), /leak_in_upload/);
    await page.close();
  });

  test("is printed with its amount", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=live" });
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const texts = await page.$$eval("svg.flame-print text", (all) => all.map((text) => text.textContent));
    assert.ok(texts.some((text) => /leak_in_upload.*1\.25 MiB/.test(text)), texts.join("; "));
    assert.ok(await page.isVisible("svg.flame-print"));
    assert.equal(await page.isVisible(".flame canvas"), false);
    await page.close();
  });
});

describe("a table of functions", () => {
  test("is sorted by the column whose head is pressed, and turned by a second press", async () => {
    const { page } = await open_report(browser, page_of(leaks), { hash: "#view=allocated" });
    const totals = () => page.$$eval("table.functions tbody tr", (rows) => rows.map((row) => Number(row.cells[3].querySelector("data").value)));
    await page.getByRole("button", { name: "with all it calls" }).click();
    const down = await totals();
    assert.deepEqual(down, [...down].sort((a, b) => b - a));
    await page.getByRole("button", { name: "with all it calls" }).click();
    assert.deepEqual(await totals(), [...down].reverse());
    await page.close();
  });
});

describe("a leak five Python functions deep", () => {
  test("has its function's name in the graph and in the retention matrix", async () => {
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const file = join(dir, "python.mdp");
    const script = join(root, "tests/programs/recorder/leaks_in_python.py");
    process.env.MEMDUEL_ANNOTATE_DIR = join(root, "include/memduel");
    memduel("record", "--exact", "-o", file, "--", "/usr/bin/python3", script);
    memduel("flamegraph", file);
    const { page } = await open_report(browser, page_of(file), { hash: "#view=peak" });
    await page.fill("input[type=search]", "^fifth_keeps_it$");
    assert.match(await page.textContent(".found"), /^1 box: 1\.25 MiB, /);
    await page.click("td[data-born='2'][data-end='5'] button");
    assert.match(await page.textContent(".found"), /^1 box: 256\.\d KiB, /);
    const named = page.locator("table.functions tbody tr", { hasText: "fifth_keeps_it" });
    assert.match(await named.textContent(), /256\.0 KiB/);
    await page.close();
  });
});

describe("profiles of other tools", () => {
  test("heaptrack's timestamps are a curve: what stays, 10,000 bytes, at the only one", async () => {
    const { page } = await open_report(browser, join(dir, "heaptrack.html"));
    assert.equal(await bytes(page), 1131408);
    assert.match(await page.textContent(".moments figcaption"), /at most 9\.77 KiB, at 25 ms/);
    await page.close();
  });

  test("time is shown as time", async () => {
    const { page } = await open_report(browser, join(dir, "cpu.html"));
    assert.match(await page.textContent("p.total"), /^CPU time: 70\.0 ms/);
    assert.match(await page.textContent(".look"), /7 samples, 70,000,000 nanoseconds/);
    assert.match(await page.textContent("table.functions"), /own time/);
    await page.close();
  });
});

describe("difference", () => {
  test("has its sign and its amount", async () => {
    const { page } = await open_report(browser, join(dir, "diff.html"), { hash: "#view=live" });
    const live = (file) =>
      profile_json(file).sites.reduce((all, s) => all + (s.heap === "malloc" ? s.live.bytes : 0), 0);
    const difference = live(other) - live(leaks);
    assert.match(await page.textContent("p.total"), difference > 0 ? /: \+.* in leaks\.mdp, .* in other\.mdp/ : /: −.* in leaks\.mdp, .* in other\.mdp/);
    assert.match(await page.textContent("table.functions tbody td"), /^[+−]\d/);
    await page.close();
  });

  test("folds the functions that sampling cannot tell apart, and has exact bytes on hover", async () => {
    const { page } = await open_report(browser, join(dir, "within.html"), { hash: "#view=allocated" });
    const rows = (place) => page.$$eval(`${place} table.functions tbody tr`, (all) => all.map((row) => [...row.querySelectorAll("td.number")].map((cell) => ({ text: cell.textContent, title: cell.title }))));
    const folded = await rows("#functions details");
    assert.ok(folded.length > 0, "the same program, recorded exactly and by samples");
    for (const [difference, before, after] of folded) {
      assert.match(difference.text, /^unchanged within ±/);
      const bytes = ({ title }) => Number(title.replace(/[^\d−]/g, "").replace("−", "-"));
      assert.equal(bytes(difference), bytes(after) - bytes(before));
    }
    const unfolded = (await rows("#functions")).slice(0, -folded.length);
    assert.equal(unfolded.filter(([difference]) => difference.text.startsWith("unchanged")).length, 0);
    await page.close();
  });

  test("shows only what differs when asked", async () => {
    const { page } = await open_report(browser, join(dir, "diff.html"), { hash: "#view=live" });
    await page.selectOption(select("Compare"), "changed");
    const rows = await page.$$eval("table.functions tbody tr td[data-value]", (all) => all.map((cell) => Number(cell.dataset.value)));
    assert.ok(rows.length > 0 && rows.every((value) => value !== 0));
    await page.close();
  });

  test("of a profile with itself is none", async () => {
    const { page } = await open_report(browser, join(dir, "same.html"));
    assert.match(await page.textContent("p.total"), /: unchanged \(/);
    assert.equal((await page.$$("table.functions tbody tr")).length, 0);
    await page.close();
  });
});
