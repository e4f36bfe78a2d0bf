// Opens generated reports from disk and holds them to what the design promises.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { launch, open_report } from "./browser.mjs";
import { make_samples, overflows, unfold, violations } from "./samples.mjs";

const kinds = ["plain", "hostile", "empty", "failed", "one-variant", "unmarked", "confidential", "many", "ablated", "hostile-ablated", "profiled", "snapshots", "hostile-profiled", "confidential-profiled", "traced", "running", "growing", "hostile-growing"];
const report = (kind) => samples.report(kind);
const results = (kind) => samples.results(kind);
const with_commas = (value) => value.toLocaleString("en").replace("-", "−");
const middle = (values) => {
  const v = [...values].sort((a, b) => a - b);
  return (v[(v.length - 1) >> 1] + v[v.length >> 1]) / 2;
};
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
      await inspect(["plain", "hostile", "many"].includes(kind));
      await page.close();
    });
});

describe("the first screen", () => {
  test("has title, commands, answer, results, reasons and what to do within 1280 x 800", async () => {
    const { page } = await open_report(browser, report("snapshots"), { width: 1280 });
    await page.setViewportSize({ width: 1280, height: 800 });
    assert.equal(await page.textContent("h1"), "Peak memory: optimized vs. original (baseline)");
    assert.equal(await page.textContent(".badge"), "PASS");
    assert.match(await page.textContent(".sentence"), /optimized .*39\.7% less/);
    const ids = await page.$$eval(".first-screen > section", (all) => all.map((section) => section.id));
    assert.deepEqual(ids, ["results", "why", "next", "caveats-notice"].filter((id) => ids.includes(id)), "in the order that people ask");
    assert.ok(["results", "why"].every((id) => ids.includes(id)));
    const { bottom } = await page.$eval(".first-screen", (part) => part.getBoundingClientRect().toJSON());
    assert.ok(bottom <= 800, `${bottom} px`);
    await page.close();
  });

  test("has the medians of results.json, exact on hover, and every trial as a dot", async () => {
    const { page } = await open_report(browser, report("plain"));
    const { comparisons, trials } = results("plain");
    const shown = await page.$$eval("#results tbody tr[data-key]", (rows) =>
      rows.map((row) => ({
        key: row.dataset.key,
        data: [...row.querySelectorAll("data[data-variant]")].map((data) => [data.dataset.variant, Number(data.value), data.closest("td").title]),
        dots: row.querySelectorAll(".track .dot").length,
      })),
    );
    assert.ok(shown.length >= 2);
    const measured = trials.filter((t) => t.kind === "measure" && t.status === "ok");
    for (const { key, data, dots } of shown) {
      const c = comparisons.find((one) => key.endsWith(`${one.role} ${one.metric}`));
      const exact = (value) => (c.metric.endsWith("_bytes") ? `${with_commas(value)} bytes` : undefined);
      assert.deepEqual(data.map(([variant, value]) => [variant, value]), [[c.baseline, c.baseline_median], [c.candidate, c.candidate_median]], key);
      for (const [, value, title] of data) if (exact(value) !== undefined) assert.equal(title, exact(value));
      assert.equal(dots, measured.length, key);
    }
    await page.close();
  });
});

describe("numbers", () => {
  test("every row of the metrics table equals results.json", async () => {
    const { page } = await open_report(browser, report("plain"));
    const shown = await page.$$eval("table.metrics tbody tr", (rows) =>
      rows.map((row) => ({ key: row.dataset.key, values: [...row.querySelectorAll("data")].map((data) => Number(data.value)), verdict: row.cells[row.cells.length - 2].textContent })),
    );
    const expected = results("plain").comparisons.map((c) => ({ key: `${c.candidate} ${c.role} ${c.metric}`, values: [c.baseline_median, c.candidate_median, c.ratio], verdict: c.verdict }));
    assert.ok(expected.length >= 12);
    assert.deepEqual(shown, expected);
    await page.close();
  });

  test("every stack that differs is there, whole, with its function first", async () => {
    const { page } = await open_report(browser, report("profiled"));
    const shown = await page.$$eval("#where tbody tr", (rows) =>
      rows.map((row) => ({
        bytes: Number(row.querySelector("data").value),
        function: row.querySelector("summary code").textContent,
        caller: row.querySelector("summary .caller code").textContent,
        stack: [...row.querySelectorAll("li")].map((frame) => frame.textContent).reverse(),
        phase: row.lastElementChild.textContent,
      })),
    );
    const expected = results("profiled").differences;
    assert.deepEqual(shown.map(({ stack, bytes }) => ({ stack, bytes })), expected.map(({ stack, bytes }) => ({ stack, bytes })));
    assert.deepEqual(shown.map((row) => row.function), ["clone", "stage"]);
    assert.deepEqual(shown.map(({ caller }) => caller), ["aggregate", "serve"]);
    assert.deepEqual(shown.map(({ phase }) => phase), ["aggregate", "–"]);
    await page.close();
  });

  test("every cell of the ablation equals results.json, and an interaction is named", async () => {
    const { page } = await open_report(browser, report("ablated"));
    const shown = await page.$$eval("#ablation tr[data-key]", (rows) =>
      rows.map((row) => ({ switch: row.dataset.key, values: [...row.querySelectorAll("data")].map((data) => Number(data.value)), effect: row.lastElementChild.textContent })),
    );
    const values = (row) => [row.added_alone, row.removed_alone].flatMap((cell) => (cell.variant === null ? [] : [cell.difference]));
    const expected = results("ablated").ablation.map((row) => ({ switch: row.switch, values: values(row), effect: row.effect }));
    assert.equal(expected.length, 6);
    assert.deepEqual(shown.sort((a, b) => a.switch.localeCompare(b.switch)), expected.sort((a, b) => a.switch.localeCompare(b.switch)));
    assert.match(await page.textContent("#ablation li"), /−134\.0 MiB/);
    await page.close();
  });

  test("round medians in the table behind the dots equal those of results.json", async () => {
    const { page } = await open_report(browser, report("plain"));
    await page.locator("#rounds summary").first().click();
    await page.waitForSelector("#rounds details table");
    const shown = await page.$$eval("#rounds details table", ([table]) =>
      [...table.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")].map((td) => td.title)),
    );
    const trials = results("plain").trials.filter((t) => t.kind === "measure");
    for (let round = 1; round <= 5; ++round)
      ["original", "optimized"].forEach((variant, column) => {
        const peaks = trials
          .filter((t) => t.variant === variant)
          .map((t) => t.roles.find((r) => r.role === "server").rounds.find((r) => r.round === round).metrics.peak_rss_bytes);
        assert.equal(peaks.length, 8);
        assert.equal(shown[round - 1][column], `${with_commas(middle(peaks))} bytes`);
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
      const top = (all) => [...all].sort(([, a], [, b]) => middle(b) - middle(a))[0];
      const highest_peak = middle(top(peaks)[1]);
      const tied = [...peaks].filter(([, values]) => middle(values) >= 0.99 * highest_peak).map(([round]) => round);
      // Rounds differ by 1 MiB each, which is less than 1% of the baseline from end to end and more of the candidate.
      const words = { original: "every round alike", optimized: `rounds ${tied[0]}–${tied.at(-1)} alike` };
      assert.equal(tied.length, { original: 5, optimized: 4 }[variant]);
      return `${variant} ${(highest_peak / 1048576).toFixed(1)} MiB in ${words[variant]}, phase ${top(phases)[0]}`;
    };
    assert.equal(await page.textContent("#rounds .peaks"), `Peak of server, by the medians of its rounds: ${highest("original")}; ${highest("optimized")}.`);
    await page.getByRole("radio", { name: "client-1" }).check();
    assert.match(await page.textContent("#rounds .peaks"), /^Peak of client-1/);
    await page.close();
  });
});

describe("hostile text", () => {
  test("is shown and not executed", async () => {
    const { page, faults } = await open_report(browser, report("hostile"));
    await unfold(page);
    assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
    assert.equal(await page.$$eval("img, body script, i, b, a[href^='javascript']", (found) => found.length), 0);
    const shown = await page.evaluate(() => document.body.textContent);
    assert.match(shown, /<script>window\.hacked=1<\/script>/);
    assert.match(shown, /onerror=window\.hacked=1/);
    assert.doesNotMatch(shown, /[\u202A-\u202E\u2066-\u2069]/, "nothing reorders the text around it");
    assert.deepEqual(faults, []);
    await page.close();
  });
});

describe("sections without data are absent", () => {
  const titles = async (kind) => {
    const { page } = await open_report(browser, report(kind));
    const found = await page.$$eval("section[id]", (all) => all.map((s) => s.id));
    await page.close();
    return found;
  };
  test("a run without trials has neither results, rounds nor metrics", async () => {
    const found = await titles("empty");
    for (const id of ["results", "why", "rounds", "metrics", "flames"]) assert.ok(!found.includes(id), id);
    for (const id of ["evidence", "reproduce"]) assert.ok(found.includes(id), id);
  });
  test("a run in which every trial failed shows what happened to each", async () => {
    const { page } = await open_report(browser, report("failed"));
    assert.equal(await page.textContent(".badge"), "NOT MEASURED");
    assert.match(await page.textContent(".result"), /server was killed by signal 9/);
    assert.equal(await page.locator("#evidence tbody tr", { hasText: "killed for memory" }).count(), 18);
    await page.close();
  });
  test("one variant has rounds and no metrics", async () => {
    const found = await titles("one-variant");
    assert.ok(found.includes("rounds") && !found.includes("metrics"));
  });
  test("a job without marks is shown by time only", async () => {
    const { page } = await open_report(browser, report("unmarked"));
    assert.equal(await page.getByText("Along", { exact: true }).count(), 0);
    assert.equal(await page.locator(".uplot").count(), 1);
    await page.close();
  });
  test("profiles have their commands and what recording cost, where there are any", async () => {
    const { page } = await open_report(browser, report("traced"));
    const text = await page.textContent("#profiles");
    assert.match(text, /memduel flamegraph profiles\/28-server\.2\.mdp --diff profiles\/29-server\.2\.mdp/);
    assert.equal((await page.$$("#profiles tbody tr")).length, 9);
    await page.close();
    assert.ok(!(await titles("plain")).some((id) => ["profiles", "flames", "growth", "parts", "resident"].includes(id)));
  });
});

describe("for people", () => {
  test("the view is in the URL: a link shows the same role and filter again", async () => {
    const { page } = await open_report(browser, report("plain"));
    await page.getByRole("radio", { name: "client-1" }).check();
    await page.locator("#metrics summary").first().click();
    await page.getByRole("combobox", { name: "verdict" }).selectOption("improved");
    const { hash } = new URL(page.url());
    await page.close();
    const again = await open_report(browser, report("plain"), { hash });
    assert.equal(await again.page.getByRole("radio", { name: "client-1" }).isChecked(), true);
    const keys = await again.page.$$eval("table.metrics tbody tr", (all) => all.map((row) => row.dataset.key));
    const improved = results("plain").comparisons.filter((c) => c.verdict === "improved");
    assert.deepEqual(keys, improved.map((c) => `${c.candidate} ${c.role} ${c.metric}`));
    await again.page.close();
  });

  test("the navigation leads to a section and its heading", async () => {
    const { page } = await open_report(browser, report("plain"));
    await page.locator("nav button", { hasText: "All metrics" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "All metrics");
    await page.waitForFunction(() => location.hash.includes("at=metrics"));
    await page.close();
  });

  test("the chart zooms by keyboard and shows what is under the cursor", async () => {
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
      reached.add(await page.evaluate(() => document.activeElement?.closest("section")?.id ?? document.activeElement?.closest("nav, footer")?.tagName));
    }
    for (const id of ["NAV", "rounds", "metrics", "evidence", "reproduce", "FOOTER"]) assert.ok(reached.has(id), id);
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
    assert.doesNotMatch(await page.evaluate(() => document.body.textContent), /secret|\/srv\/job|out of memory/);
    await page.close();
  });
});

describe("raw data", () => {
  async function download(name) {
    const { page, faults } = await open_report(browser, report("plain"));
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
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
    assert.equal((await download("results.csv")).trim().split("\n").length, values + 1);
  });
});
