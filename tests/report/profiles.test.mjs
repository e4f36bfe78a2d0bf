// The flame graphs inside a report and alone, on made-up profiles whose numbers reports/test_sample_profile.h lists.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { launch, open_report } from "./browser.mjs";
import { make_samples, overflows, unfold, violations } from "./samples.mjs";

const MiB = 1048576;
const select = (label) => `label.select:has(> span:text-is("${label}")) select`;
let browser;
let samples;

before(async () => {
  samples = make_samples(["plain", "profiled", "hostile-profiled", "confidential-profiled", "flame-plain", "flame-hostile", "flame-one"]);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  samples?.remove();
});

async function open(kind, options) {
  const opened = await open_report(browser, samples.report(kind), options);
  if (!kind.startsWith("flame-")) await opened.page.waitForSelector("#flames [data-loaded]");
  return opened;
}

const amounts = (page) => page.$$eval("p.total data", (all) => all.map((data) => Number(data.value) / 1048576));

describe("flame graphs in a report", () => {
  test("show the difference of the gate's role first, with both amounts", async () => {
    const { page, faults } = await open("profiled");
    assert.equal(await page.inputValue(select("Profiles")), "memduel-flame-0");
    assert.match(await page.textContent("#flames option:checked"), /^server: optimized vs\. original$/);
    assert.deepEqual(await amounts(page), [440, 260]);
    assert.match(await page.textContent("p.total"), /: −180\.0 MiB \(440\.0 MiB in original, 260\.0 MiB in optimized/);
    const { baseline_bytes, candidate_bytes } = samples.results("profiled").differences[0];
    const row = await page.textContent("#flames table.functions tbody tr");
    assert.match(row, new RegExp(`^clone−200\\.0.* MiB${baseline_bytes / MiB}\\.0 MiB${candidate_bytes / MiB}\\.0 MiB`));
    assert.deepEqual(faults, []);
    await page.close();
  });

  test("show each variant alone, and the stacks that only one of them has", async () => {
    const { page } = await open("profiled");
    const expected = { first: [440], second: [260], removed: [10, 0], added: [0, 30], difference: [440, 260] };
    for (const [side, amount] of Object.entries(expected)) {
      await page.selectOption(select("Compare"), side);
      assert.deepEqual(await amounts(page), amount, side);
    }
    await page.selectOption(select("Compare"), "removed");
    assert.match(await page.textContent("p.total"), /removed: only in original/);
    assert.match(await page.textContent("#flames table.functions"), /old_log/);
    assert.doesNotMatch(await page.textContent("#flames table.functions"), /new_log|clone|load/);
    await page.close();
  });

  test("give what every program's frames have to the functions that called them", async () => {
    const { page } = await open("profiled", { hash: "#side=first" });
    const first = () => page.textContent("#flames table.functions tbody tr");
    assert.match(await first(), /^clone400\.0 MiB90\.9%/);
    assert.doesNotMatch(await page.textContent("#flames table.functions"), /operator new|std::vector/);
    await page.getByRole("radio", { name: "all", exact: true }).check();
    assert.match(await first(), /^operator new400\.0 MiB/);
    assert.deepEqual(await amounts(page), [440]);
    await page.close();
  });

  test("filter by round and phase of allocation", async () => {
    const { page } = await open("profiled", { hash: "#side=first" });
    await page.selectOption(select("Allocated in phase"), { label: "aggregate" });
    assert.deepEqual(await amounts(page), [400]);
    await page.selectOption(select("Allocated in round"), "3");
    assert.deepEqual(await amounts(page), [200]);
    await page.close();
  });

  test("have a retention matrix whose cells show their stacks, in each side's numbers", async () => {
    const { page } = await open("profiled");
    const cells = () => page.$$eval("table.retention td[data-bytes]", (all) => all.map((td) => [td.dataset.born, td.dataset.end, Number(td.dataset.bytes)].map(Number)));
    const expected = [];
    for (let born = 1; born <= 3; ++born) for (let end = born; end <= 3; ++end) expected.push([born, end, 10 * born + end]);
    const scaled = (factor) => expected.map(([born, end, size]) => [born, end, size * MiB * factor]);
    assert.deepEqual(await cells(), scaled(-0.5), "the candidate keeps half as much");
    assert.match(await page.textContent("td[data-born='2'][data-end='3']"), /^−11\.5 MiB$/);
    await page.selectOption(select("Compare"), "first");
    assert.deepEqual(await cells(), scaled(1));
    await page.click("td[data-born='2'][data-end='3'] button");
    assert.deepEqual(await amounts(page), [23]);
    assert.match(await page.textContent("p.total"), /^Allocated in round 2, live at the end of round 3/);
    await page.close();
  });

  test("are where a stack of the first screen leads to", async () => {
    const { page } = await open("profiled");
    const arrived = (opened) => opened.waitForFunction(() => document.activeElement?.classList.contains("flame"));
    const [clone, stage] = samples.results("profiled").differences;
    const links = page.locator("#where button.to-flame");
    for (const [i, { stack, bytes }] of [clone, stage].entries()) {
      await links.nth(i).click();
      await arrived(page);
      const amount = `${bytes < 0 ? "−" : "+"}${(Math.abs(bytes) / MiB).toFixed(1)} MiB`;
      assert.equal(await page.textContent("#flames .found"), `the stack of the table, 1 box: ${amount}`);
      const own = stack.findLast((frame) => !/^(operator new|std::)/.test(frame));
      assert.ok((await page.textContent("#flames .look")).startsWith(`${own} in `), "its innermost own function is selected");
      const { top, bottom } = await page.$eval("#flames .flame", (graph) => graph.getBoundingClientRect().toJSON());
      assert.ok(top < 900 && bottom > 0, "the graph is on the screen");
    }
    const hash = new URL(page.url()).hash;
    assert.match(hash, /stack=where-1/);
    await page.close();
    const again = await open("profiled", { hash });
    await arrived(again.page);
    assert.equal(await again.page.textContent("#flames .found"), "the stack of the table, 1 box: +20.0 MiB");
    await again.page.close();
  });

  test("keep folds, focus and zoom when the page is drawn anew", async () => {
    const { page } = await open("profiled");
    await page.locator("#evidence summary").first().click();
    await page.focus("#flames .flame");
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    const zoomed = await page.textContent("#flames .look");
    assert.match(zoomed, /^serve\(\)/);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForFunction(() => getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)");
    assert.equal(await page.locator("#evidence details").first().evaluate((details) => details.open), true);
    assert.ok(await page.evaluate(() => document.activeElement.classList.contains("flame")));
    assert.equal(await page.textContent("#flames .look"), zoomed);
    await page.evaluate(() => document.querySelector('nav [data-section="evidence"]').click());
    await page.waitForFunction(() => location.hash.includes("at=evidence"));
    const hash = new URL(page.url()).hash;
    await page.close();
    const again = await open("profiled", { hash });
    await again.page.waitForFunction(() => document.querySelector("#evidence h2").getBoundingClientRect().top < innerHeight);
    assert.equal(await again.page.textContent("#flames .look"), zoomed, "a copied link shows the same box");
    await again.page.close();
  });

  test("change with the role", async () => {
    const { page } = await open("profiled");
    await page.selectOption(select("Profiles"), { label: "client-1: optimized vs. original" });
    assert.match(page.url(), /flame=memduel-flame-1/);
    await page.close();
  });

  test("say that nothing was pruned", async () => {
    const { page } = await open("profiled");
    assert.match(await page.textContent("#flames"), /All 5 stacks are shown, none is pruned/);
    await page.close();
  });

  test("have no section where there are no profiles", async () => {
    const { page } = await open_report(browser, samples.report("plain"));
    assert.equal(await page.$("#flames"), null);
    await page.close();
  });

  test("of a confidential report have neither command nor path", async () => {
    const { page } = await open("confidential-profiled");
    await unfold(page);
    const text = await page.textContent("#flames");
    assert.match(text, /7\.cpp/, "a file's name stays");
    assert.doesNotMatch(text, /\/srv|--rounds/);
    await page.close();
  });
});

describe("names that try to break out of the flame graph", () => {
  for (const kind of ["hostile-profiled", "flame-hostile"])
    test(`are shown as text, in ${kind}`, async () => {
      const { page, faults } = await open(kind);
      await unfold(page);
      assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
      const inside = kind.startsWith("flame-") ? "main" : "#flames";
      assert.equal(await page.$$eval(`${inside} img, ${inside} script`, (found) => found.length), 0);
      await page.focus(".flame");
      for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
      assert.match(await page.textContent(".look"), /etagerga/);
      await page.keyboard.press("ArrowDown");
      assert.match(await page.textContent(".look"), /^clone<TTTT/, "ten kilobytes of template arguments");
      const shown = await page.textContent("body");
      assert.match(shown, /serve"'><script>window\.hacked=1<\/script>|stage\uFFFD\uFFFD/);
      assert.doesNotMatch(shown, /[\u202A-\u202E\u2066-\u2069]/, "nothing reorders the text around it");
      for (const width of [1200, 360]) {
        await page.setViewportSize({ width, height: 800 });
        assert.equal(await overflows(page), false, `${width} px`);
      }
      assert.deepEqual(faults, []);
      await page.close();
    });
});

test("a profile with one sample is a graph with one box", async () => {
  const { page, faults } = await open("flame-one");
  assert.deepEqual(await page.$$eval("p.total data", ([data]) => Number(data.value)), 64);
  await page.fill("input[type=search]", "main");
  assert.match(await page.textContent(".found"), /^1 box: 64 B, 100\.0%$/);
  assert.deepEqual(faults, []);
  await page.close();
});

describe("accessibility of a report with flame graphs", () => {
  for (const scheme of ["light", "dark"])
    test(scheme, async () => {
      const { page, faults } = await open("profiled", { scheme });
      await unfold(page);
      assert.deepEqual(await violations(page), []);
      await page.setViewportSize({ width: 360, height: 740 });
      assert.equal(await overflows(page), false);
      assert.deepEqual(faults, []);
      await page.close();
    });

  test("the theme of the page is also the graph's", async () => {
    const { page } = await open("profiled");
    const corner = () => page.$eval(".flame canvas", (canvas) => [...canvas.getContext("2d").getImageData(2, 2, 1, 1).data]);
    const light = await corner();
    await page.getByRole("radio", { name: "dark" }).check();
    await page.waitForSelector("#flames [data-loaded]");
    assert.notDeepEqual(await corner(), light);
    await page.close();
  });
});
