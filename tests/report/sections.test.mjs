// Sections that only some runs have, and paper.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { launch, open_report } from "./browser.mjs";
import { make_samples } from "./samples.mjs";

const MiB = 1048576;
let browser;
let samples;

before(async () => {
  samples = make_samples(["plain", "ablated", "running", "profiled", "snapshots", "million", "many", "traced", "growing", "hostile-growing", "trained"]);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  samples?.remove();
});

const open = (kind, options) => open_report(browser, samples.report(kind), options);

describe("the first screen", () => {
  test("answers in the order that people ask", async () => {
    const { page } = await open("profiled");
    const found = await page.$$eval("section[id]", (all) => all.map((s) => s.id));
    assert.deepEqual(found.slice(0, 6), ["verdict", "price", "held", "where", "weaknesses", "reproduce"]);
    assert.match(await page.textContent("#where"), /Profile trial, not part of the verdict/);
    await page.close();
  });

  test("says of what the difference consists, with the sum of results.json first and what no part explains last", async () => {
    const expected = {
      // No profile: what the allocator holds at marks, and how much that leaves untold.
      plain: ({ total, held }) => [total, held, total - held],
      // The profile's peak in place of the marks.
      profiled: ({ total, live }) => [total, live, total - live],
    };
    for (const [kind, parts_of] of Object.entries(expected)) {
      const { page } = await open(kind);
      const { comparisons, difference_totals } = samples.results(kind);
      const change = (metric) => {
        const row = comparisons.find((c) => c.role === "server" && c.metric === metric);
        return row.candidate_median - row.baseline_median;
      };
      const peak = (difference_totals ?? []).find((t) => t.role === "server" && t.kind === "peak");
      const all = { total: change("peak_rss_above_idle_bytes"), held: change("heap_free_bytes"), live: peak && peak.candidate_bytes - peak.baseline_bytes };
      const said = page.locator("#held li").first();
      const shown = await said.locator("data").evaluateAll((found) => found.map((data) => [Number(data.value), data.title]));
      const exact = (bytes) => [bytes, `${bytes.toLocaleString("en").replace("-", "−")} bytes`];
      assert.deepEqual(shown, parts_of(all).map(exact), kind);
      assert.match(await said.textContent(), kind === "plain" ? /untold/ : /live blocks at the peak \(profile trial\)/);
      await page.close();
    }
  });
});

describe("a run that is still going", () => {
  test("has no verdict before its first look and says when that is", async () => {
    const { page } = await open("running");
    assert.match(await page.textContent("#verdict"), /The run is still going: 7 of at most 16 blocks; no verdict before block 8\./);
    const verdicts = await page.$$eval("#verdict .card .badge", (all) => all.map((badge) => badge.textContent));
    assert.ok(verdicts.length > 0);
    for (const verdict of verdicts) assert.match(verdict, /inconclusive/);
    assert.match(await page.textContent("#verdict .sentence"), /53% LESS .* 7 blocks/, "the numbers so far are there");
    assert.equal(await page.locator("#verdict .gate:not(.inconclusive)").count(), 0);
    await page.close();
  });
});

describe("growth", () => {
  const rows = (page, label) =>
    page.$$eval(`#growth [aria-label="${label}"] tbody tr`, (all) =>
      all.map((row) => ({
        role: row.dataset.role,
        variant: row.dataset.variant,
        values: [...row.querySelectorAll("data")].map((data) => Number(data.value)),
        verdict: row.querySelector(".badge").textContent.trim().split(" ")[1],
        outlook: row.querySelector(".outlook").textContent,
      })),
    );

  test("comes first of all, with the round in which the limit is met", async () => {
    const { page } = await open("growing");
    assert.equal(
      await page.textContent("#verdict ul.growth li:first-child"),
      "server memory from round to round: original adds 64.0 MiB a round (58.0 MiB to 70.0 MiB) and meets the 24.0 GiB limit in round 375 (341–416), 3 h 07 min after the first began; optimized stays near 300.0 MiB",
    );
    await page.close();
  });

  test("has every variant's slope, interval, verdict and when memory runs out, unfolded", async () => {
    const { page } = await open("growing");
    const per_round = samples.results("growing").growth.filter((row) => row.metric.endsWith("_per_round"));
    const shown = [...(await rows(page, "Growth")), ...(await rows(page, "Growth that cannot be told"))];
    assert.deepEqual(
      shown.map(({ role, variant, values, verdict }) => ({ role, variant, values, verdict })),
      per_round.map(({ role, variant, slope, ci_low, ci_high, verdict }) => ({ role, variant, values: [slope, ci_low, ci_high], verdict })),
    );
    assert.deepEqual(shown.map(({ outlook }) => outlook), [
      "meets the 24.0 GiB limit in round 375 (341–416), 3 h 07 min after the first began",
      "no: stays near 300.0 MiB",
      "cannot be told",
      "cannot be told",
    ]);
    assert.ok(await page.locator('#growth [aria-label="Growth"]').isVisible());
    assert.match(await page.textContent('#growth [aria-label="Growth"] tbody tr'), /64\.0 MiB\/round = 1\.50 models/);
    const per_minute = await rows(page, "Growth per minute");
    assert.equal(per_minute[0].outlook, "meets the 24.0 GiB limit in minute 188 (170–208)");
    await page.close();
  });

  test("names the stacks that grow, whole, and leads to their boxes", async () => {
    const { page } = await open("growing");
    const shown = await page.$$eval("table.growing tbody tr", (all) =>
      all.map((row) => [...row.querySelectorAll("td")].slice(0, 3).map((cell) => cell.textContent)),
    );
    assert.deepEqual(shown, [
      ["original", "48.0 MiB per round", "64.0 MiB/round"],
      ["original", "12.0 MiB per round", "64.0 MiB/round"],
    ]);
    const exact = await page.$$eval("table.growing tbody tr:first-child data", (all) => all.map((data) => data.title));
    assert.deepEqual(exact, ["50,331,648 bytes", "67,108,864 bytes"]);
    const [growing] = samples.results("growing").growth;
    const stack = await page.$$eval("table.growing tbody tr:first-child li", (all) => all.map((frame) => frame.textContent).reverse());
    assert.deepEqual(stack, growing.stacks[0].stack);
    assert.equal(await page.textContent("table.growing tbody tr:first-child summary"), "clone for aggregate");
    assert.equal(await page.textContent("table.growing tbody tr:first-child td:last-child"), "aggregate");
    await page.click("table.growing button.to-flame");
    await page.waitForSelector("#flames [data-loaded]");
    assert.match(page.url(), /view=live-any&side=first/);
    // Of round b there are 10 b + 3 MiB live at the end of round 3, see test_sample_profile.h.
    assert.match(await page.textContent("#flames .total"), /^Live at the end of round 3 in original: 69\.0 MiB/);
    assert.match(await page.textContent("#flames .found"), /^the stack of the table, 1 box: 69\.0 MiB, 100\.0%$/);
    await page.close();
  });

  test("is absent where nothing tells of it", async () => {
    const { page } = await open("plain");
    assert.equal(await page.$("#growth"), null);
    await page.close();
  });
});

describe("the peaks by part", () => {
  test("are those of the highest round, the change beside them", async () => {
    const { page } = await open("trained");
    const rows = await page.$$eval("#parts tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(rows[1], ["activations", "120.0 MiB", "60.0 MiB −50.0%", "40.0 MiB −66.7%", "30.0 MiB −75.0%"]);
    assert.deepEqual(rows[2].slice(0, 3), ["teacher", "25.0 MiB", "0 B −100.0%"]);
    assert.equal(await page.getAttribute("#parts tbody tr:nth-child(2) td:nth-child(3)", "title"), `${(60 * MiB).toLocaleString("en")} bytes`);
    await page.close();
  });

  test("are absent where no role has parts", async () => {
    const { page } = await open("plain");
    assert.equal(await page.$("#parts"), null);
    await page.close();
  });
});

describe("on a narrow screen", () => {
  for (const [kind, table] of [["profiled", "#where"], ["growing", "#growth"]])
    test(`a function of ${table} stands over its numbers, and nothing of it is cut off`, async () => {
      const { page } = await open(kind, { width: 360 });
      const row = page.locator(`${table} .differences tbody tr`).first();
      const [name, number] = [await row.locator(".stack").boundingBox(), await row.locator(".number").first().boundingBox()];
      assert.ok(name.y + name.height <= number.y, `${name.y} + ${name.height} ${number.y}`);
      for (const box of await row.locator("td, th").all()) {
        const { x, width } = await box.boundingBox();
        assert.ok(x >= 0 && x + width <= 360, `${x} + ${width}`);
      }
      await page.close();
    });
});

describe("a comparison on a narrow screen", () => {
  test("has its verdict over its numbers", async () => {
    const { page } = await open("plain", { width: 360, hash: "#table=open" });
    const row = page.locator("table.comparisons tbody tr").first();
    const verdict = await row.locator(".reason").boundingBox();
    for (const number of await row.locator(".number").all()) {
      const { x, y, width } = await number.boundingBox();
      assert.ok(verdict.y + verdict.height <= y, `${verdict.y} + ${verdict.height} ${y}`);
      assert.ok(x >= 0 && x + width <= 360, `${x} + ${width}`);
    }
    await page.close();
  });
});

describe("several candidates", () => {
  test("begin with the best of them, by the ratios of results.json", async () => {
    const { page } = await open("traced");
    const rows = samples.results("traced").comparisons.filter((c) => c.role === "server" && c.metric === "peak_rss_above_idle_bytes");
    const [best, next] = rows.sort((a, b) => a.ratio - b.ratio);
    const percent = (c) => Math.round((1 - c.ratio) * 100);
    assert.match(
      await page.textContent("#verdict .best"),
      new RegExp(`^Best of 2 candidates: ${best.candidate}\\. server memory above idle at its peak: ${best.candidate} ${percent(best)}\% LESS, ${next.candidate} ${percent(next)}\% LESS; `),
    );
    assert.deepEqual(
      await page.$$eval(".card.variants:first-of-type tbody th", (all) => all.map((th) => th.textContent)),
      [best.candidate, next.candidate],
    );
    assert.equal(await page.textContent(".card.variants tbody td"), `−${((1 - best.ratio) * 100).toFixed(1)}%`);
    const medians = await page.$$eval(".card.variants:first-of-type .strips data", (all) => all.map((data) => Number(data.value)));
    assert.deepEqual(medians, [best.baseline_median, best.candidate_median, next.candidate_median]);
    assert.match(await page.textContent("#flames option:checked"), new RegExp(`^server: ${best.candidate} against original$`));
    await page.close();
  });
});

describe("ablation", () => {
  const chart = (page) => page.$$eval("#ablation .waterfall:first-of-type dd data", (all) => all.map((data) => Number(data.value) / 1048576));
  const names = (page) => page.$$eval("#ablation .waterfall:first-of-type dt", (all) => all.map((dt) => dt.textContent));

  test("is a waterfall from the baseline to the candidate, with what is left to interaction", async () => {
    const { page } = await open("ablated");
    const { ablation, ablation_totals } = samples.results("ablated");
    const total = ablation_totals[0];
    const framing = ablation.find((row) => row.switch === "framing" && row.phase === undefined || row.phase === null);
    assert.deepEqual(await names(page), ["original", "framing", "cleanup", "interaction", "optimized"]);
    assert.deepEqual(await chart(page), [
      total.whole.reference_median / MiB,
      framing.added_alone.difference / MiB,
      0,
      total.added_alone.remainder / MiB,
      total.whole.median / MiB,
    ]);
    await page.getByRole("radio", { name: "left out" }).check();
    assert.deepEqual(await names(page), ["original", "staging", "framing", "cleanup", "interaction", "optimized"]);
    assert.deepEqual(await chart(page), [450, -84, -60, 0, -90, 216]);
    assert.match(await page.textContent("#ablation .waterfall"), /84\.0 MiB LESS/);
    assert.match(page.url(), /ablation=removed_alone/);
    await page.close();
  });

  test("its steps begin where the one before ended", async () => {
    const { page } = await open("ablated");
    const boxes = await page.$$eval("#ablation .waterfall:first-of-type .step", (all) =>
      all.map((bar) => ({ left: parseFloat(bar.style.left), width: parseFloat(bar.style.width) })),
    );
    const [whole, framing, , interaction, last] = boxes;
    const close = (a, b) => assert.ok(Math.abs(a - b) < 0.01, `${a} ${b}`);
    close(framing.left + framing.width, whole.width);
    close(interaction.left + interaction.width, framing.left);
    close(interaction.left, last.width);
    await page.close();
  });

  test("shows each variant's multiple of the lower bound", async () => {
    const { page } = await open("ablated");
    const shown = await page.$$eval("#lower-bounds .waterfall dd data", (all) => all.map((data) => Number(data.value)));
    const { original, optimized } = samples.results("ablated").lower_bounds[0].multiples;
    assert.deepEqual(shown, [1, original, optimized]);
    assert.match(await page.textContent("#lower-bounds .waterfall"), /original11\.25 ×/);
    await page.close();
  });
});

describe("from one peak to the other", () => {
  const missed = 605 - 500;
  const steps = (page) => page.$$eval("#resident .waterfall:first-of-type .step", (all) => all.map((bar) => ({ left: parseFloat(bar.style.left), width: parseFloat(bar.style.width) })));

  test("is a waterfall of owners and stacks whose steps sum up to the difference", async () => {
    const { page, faults } = await open("snapshots");
    const { resident, comparisons } = samples.results("snapshots");
    const peak = comparisons.find(({ role, metric }) => role === "server" && metric === "peak_rss_bytes");
    const values = await page.$$eval("#resident .waterfall:first-of-type dd data", (all) => all.map((data) => Number(data.value) / 1048576));
    // The snapshots miss as much of the measured peaks with either variant.
    assert.deepEqual(values, [500 + missed, -200, -24, -15, -1, 260 + missed]);
    assert.deepEqual(resident.map(({ bytes }) => bytes / MiB), [500, 260]);
    assert.deepEqual([peak.baseline_median / MiB, peak.candidate_median / MiB], [605, 365]);
    const names = await page.$$eval("#resident .waterfall:first-of-type dt", (all) => all.map((dt) => dt.textContent.replace(/ ?flame graph$/, "")));
    assert.deepEqual(names, ["original", "clone for aggregate (live blocks)", "freed, kept by malloc in arenas of threads", "free space pinned by blocks of stage for serve", "not explained", "optimized"]);
    assert.match(await page.textContent("#resident .waterfall"), /200\.0 MiB LESS/);
    const bars = await steps(page);
    for (const [i, { left, width }] of bars.slice(1, -1).entries())
      assert.ok(Math.abs(left + width - (i === 0 ? bars[0].width : bars[i].left)) < 0.01, `step ${i} begins where the one before ended`);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test("shows both variants by owner, and how near the measured peak the snapshots came", async () => {
    const { page } = await open("snapshots");
    const { resident } = samples.results("snapshots");
    await page.locator("#resident details summary").first().click();
    for (const { variant, owners } of resident) {
      const shown = await page.$$eval(`#resident .owned data[data-variant="${variant}"]`, (all) => all.map((data) => [data.dataset.owner, Number(data.value)]));
      assert.deepEqual(shown, [...owners.map(({ owner, bytes }) => [owner, bytes]), ["elsewhere", missed * MiB]]);
    }
    assert.match(await page.textContent("#resident"), /the snapshot was taken at 500\.0 MiB in round 3, phase aggregate/);
    assert.equal(await page.locator("#held").count(), 0, "live or held is told by it");
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
    await page.mouse.move(over.x + over.width / 2, over.y + 60);
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(over.x + over.width / 4, over.y + 60, { steps: 4 });
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
    const told = await page.$$eval("#evidence details:first-of-type li", (all) => all.map((li) => li.textContent.replaceAll("\u00a0", " ")));
    const gates = samples.results("plain").comparisons.filter((c) => c.gate);
    assert.equal(told.length, gates.length);
    gates.forEach((c, i) => {
      assert.ok(told[i].startsWith(`${c.role}, peak RSS above idle, ${c.n_candidate} blocks`), told[i]);
      assert.ok(told[i].includes(`${c.verdict}${c.tier === "strong" ? ", strong" : ""}, because ${c.reason}.`), told[i]);
      assert.ok(told[i].includes(`p ${c.p_value.toPrecision(2)}, corrected for 2 gate rows ${c.p_adjusted.toPrecision(2)}`), told[i]);
    });
    await page.close();
  });
});

describe("on paper", () => {
  test("a run of many trials is a few pages, and its raw tables stay on the screen", async () => {
    const { page } = await open("many");
    await page.emulateMedia({ media: "print" });
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    const pages = pdf.match(/\/Type\s*\/Page\b/g).length;
    assert.ok(pages > 2 && pages < 20, `${pages} pages`);
    await page.close();
  });

  test("everything but raw tables is unfolded, light and without controls", async () => {
    const { page } = await open("ablated", { scheme: "dark" });
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.$$eval("details:not([open]):not(.raw), details.raw[open]", (all) => all.length), 0);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.equal(await page.locator("button:visible, .controls:visible").count(), 0);
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 20_000);
    const { page: profiled } = await open("profiled");
    await profiled.waitForSelector("#flames [data-loaded]");
    await profiled.emulateMedia({ media: "print" });
    assert.equal(await profiled.locator("td[data-born='1'][data-end='1']").innerText(), "5.50 MiB LESS", "the retention matrix's numbers are text on paper");
    await profiled.close();
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.ok((await page.$$eval("details:not([open])", (all) => all.length)) > 0, "the screen is as it was");
    await page.close();
  });
});
