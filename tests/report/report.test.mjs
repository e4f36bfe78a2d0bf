// Opens generated reports from disk and holds them to what the design promises.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { launch, open_report } from "./browser.mjs";
import { make_samples, overflows, unfold, violations } from "./samples.mjs";

const kinds = ["plain", "hostile", "empty", "failed", "one-variant", "unmarked", "confidential", "many", "ablated", "hostile-ablated", "profiled", "snapshots", "hostile-profiled", "confidential-profiled", "traced", "running", "growing", "hostile-growing"];
const report = (kind) => samples.report(kind);
const results = (kind) => samples.results(kind);
let browser;
let samples;

before(async () => {
  samples = make_samples(kinds);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  samples?.remove();
});

describe("every kind of report has no error, no request, no overflow and no violation", () => {
  for (const kind of kinds)
    test(kind, async () => {
      const { page, faults } = await open_report(browser, report(kind));
      const inspect = async (accessible) => {
        await unfold(page);
        assert.deepEqual(faults, []);
        assert.equal(await overflows(page), false);
        if (accessible) assert.deepEqual(await violations(page), []);
      };
      // The large report has the same elements a hundred times over.
      await inspect(kind !== "many");
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: 360, height: 740 });
      await inspect(["plain", "hostile"].includes(kind));
      await page.close();
    });
});

describe("profiles", () => {
  test("are named with the command that opens them and what recording cost", async () => {
    const { page } = await open_report(browser, report("traced"));
    const text = await page.textContent("#profiles");
    assert.match(text, /memduel flamegraph profiles\/28-server\.2\.mdp --diff profiles\/29-server\.2\.mdp/);
    assert.match(text, /Under the recorder, .*; optimized took 1\.04 times as long and peaked at 1\.01 times its RSS \(1 trial\)[;.]/);
    assert.equal((await page.$$("#profiles tbody tr")).length, 9);
    await page.close();
  });

  test("have no section where there are none", async () => {
    const { page } = await open_report(browser, report("plain"));
    assert.equal(await page.$("#profiles"), null);
    await page.close();
  });
});

describe("numbers", () => {
  test("every row of the metrics table equals results.json", async () => {
    const { page } = await open_report(browser, report("plain"), { hash: "#table=open" });
    const shown = await page.$$eval("table.metrics tbody tr", (rows) =>
      rows.map((row) => ({
        role: row.dataset.role,
        metric: row.dataset.metric,
        candidate: row.dataset.candidate,
        medians: [...row.querySelectorAll("data")].map((data) => Number(data.value)),
        ratio: Number(row.querySelectorAll("td")[3].title),
        verdict: row.querySelector(".badge").textContent.trim().split(" ")[1],
      })),
    );
    const expected = results("plain").comparisons.map((c) => ({
      role: c.role,
      metric: c.metric,
      candidate: c.candidate,
      medians: [c.baseline_median, c.candidate_median],
      ratio: c.ratio,
      verdict: c.verdict,
    }));
    assert.ok(expected.length >= 12);
    assert.deepEqual(shown, expected);
    await page.close();
  });

  test("every stack that differs is there, whole, with its function first", async () => {
    const { page } = await open_report(browser, report("profiled"));
    const shown = await page.$$eval("table.differences tbody tr", (rows) =>
      rows.map((row) => ({
        words: row.querySelector("td").textContent,
        exact: row.querySelector("td data").title,
        function: row.querySelector("summary code").textContent,
        caller: row.querySelector("summary .caller code").textContent,
        stack: [...row.querySelectorAll("li")].map((frame) => frame.textContent).reverse(),
        phase: row.querySelector("td:last-child").textContent,
      })),
    );
    const expected = results("profiled").differences;
    assert.deepEqual(shown.map(({ stack }) => stack), expected.map(({ stack }) => stack));
    assert.deepEqual(shown.map(({ words }) => words), ["▼ LESS −200.0 MiB ± 4.00 MiB", "▲ MORE +20.0 MiB"]);
    assert.deepEqual(shown.map(({ exact }) => exact), expected.map(({ bytes }) => `${bytes.toLocaleString("en").replace("-", "−")} bytes`));
    assert.deepEqual(shown.map((row) => row.function), ["clone", "stage"]);
    assert.deepEqual(shown.map(({ caller }) => caller), ["aggregate", "serve"]);
    assert.deepEqual(shown.map(({ phase }) => phase), ["aggregate", "–"]);
    await page.close();
  });

  test("every cell of the ablation equals results.json, and says what was not run", async () => {
    const { page } = await open_report(browser, report("ablated"));
    const shown = await page.$$eval("table.ablation tbody tr[data-switch]", (rows) =>
      rows.map((row) => ({
        switch: row.dataset.switch,
        cells: ["added_alone", "removed_alone"].map((view) => {
          const cell = row.querySelector(`td[data-view=${view}]`);
          const data = cell.querySelector("data");
          return data === null ? cell.textContent : Number(data.value);
        }),
        effect: row.querySelector(".badge").textContent,
      })),
    );
    const cell = (c) => (c.variant === null ? c.reason : c.difference);
    const expected = results("ablated").ablation.map((row) => ({
      switch: row.switch,
      cells: [cell(row.added_alone), cell(row.removed_alone)],
      effect: row.effect,
    }));
    assert.equal(expected.length, 6);
    assert.deepEqual(shown, expected);
    assert.match(await page.textContent("#ablation li"), /interaction is −134\.0 MiB/);
    assert.match(await page.textContent("#lower-bounds li"), /original 11\.25 ×, optimized 5\.40 ×/);
    await page.close();
  });

  test("the first screen's bars equal results.json, shown in MiB with exact bytes on hover", async () => {
    const { page } = await open_report(browser, report("plain"));
    const gates = results("plain").comparisons.filter((c) => c.gate);
    const shown = await page.$$eval(".card data", (all) =>
      all.map((data) => ({ value: Number(data.value), text: data.textContent, title: data.closest("dd").title })),
    );
    assert.equal(shown.length, gates.length * 2);
    gates.flatMap((c) => [c.baseline_median, c.candidate_median]).forEach((bytes, i) => {
      assert.equal(shown[i].value, bytes);
      assert.equal(shown[i].text, `${(bytes / 1048576).toFixed(1)} MiB`);
      assert.equal(shown[i].title, `${bytes.toLocaleString("en")} bytes`);
    });
    await page.close();
  });

  test("the first sentence says better, by how much and how sure", async () => {
    const { page } = await open_report(browser, report("plain"));
    const sentence = await page.textContent(".sentence");
    assert.match(sentence, /^optimized uses 53% LESS server memory .* than original \(455\.0 → 215\.0 MiB, 52\.5–53\.0\s%, 8 blocks\): ▼ improved · strong$/);
    await page.close();
  });

  test("round medians in the table behind the dots equal those of results.json", async () => {
    const { page } = await open_report(browser, report("plain"));
    await page.locator("#rounds summary").first().click();
    await page.waitForSelector("#rounds details table");
    const shown = await page.$$eval("#rounds details table", ([table]) =>
      [...table.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")].map((td) => td.title)),
    );
    const median = (values) => {
      const v = values.sort((a, b) => a - b);
      return v.length % 2 ? v[v.length >> 1] : (v[v.length / 2 - 1] + v[v.length / 2]) / 2;
    };
    const trials = results("plain").trials.filter((t) => t.kind === "measure");
    for (let round = 1; round <= 5; ++round)
      ["original", "optimized"].forEach((variant, column) => {
        const peaks = trials
          .filter((t) => t.variant === variant)
          .map((t) => t.roles.find((r) => r.role === "server").rounds.find((r) => r.round === round).metrics.peak_rss_bytes);
        assert.equal(peaks.length, 8);
        assert.equal(shown[round - 1][column], `${median(peaks).toLocaleString("en")} bytes`);
      });
    await page.close();
  });
});

describe("the question which round and phase", () => {
  test("is answered by the highest medians of results.json", async () => {
    const { page } = await open_report(browser, report("plain"));
    const highest = (variant) => {
      const peaks = new Map();
      const phases = new Map();
      for (const trial of results("plain").trials.filter((t) => t.kind === "measure" && t.variant === variant))
        for (const round of trial.roles.find((r) => r.role === "server").rounds) {
          peaks.set(round.round, [...(peaks.get(round.round) ?? []), round.metrics.peak_rss_bytes]);
          for (const phase of round.phases) phases.set(phase.phase, [...(phases.get(phase.phase) ?? []), phase.metrics.peak_rss_bytes]);
        }
      const middle = (values) => {
        const v = [...values].sort((a, b) => a - b);
        return (v[(v.length - 1) >> 1] + v[v.length >> 1]) / 2;
      };
      const top = (all) => [...all].sort(([, a], [, b]) => middle(b) - middle(a))[0];
      const highest_peak = middle(top(peaks)[1]);
      const tied = [...peaks].filter(([, values]) => middle(values) >= 0.99 * highest_peak).map(([round]) => round);
      // Rounds differ by 1 MiB each, which is less than 1% of the baseline from end to end and more of the candidate.
      const words = { original: "every round alike", optimized: `rounds ${tied[0]}–${tied.at(-1)} alike` };
      assert.equal(tied.length, { original: 5, optimized: 4 }[variant]);
      return `${variant} ${(highest_peak / 1048576).toFixed(1)} MiB in ${words[variant]}, phase ${top(phases)[0]}`;
    };
    assert.equal(
      await page.textContent("#rounds .peaks"),
      `Where server peaks, by the medians of its rounds: ${highest("original")}; ${highest("optimized")}.`,
    );
    await page.getByRole("radio", { name: "client-1" }).check();
    assert.match(await page.textContent("#rounds .peaks"), /^Where client-1 peaks/);
    await page.close();
  });
});

describe("hostile text", () => {
  test("is shown and not executed", async () => {
    const { page, faults } = await open_report(browser, report("hostile"));
    await unfold(page);
    assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
    assert.equal(await page.$$eval("img, body script, i, b, a[href^='javascript']", (found) => found.length), 0);
    assert.match(await page.textContent("h1"), /<script>window\.hacked=1<\/script>/);
    assert.match(await page.textContent("#evidence pre"), /onerror=window\.hacked=1/);
    const shown = await page.evaluate(() => document.body.textContent);
    assert.doesNotMatch(shown, /[\u202A-\u202E\u2066-\u2069]/, "nothing reorders the text around it");
    assert.deepEqual(faults, []);
    await page.close();
  });
});

describe("sections without data", () => {
  const titles = async (kind) => {
    const { page } = await open_report(browser, report(kind));
    const found = await page.$$eval("section", (all) => all.map((s) => s.id));
    await page.close();
    return found;
  };
  test("a run without trials has neither rounds nor metrics", async () => {
    assert.deepEqual(await titles("empty"), ["verdict", "weaknesses", "reproduce", "evidence"]);
  });
  test("a run in which every trial failed shows what happened to each", async () => {
    const { page } = await open_report(browser, report("failed"));
    assert.match(await page.textContent("#verdict"), /No verdict: every trial of original failed; the first: server was killed by signal 9/);
    assert.equal(await page.locator("#evidence tr.killed_for_memory").count(), 18);
    assert.match(await page.textContent("#evidence"), /server was killed by signal 9/);
    await page.close();
  });
  test("one variant has rounds and no metrics", async () => {
    const found = await titles("one-variant");
    assert.ok(found.includes("rounds") && !found.includes("metrics") && !found.includes("price"));
  });
  test("a job without marks is shown by time only", async () => {
    const { page } = await open_report(browser, report("unmarked"));
    assert.equal(await page.getByText("Along", { exact: true }).count(), 0);
    assert.equal(await page.locator(".uplot").count(), 1);
    await page.close();
  });
});

describe("for people", () => {
  test("the view is in the URL: a link shows the same role and filter again", async () => {
    const { page } = await open_report(browser, report("plain"));
    await page.getByRole("radio", { name: "client-1" }).check();
    await page.locator("#metrics summary").click();
    await page.getByRole("combobox", { name: "Verdict" }).selectOption("improved");
    const url = page.url();
    const hash = url.slice(url.indexOf("#"));
    await page.close();
    const again = await open_report(browser, report("plain"), { hash });
    assert.equal(await again.page.getByRole("radio", { name: "client-1" }).isChecked(), true);
    const verdicts = await again.page.$$eval("table.metrics .badge", (all) => all.map((b) => b.className));
    assert.ok(verdicts.length > 0 && verdicts.every((name) => name.includes("improved")));
    await again.page.close();
  });

  test("the chart zooms by keyboard and says what is under the cursor", async () => {
    const { page, faults } = await open_report(browser, report("plain"));
    const plot = page.locator("#rounds .plot").first();
    await plot.focus();
    const before_zoom = await plot.screenshot();
    await page.keyboard.press("+");
    await page.keyboard.press("ArrowRight");
    assert.notDeepEqual(await plot.screenshot(), before_zoom);
    await page.keyboard.press("0");
    await plot.hover();
    const readout = page.locator("#rounds output").first();
    assert.match(await readout.textContent(), /^round \d · original \((broadcast|upload|aggregate|validate)\) [\d.]+ MiB = [\d,]+ bytes/);
    assert.deepEqual(faults, []);
    await page.close();
  });

  test("every control can be reached with the Tab key", async () => {
    const { page } = await open_report(browser, report("plain"));
    const reached = new Set();
    for (let i = 0; i < 80; ++i) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement?.closest("nav, header, section")?.id
        ?? document.activeElement?.closest("nav, header")?.tagName));
    }
    for (const id of ["reproduce", "rounds", "metrics", "evidence"]) assert.ok(reached.has(id), id);
    await page.close();
  });

  test("nothing moves while the page settles", async () => {
    const { page } = await open_report(browser, report("plain"));
    const shift = await page.evaluate(
      () =>
        new Promise((resolve) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
          }).observe({ type: "layout-shift", buffered: true });
          setTimeout(() => resolve(sum), 500);
        }),
    );
    assert.ok(shift < 0.02, `layout shift ${shift}`);
    await page.close();
  });

  test("a confidential report shows neither arguments, environment values, paths nor log lines", async () => {
    const { page } = await open_report(browser, report("confidential"));
    const text = await page.evaluate(() => document.body.textContent);
    assert.doesNotMatch(text, /secret|\/srv\/job|out of memory/);
    assert.match(text, /left out/);
    await page.close();
  });
});

describe("raw data", () => {
  async function download(name) {
    const { page, faults } = await open_report(browser, report("plain"));
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name, exact: true }).click(),
    ]);
    const text = readFileSync(await file.path(), "utf8");
    assert.deepEqual(faults, []);
    await page.close();
    return text;
  }
  test("results.json is the file that the run left", async () => {
    assert.deepEqual(JSON.parse(await download("results.json")), results("plain"));
  });
  test("results.csv has one line per value", async () => {
    let values = 0;
    for (const trial of results("plain").trials)
      for (const role of trial.roles) {
        values += Object.keys(role.metrics).length;
        for (const round of role.rounds) {
          values += Object.keys(round.metrics).length;
          for (const phase of round.phases ?? []) values += Object.keys(phase.metrics).length;
        }
      }
    const lines = (await download("results.csv")).trim().split("\n");
    assert.equal(lines.length, values + 1);
  });
});
