// node tests/report/measure.mjs RUN_DIR…: the numbers of docs/report.md. Sizes, times to build and to open of the reports
// of finished runs (their report.html is written anew), and of a generated flame graph of two profiles with 500,000 stacks.
// MEMDUEL_PROGRAM and MEMDUEL_SAMPLE_REPORT name the programs, by default those of build/release.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { launch } from "./browser.mjs";

const build = fileURLToPath(new URL("../../build/release/", import.meta.url));
const memduel = process.env.MEMDUEL_PROGRAM ?? join(build, "bin/memduel");
const sample = process.env.MEMDUEL_SAMPLE_REPORT ?? join(build, "tests/memduel-sample-report");
const opens = 5;
const hovers = 100;
const zooms = 60;

const sorted = (values) => [...values].sort((a, b) => a - b);
const quantile = (values, q) => sorted(values)[Math.min(values.length - 1, Math.ceil(q * values.length) - 1)];
const ms = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
const spread = (values) => `${ms(quantile(values, 0.5))} (${ms(Math.min(...values))} to ${ms(Math.max(...values))})`;

function timed(action) {
  const begin = process.hrtime.bigint();
  action();
  return Number(process.hrtime.bigint() - begin) / 1e6;
}

/** Tasks of the page's main thread, in milliseconds since the page was opened, and its own marks. */
function timeline(trace) {
  const { traceEvents: events } = JSON.parse(trace);
  const start = events.filter((e) => e.name === "navigationStart" && e.args?.data?.documentLoaderURL?.startsWith("file:")).at(-1);
  const thread = (e) => e.pid === start.pid && e.tid === start.tid;
  const at = (e) => (e.ts - start.ts) / 1000;
  return {
    tasks: events
      .filter((e) => thread(e) && e.name === "RunTask" && e.dur > 0)
      .map((e) => ({ begin: at(e), end: at(e) + e.dur / 1000 })),
    marks: new Map(events.filter((e) => e.cat.includes("blink.user_timing") && e.pid === start.pid).map((e) => [e.name, at(e)])),
    painted: events.filter((e) => e.name === "firstContentfulPaint" && e.pid === start.pid).map(at)[0],
  };
}

const categories = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing", "loading"];

async function traced(browser, file, action = async () => {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await browser.startTracing(page, { categories });
  await page.goto(`file://${file}`);
  await page.waitForSelector("body[data-ready]", { timeout: 60_000 });
  await page.waitForTimeout(300);
  const extra = await action(page);
  const times = timeline((await browser.stopTracing()).toString());
  await page.close();
  return { ...times, extra };
}

/** When it was drawn and no task of 50 ms or more kept it from answering. */
function interactive({ tasks, painted }) {
  const long = tasks.filter((task) => task.begin >= 0 && task.end - task.begin >= 50 && task.begin < painted + 1000);
  return Math.max(painted, ...long.map((task) => task.end));
}

async function opening(browser, file) {
  const painted = [];
  const ready = [];
  for (let i = 0; i < opens; ++i) {
    const times = await traced(browser, file);
    painted.push(times.painted);
    ready.push(interactive(times));
  }
  return { painted, ready };
}

async function measure_run(browser, run) {
  const file = join(resolve(run), "report.html");
  const builds = Array.from({ length: opens }, () => timed(() => execFileSync(memduel, ["report", run])));
  const { ready } = await opening(browser, file);
  const name = JSON.parse(readFileSync(join(run, "config.json"), "utf8")).name ?? basename(run);
  return [
    [`${name}: size of report.html`, `${(statSync(file).size / 1e6).toFixed(2)} MB`],
    [`${name}: \`memduel report\``, spread(builds)],
    [`${name}: interactive after opening`, spread(ready)],
  ];
}

/** Script and paint of each action: what its page's main thread worked between two marks. */
function costs({ tasks, marks }, name, count) {
  return Array.from({ length: count }, (_, i) => {
    const [begin, end] = [marks.get(`${name}-${i}`), marks.get(`${name}-${i}-end`)];
    return tasks.reduce((sum, task) => sum + Math.max(0, Math.min(task.end, end) - Math.max(task.begin, begin)), 0);
  });
}

async function repeat(page, name, count, action) {
  const settle = (mark) =>
    page.evaluate(
      (text) =>
        new Promise((done) => {
          requestAnimationFrame(() => requestAnimationFrame(() => done(performance.mark(text))));
        }),
      mark,
    );
  for (let i = 0; i < count; ++i) {
    await page.evaluate((text) => void performance.mark(text), `${name}-${i}`);
    await action(i);
    await settle(`${name}-${i}-end`);
  }
}

async function measure_large(browser, dir) {
  execFileSync(sample, [dir, "flame-large"]);
  const file = join(dir, "flame.html");
  const { painted } = await opening(browser, file);
  const run = await traced(browser, file, async (page) => {
    const patterns = ["function_number_1", "library_[35]::module_7", "float, 2>", "^nothing$", "number_(12|90)\\d+\\(", "Class", "Tensor const&, int", "module_1(2|3)0", "number_20000", "_7::.*_3"];
    const searches = await page.evaluate((all) => {
      const field = document.querySelector("input[type=search]");
      return all.map((pattern) => {
        const begin = performance.now();
        field.value = pattern;
        field.dispatchEvent(new Event("input"));
        return performance.now() - begin;
      });
    }, patterns);
    await page.fill("input[type=search]", "");
    // A search zooms to its widest match.
    await page.focus(".flame");
    await page.keyboard.press("Home");
    const graph = await (await page.$(".flame")).boundingBox();
    const place = (i, n) => [graph.x + (graph.width * ((i * 37) % n)) / n, graph.y + 30 + ((i * 53) % 400)];
    await repeat(page, "hover", hovers, (i) => page.mouse.move(...place(i, hovers)));
    await repeat(page, "zoom", zooms, async (i) => {
      if (i % 2 === 0) await page.mouse.click(...place(i, zooms));
      else await page.keyboard.press("Home");
    });
    return { searches, stacks: await page.textContent("section[aria-label='Flame graph'] > p:last-child") };
  });
  const hover = costs(run, "hover", hovers);
  const zoom = costs(run, "zoom", zooms);
  return [
    [`two profiles (${/All ([\d,]+) stacks/.exec(run.extra.stacks)[1]} stacks in both together): size`, `${(statSync(file).size / 1e6).toFixed(2)} MB`],
    ["… first frame after opening", spread(painted)],
    ["… regular-expression search with redraw, slowest of ten", ms(Math.max(...run.extra.searches))],
    [`… script and paint on hover, 95th percentile of ${hovers}`, ms(quantile(hover, 0.95))],
    [`… script and paint on zoom, 95th percentile of ${zooms}`, ms(quantile(zoom, 0.95))],
  ];
}

const load = loadavg()[0];
if (load > 0.7) console.error(`the load is ${load.toFixed(2)}: these numbers are noisy`);
const dir = mkdtempSync(join(tmpdir(), "memduel-measure-"));
const browser = await launch();
const rows = [];
for (const run of process.argv.slice(2)) rows.push(...(await measure_run(browser, run)));
rows.push(...(await measure_large(browser, dir)));
await browser.close();
rmSync(dir, { recursive: true, force: true });
console.log(`load before: ${load.toFixed(2)}; medians of ${opens}, with the range\n\n| what | measured |\n| --- | ---: |`);
for (const [what, value] of rows) console.log(`| ${what} | ${value} |`);
