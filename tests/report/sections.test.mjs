// Sections that only some runs have, and paper.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { launch, open_report } from "./browser.mjs";
import { make_samples } from "./samples.mjs";

const MiB = 1048576;
let browser;
let samples;

before(async () => {
  samples = make_samples(["plain", "ablated", "running", "profiled", "snapshots", "million", "many", "traced", "growing", "trained"]);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  samples?.remove();
});

const open = (kind, options) => open_report(browser, samples.report(kind), options);
/** Of the rows that `place` finds: their values, and the bar of each as [left, right] in percent. */
const rows_of = (page, place) =>
  page.$$eval(place, (rows) =>
    rows.map((row) => {
      const bar = row.querySelector(".track .bar");
      const left = parseFloat(bar?.getAttribute("x"));
      return {
        name: row.cells[0].textContent.replace(/ ?flame graph$/, ""),
        key: row.dataset.key,
        values: [...row.querySelectorAll("data")].map((data) => Number(data.value)),
        bar: [left, left + parseFloat(bar?.getAttribute("width"))],
      };
    }),
  );
const waterfall = async (page, section) => rows_of(page, `#${section} table.waterfall >> nth=0 >> tbody tr`);
const close = (a, b, what) => assert.ok(Math.abs(a - b) < 0.4, `${what}: ${a} ${b}`);

/** Each step begins where the one before ended, whichever way it goes. */
function assert_chained(rows) {
  let at = rows[0].bar[1];
  for (const { name, values, bar } of rows.slice(1, -1)) {
    close(at, values[0] < 0 ? bar[1] : bar[0], name);
    at = values[0] < 0 ? bar[0] : bar[1];
  }
  close(at, rows.at(-1).bar[1], "the last whole");
}

describe("a difference without a snapshot", () => {
  test("is not shown where the rest is larger than what is explained", async () => {
    const { page } = await open("plain");
    assert.equal(await page.$("#held"), null);
    await page.close();
  });

  test("consists of its parts, with the sum of results.json first and the rest after them", async () => {
    const { page } = await open("profiled");
    const { comparisons, difference_totals } = samples.results("profiled");
    const row = comparisons.find((c) => c.role === "server" && c.metric === "peak_rss_above_idle_bytes");
    const peak = difference_totals.find((t) => t.role === "server" && t.kind === "peak");
    const [total, live] = [row.candidate_median - row.baseline_median, peak.candidate_bytes - peak.baseline_bytes];
    const rows = await rows_of(page, "#held table >> nth=0 >> tbody tr");
    assert.deepEqual(rows.slice(0, 3).map(({ values }) => values.at(-1)), [total, live, total - live]);
    assert.match(rows[2].name, /^rest/);
    await page.close();
  });
});

describe("a run that is still going", () => {
  test("decides nothing before its first look and tells when that is, with the numbers so far", async () => {
    const { page } = await open("running");
    assert.match(await page.textContent(".notice"), /7 of at most 16/);
    assert.notEqual(await page.textContent(".badge"), "PASS");
    const rows = await page.$$eval("#results tr[data-key]", (all) => all.map((row) => row.textContent));
    assert.ok(rows.length > 0);
    for (const row of rows) assert.match(row, /inconclusive/);
    await page.close();
  });
});

describe("growth", () => {
  test("is on the first screen, with the round in which the limit is met", async () => {
    const { page } = await open("growing");
    assert.match(await page.textContent(".first-screen"), /64\.0 MiB.*round 375/s);
    await page.close();
  });

  test("has every variant's slope of results.json, known ones unfolded", async () => {
    const { page } = await open("growing");
    const { growth } = samples.results("growing");
    const shown = await rows_of(page, "#growth tbody tr[data-key$='_per_round'], #growth tbody tr[data-key$='_per_minute']");
    const expected = growth.map((row) => ({ key: `${row.variant} ${row.role} ${row.metric}`, values: row.slope === null ? [] : [row.slope] }));
    const in_order = (rows) => rows.map(({ key, values }) => `${key} ${values}`).sort();
    assert.deepEqual(in_order(shown), in_order(expected));
    assert.match(await page.locator("#growth table tbody tr").first().textContent(), /64\.0 MiB.*round 375 \(341–416\)/);
    assert.ok(await page.locator("#growth table").first().isVisible());
    await page.close();
  });

  test("names the stacks that grow, whole, and leads to their boxes", async () => {
    const { page } = await open("growing");
    const [growing] = samples.results("growing").growth;
    const rows = page.locator("#growth tr:has(.to-flame)");
    assert.deepEqual(await rows.evaluateAll((all) => all.map((row) => Number(row.querySelector("data").value))), growing.stacks.map((one) => one.bytes_per_round));
    const first = rows.first();
    assert.deepEqual((await first.locator("li").allTextContents()).reverse(), growing.stacks[0].stack);
    assert.match(await first.locator("summary").textContent(), /^clone called from aggregate$/);
    await first.locator(".to-flame").click();
    await page.waitForSelector("#flames [data-loaded]");
    assert.match(page.url(), /view=live-any&side=first/);
    // Of round b there are 10 b + 3 MiB live at the end of round 3, see test_sample_profile.h.
    assert.match(await page.textContent("#flames .total"), /^Live at the end of round 3 in original: 69\.0 MiB/);
    assert.match(await page.textContent("#flames .found"), /^the stack of the table, 1 box: 69\.0 MiB, 100\.0%$/);
    await page.close();
  });
});

describe("the peaks by part", () => {
  test("are those of the highest round, the change beside them", async () => {
    const { page } = await open("trained");
    const rows = await page.$$eval("#parts tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(rows[1], ["activations", "120.0 MiB", "60.0 MiB −50.0%", "40.0 MiB −66.7%", "30.0 MiB −75.0%"]);
    assert.equal(await page.getAttribute("#parts tbody tr:nth-child(2) td:nth-child(3)", "title"), `${(60 * MiB).toLocaleString("en")} bytes`);
    await page.close();
  });
});

describe("on a narrow screen", () => {
  for (const [kind, table] of [["profiled", "#where table"], ["growing", "#growth table"], ["plain", "#results table"], ["plain", "table.metrics"]])
    test(`a row of ${table} is a card that is not cut off`, async () => {
      const { page } = await open(kind, { width: 360 });
      await page.evaluate(() => document.querySelectorAll("details:has(table)").forEach((details) => (details.open = true)));
      const row = page.locator(`${table} tbody tr:has(td:not(:empty))`).first();
      const boxes = await Promise.all((await row.locator("> *:not(:empty)").all()).map((cell) => cell.boundingBox()));
      for (const { x, width } of boxes) assert.ok(x >= 0 && x + width <= 360, `${x} + ${width}`);
      assert.ok(new Set(boxes.map(({ y }) => Math.round(y))).size > 1, "several lines");
      await page.close();
    });
});

describe("several candidates", () => {
  test("are rows of one table, with the medians of results.json", async () => {
    const { page } = await open("traced");
    const { comparisons } = samples.results("traced");
    const rows = await page.$$eval("#results tr[data-key]", (all) =>
      all.map((row) => ({ key: row.dataset.key, medians: [...row.querySelectorAll("data[data-variant]")].map((data) => Number(data.value)) })),
    );
    assert.ok(rows.length > 0);
    for (const { key, medians } of rows) {
      const [variant, ...name] = key.split(" ");
      const own = comparisons.filter((c) => name.join(" ") === `${c.role} ${c.metric}`);
      assert.equal(own.length, 2);
      const candidate = own.find((c) => c.candidate === variant);
      assert.deepEqual(medians, [candidate ? candidate.candidate_median : own[0].baseline_median], key);
    }
    await page.close();
  });
});

describe("ablation", () => {
  test("is a waterfall from the baseline to the candidate, with what is left to interaction", async () => {
    const { page } = await open("ablated");
    const { ablation, ablation_totals } = samples.results("ablated");
    const total = ablation_totals[0];
    const framing = ablation.find((row) => row.switch === "framing" && row.phase == null);
    const added = await waterfall(page, "ablation");
    assert.deepEqual(added.map(({ name }) => name), ["original", "framing", "cleanup", "interaction", "optimized"]);
    assert.deepEqual(added.map(({ values }) => values[0]), [
      total.whole.reference_median,
      framing.added_alone.difference,
      0,
      total.added_alone.remainder,
      total.whole.median,
    ]);
    assert_chained(added);
    await page.getByRole("radio", { name: "removed alone" }).check();
    const removed = await waterfall(page, "ablation");
    assert.deepEqual(removed.map(({ name }) => name), ["original", "framing", "staging", "cleanup", "interaction", "optimized"]);
    assert.deepEqual(removed.map(({ values }) => values[0] / MiB), [450, -60, -84, 0, -90, 216]);
    assert_chained(removed);
    assert.match(page.url(), /=removed\+alone/);
    await page.close();
  });

  test("shows each variant's multiple of the theoretical minimum", async () => {
    const { page } = await open("ablated");
    const { original, optimized } = samples.results("ablated").lower_bounds[0].multiples;
    const rows = await rows_of(page, "#lower-bounds tbody tr");
    assert.deepEqual(rows.map(({ values }) => values.at(-1)), [1, original, optimized]);
    assert.match(rows[1].name, /^original$/);
    await page.close();
  });
});

describe("where the difference comes from", () => {
  const missed = 605 - 500;

  test("is a waterfall of owners and stacks whose steps sum up to the difference", async () => {
    const { page, faults } = await open("snapshots");
    const { resident, comparisons } = samples.results("snapshots");
    const peak = comparisons.find(({ role, metric }) => role === "server" && metric === "peak_rss_bytes");
    const rows = await waterfall(page, "resident");
    // The snapshots miss as much of the measured peaks with either variant.
    assert.deepEqual(rows.map(({ values }) => values[0] / MiB), [500 + missed, -200, -24, -15, -1, 260 + missed]);
    assert.deepEqual(resident.map(({ bytes }) => bytes / MiB), [500, 260]);
    assert.deepEqual([peak.baseline_median / MiB, peak.candidate_median / MiB], [605, 365]);
    assert.deepEqual([rows[0].name, rows.at(-1).name], ["original", "optimized"]);
    assert.match(rows[1].name, /^clone/);
    assert_chained(rows);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test("shows both variants by owner, and how near the measured peak the snapshots came", async () => {
    const { page } = await open("snapshots");
    const { resident } = samples.results("snapshots");
    for (const { variant, owners } of resident) {
      const shown = await page.$$eval(`#resident details >> nth=-1 >> data[data-variant="${variant}"]`, (all) => all.map((data) => [data.closest("tr").dataset.key, Number(data.value)]));
      assert.deepEqual(shown, [...owners.map(({ owner, bytes }) => [owner, bytes]), ["elsewhere", missed * MiB]]);
    }
    assert.match(await page.textContent("#resident"), /500\.0 MiB in round 3, phase aggregate/);
    assert.equal(await page.locator("#held").count(), 0);
    await page.close();
  });
});

describe("the chart over time", () => {
  test("moves when it is dragged with Shift", async () => {
    const { page } = await open("plain");
    const plot = page.locator("#rounds .plot").first();
    await plot.focus();
    await page.keyboard.press("+");
    const over = await page.locator("#rounds .u-over").first().boundingBox();
    const zoom = () => new URLSearchParams(new URL(page.url()).hash.slice(1)).get("zoom_round");
    const begin = () => Number(zoom().split("~")[0]);
    const was = begin();
    await page.mouse.move(over.x + over.width / 2, over.y + 100);
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(over.x + over.width / 4, over.y + 100, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const is = begin();
    assert.ok(is > was + 0.3, `${was} → ${is}`);
    const { hash } = new URL(page.url());
    const copied = zoom();
    await page.close();
    const again = await open("plain", { hash });
    assert.equal(new URLSearchParams(new URL(again.page.url()).hash.slice(1)).get("zoom_round"), copied, "a copied link keeps it");
    await again.page.close();
  });
});

describe("a million values", () => {
  test("are a report that opens, with tables that grow when they are asked to", async () => {
    const { page, faults } = await open("million");
    await page.locator("#rounds summary").first().click();
    const rows = page.locator("#rounds details table tbody tr");
    await rows.first().waitFor();
    assert.equal(await rows.count(), 201);
    await page.getByRole("button", { name: "Show 200 more of 13,800" }).click();
    assert.equal(await rows.count(), 401);
    const marks = await page.$$eval("#rounds .plot:has(.dots) >> nth=0 >> .dots", (all) => all.map((path) => path.getAttribute("d").split("z").length - 1));
    assert.ok(marks.every((count) => count > 100 && count < 14_000), `dots of ${marks}`);
    assert.deepEqual(faults, []);
    await page.close();
  });
});

describe("how this was decided", () => {
  test("is told for every gate row with the numbers of results.json", async () => {
    const { page } = await open("plain");
    const told = await page.$$eval("#evidence li", (all) => all.map((li) => li.textContent));
    const gates = samples.results("plain").comparisons.filter((c) => c.gate);
    assert.equal(told.length, gates.length);
    gates.forEach((c, i) => {
      assert.ok(told[i].includes(`: ${c.verdict}${c.tier === "strong" ? ", strong" : ""}, because ${c.reason}.`), told[i]);
      assert.ok(told[i].includes(`p = ${c.p_value.toPrecision(2)}, adjusted for 2 gate rows ${c.p_adjusted.toPrecision(2)}`), told[i]);
    });
    await page.close();
  });
});

describe("on paper", () => {
  test("a run of many trials is a few pages, and its long tables stay on the screen", async () => {
    const { page } = await open("many");
    await page.emulateMedia({ media: "print" });
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    const pages = pdf.match(/\/Type\s*\/Page\b/g).length;
    assert.ok(pages > 2 && pages < 20, `${pages} pages`);
    await page.close();
  });

  test("everything but what is long is unfolded, light, without controls and with its flame graph", async () => {
    const { page } = await open("profiled", { scheme: "dark" });
    await page.waitForSelector("#flames [data-loaded]");
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.$$eval("details:not([open]):not(.long), details.long[open]", (all) => all.length), 0);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.equal(await page.locator("button:not(.link):visible, .controls:visible").count(), 0);
    assert.match((await page.$$eval("svg.flame-print text", (all) => all.map((text) => text.textContent))).join("\n"), /^main  −180\.0 MiB$/m);
    assert.equal(await page.locator("td[data-born='1'][data-end='1']").innerText(), "−5.50 MiB", "the retention matrix's numbers are text on paper");
    assert.ok((await page.pdf({ format: "A4" })).length > 20_000);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.ok((await page.$$eval("details:not([open])", (all) => all.length)) > 0, "the screen is as it was");
    await page.close();
  });
});
