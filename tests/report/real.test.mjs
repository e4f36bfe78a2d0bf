// A real comparison of a program that leaks 256 KiB in every round against itself without the leak, from its config to its page,
// which is held to results.json and to the profiles that the run kept.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { launch, open_report } from "./browser.mjs";
import { profile_json } from "./profile_json.mjs";
import { overflows, unfold, violations } from "./samples.mjs";

const dir = mkdtempSync(join(tmpdir(), "memduel-real-"));
const run = join(dir, "run");
const memduel = (...words) => execFileSync(process.env.MEMDUEL_PROGRAM, words, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
let browser;
let results;

before(async () => {
  const config = {
    name: "upload leak",
    workload: {
      kind: "command",
      processes: [{ role: "command", argv: [join(process.env.MEMDUEL_RECORDER_PROGRAMS, "leaks_in_upload")], end: "wait" }],
      deadline_seconds: 120,
    },
    variants: [{ name: "leaking" }, { name: "tidy", append: { command: ["tidy"] } }],
    baseline: "leaking",
    measure: { repeats: 6, meters: ["procfs", "heap"] },
    profile: { profilers: ["recorder"], trials: 1 },
    gates: ["command.peak_heap_bytes<=+1%"],
  };
  writeFileSync(join(dir, "config.json"), JSON.stringify(config));
  const done = spawnSync(process.env.MEMDUEL_PROGRAM, ["run", join(dir, "config.json"), "--out", run, "--quiet"], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  results = JSON.parse(readFileSync(join(run, "results.json"), "utf8"));
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(dir, { recursive: true, force: true });
});

async function open(options) {
  const opened = await open_report(browser, join(run, "report.html"), options);
  await opened.page.waitForSelector("#flames [data-loaded]");
  return opened;
}

describe("the report of a real comparison", () => {
  test("has every section that it has data for, without fault, violation or overflow", async () => {
    const { page, faults } = await open();
    const found = await page.$$eval("section[id]", (all) => all.map((s) => s.id));
    for (const id of ["results", "why", "resident", "where", "rounds", "growth", "flames", "metrics", "profiles", "evidence", "reproduce"]) assert.ok(found.includes(id), id);
    await unfold(page);
    assert.deepEqual(await violations(page), []);
    await page.setViewportSize({ width: 360, height: 740 });
    assert.equal(await overflows(page), false);
    assert.deepEqual(faults, []);
    assert.ok(statSync(join(run, "report.html")).size < 1.5e6);
    await page.close();
  });

  test("answers which is better, by how much and how sure with the numbers of results.json", async () => {
    const { page } = await open();
    const gate = results.comparisons.find((c) => c.gate);
    assert.equal(gate.verdict, "improved");
    assert.equal(await page.textContent("h1"), "Peak memory: tidy vs. leaking (baseline)");
    assert.equal(await page.textContent(".badge"), "PASS");
    assert.match(await page.textContent(".sentence"), /^tidy .*less/);
    const row = page.locator(`#results tr[data-key$="${gate.role} ${gate.metric}"]`);
    assert.deepEqual(await row.locator("data[data-variant]").evaluateAll((all) => all.map((data) => Number(data.value))), [gate.baseline_median, gate.candidate_median]);
    assert.match(await row.textContent(), new RegExp(`−${((1 - gate.ratio) * 100).toPrecision(2)}.*improved`));
    await page.close();
  });

  test("answers which function, in which phase and which round", async () => {
    const { page } = await open();
    const [first] = results.differences.filter((d) => d.kind === "peak");
    assert.match(await page.textContent("#why"), /leak_in_upload/);
    const row = page.locator("#where tbody tr").first();
    assert.match(await row.textContent(), /^−1\.25 MiB.*leak_in_upload/);
    assert.equal(await row.locator("td").last().textContent(), first.phase);
    assert.equal(first.phase, "upload");
    assert.ok(Math.abs(first.bytes + 5 * 256 * 1024) < 1, "five rounds of 256 KiB");
    await row.locator("button.to-flame").click();
    assert.match(await page.textContent("#flames .found"), /^the stack of the table, \d box(es)?: −1\.25 MiB/);
    assert.match(await page.textContent("#flames .look"), /leak_in_upload\(\) in /);
    await page.selectOption('#flames label.select:has(> span:text-is("Compare")) select', "removed");
    assert.match(await page.textContent("#flames .total"), /only in leaking: −1\.25 MiB/);
    await page.close();
  });

  test("answers which stack grows from round to round, with the program's own 256 KiB", async () => {
    const { page } = await open();
    const row = results.growth.find((g) => g.variant === "leaking" && g.role === "command" && g.metric === "rss_growth_bytes_per_round");
    assert.equal(row.stacks[0].bytes_per_round, 256 * 1024);
    assert.equal(row.stacks[0].last_bytes, 5 * 256 * 1024);
    assert.equal(row.stacks[0].phase, "upload");
    const shown = page.locator("#growth tr:has(.to-flame)").first();
    assert.match(await shown.textContent(), /leaking.*256\.0 KiB.*leak_in_upload.*upload/s);
    await shown.locator("button.to-flame").click();
    await page.waitForSelector("#flames [data-loaded]");
    assert.match(await page.textContent("#flames .found"), /^the stack of the table, 1 box: 1\.25 MiB/);
    assert.match(await page.textContent("#flames .total"), /^Live at the end of round 5 in leaking/);
    await page.close();
  });

  test("leads from one peak to the other by owners and stacks, which sum up to the kernel's numbers", async () => {
    const { page } = await open();
    const memory = (variant) => results.resident.find((m) => m.role === "command" && m.variant === variant);
    const [before, after] = [memory("leaking"), memory("tidy")];
    const of = ({ owners }, owner) => owners.filter((part) => part.owner === owner).reduce((sum, part) => sum + part.bytes, 0);
    const live = of(after, "live") - of(before, "live");
    assert.ok(Math.abs(live + 5 * 256 * 1024) < 131072, `five rounds of 256 KiB are live, and what else differs is small: ${live}`);
    for (const { bytes, owners } of [before, after])
      assert.ok(Math.abs(owners.reduce((sum, part) => sum + part.bytes, 0) - bytes) < 1, "owners sum up to what the kernel counted");
    const shown = await page.$$eval("#resident table.waterfall >> nth=0 >> data", (all) => all.map((data) => Number(data.value)));
    const steps = shown.slice(1, -1).reduce((sum, step) => sum + step, 0);
    assert.equal(shown.at(0), before.bytes);
    assert.equal(shown.at(-1), after.bytes);
    assert.ok(Math.abs(before.bytes + steps - after.bytes) < 1);
    assert.match(await page.textContent("#resident table.waterfall"), /leak_in_upload/);
    await page.close();
  });

  test("has the retention matrix of the profile itself", async () => {
    const { page } = await open({ hash: "#side=first" });
    const file = results.trials.find((t) => t.kind === "profile" && t.variant === "leaking").id;
    const profile = profile_json(join(run, `profiles/${file}-command.mdp`));
    const shown = await page.$$eval("table.retention td[data-bytes]", (all) => all.map((td) => `${td.dataset.born} ${td.dataset.end} ${td.dataset.bytes}`));
    assert.deepEqual(shown.sort(), profile.retention.map((c) => `${c.born} ${c.end} ${c.total.bytes}`).sort());
    assert.ok(shown.length >= 15);
    await page.click("td[data-born='2'][data-end='5'] button");
    assert.match(await page.textContent("#flames table.functions"), /leak_in_upload/);
    await page.close();
  });

  test("has every trial, every comparison and every round of results.json", async () => {
    const { page } = await open();
    await unfold(page);
    const states = await page.$$eval("#evidence table >> nth=0 >> tbody tr", (all) => all.map((row) => row.cells[4].textContent));
    assert.deepEqual(states, results.trials.map((t) => t.status.replaceAll("_", " ")));
    const rows = await page.$$eval("#metrics tbody tr", (all) => all.map((row) => row.dataset.key));
    const with_values = results.comparisons.filter((c) => c.baseline_median != null || c.candidate_median != null);
    const key = (c) => `${c.candidate} ${c.role} ${c.metric}`;
    const numbers = (c) => [c.candidate, c.metric, c.baseline_median, c.candidate_median].join();
    const listed = with_values.filter((c) => rows.includes(key(c)));
    assert.deepEqual(rows, listed.map(key));
    // The job has one role, whose numbers are those of all processes: they are listed once.
    for (const c of with_values) assert.ok(listed.some((one) => numbers(one) === numbers(c)), key(c));
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "results.json" }).click()]);
    assert.deepEqual(JSON.parse(readFileSync(await download.path(), "utf8")), results);
    await page.close();
  });

  test("is written again by memduel report, and without paths when it is confidential", async () => {
    const was = readFileSync(join(run, "report.html"), "utf8");
    memduel("report", run);
    assert.equal(readFileSync(join(run, "report.html"), "utf8"), was);
    memduel("report", run, "--confidential");
    const { page } = await open();
    await unfold(page);
    assert.doesNotMatch(await page.evaluate(() => document.querySelector(".page").textContent), new RegExp(`recorder-programs|${dir}`));
    memduel("report", run);
    await page.close();
  });

  test("gives the same numbers as the terminal, the Markdown and results.json", async () => {
    const { page } = await open();
    await unfold(page);
    const plain = (text) => text.replaceAll("\\", "").replace(/[*`|\s]+/g, " ");
    const text = plain(memduel("report", run, "--format", "text"));
    const markdown = plain(memduel("report", run, "--format", "markdown"));
    const sentence = plain(await page.textContent(".sentence"));
    // Both medians, change and interval of every row of the first screen.
    const rows = await page.$$eval("#results tr[data-key]", (all) => all.map((row) => [...row.cells].slice(0, 5).map((cell) => cell.textContent)));
    assert.ok(rows.length >= 2);
    for (const [name, printed] of [["terminal", text], ["Markdown", markdown]]) {
      assert.ok(printed.includes(sentence), `${name}: ${sentence}\n${printed}`);
      for (const row of rows) assert.ok(printed.includes(plain(row.join(" | "))), `${name}: ${row}\n${printed}`);
    }
    // And of every comparison the numbers of results.json.
    const shown = await page.$$eval("#metrics tr[data-key]", (all) => all.map((row) => ({ key: row.dataset.key, values: [...row.querySelectorAll("data")].map((data) => Number(data.value)), change: row.cells[4].textContent })));
    for (const { key, values, change } of shown) {
      const row = results.comparisons.find((c) => `${c.candidate} ${c.role} ${c.metric}` === key);
      // The change of the medians, where the interval has it; else the estimate, marked.
      const of_medians = row.ratio == null ? row.candidate_median - row.baseline_median : row.candidate_median / row.baseline_median;
      const is_inside = row.ci_low == null || row.ci_high == null || (row.ci_low <= of_medians && of_medians <= row.ci_high);
      const shown_change = is_inside || !change.endsWith("*") ? of_medians : row.ratio ?? row.difference;
      assert.deepEqual(values, [row.baseline_median, row.candidate_median, row.ratio == null && row.difference == null ? null : shown_change].filter((value) => value != null), key);
      if (row.ratio != null && shown_change < 2) assert.ok(Math.abs(Number(change.replace("−", "-").replace(/%\*?$/, "")) - (shown_change - 1) * 100) <= 0.50001, `${change} for ${shown_change}`);
    }
    await page.close();
  });

  test("agrees with the Markdown and the terminal, which fit their room", () => {
    const markdown = memduel("report", run, "--format", "markdown");
    assert.match(markdown, /^<!-- memduel:upload-leak -->$/m);
    assert.match(markdown, /leak\\_in\\_upload|leak_in_upload/);
    const lines = memduel("report", run, "--format", "text").split("\n");
    const first_screen = lines.slice(0, lines.findIndex((line) => line.startsWith("Exit code")) + 1);
    assert.ok(first_screen.length > 10 && first_screen.length <= 26, first_screen.join("\n"));
    // A command or path is never cut.
    for (const line of first_screen) if (!/memduel |\//.test(line)) assert.ok([...line].length <= 80, line);
  });
});
