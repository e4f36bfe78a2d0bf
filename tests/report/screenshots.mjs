// node tests/report/screenshots.mjs RUN_DIR OUT_DIR PREFIX [SECTION...]: pictures of a run's report for README and docs, PREFIX.png and
// PREFIX-SECTION.png for each section; of the flame graphs without their tables, which name source paths.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

import { launch, open_report } from "./browser.mjs";

const [run, out, prefix, ...sections] = process.argv.slice(2);
if (prefix === undefined) {
  console.error("usage: node tests/report/screenshots.mjs RUN_DIR OUT_DIR PREFIX [SECTION...]");
  process.exit(2);
}

const width = 1120;
const last = { flames: "#flames .flame:not([hidden])" };

mkdirSync(out, { recursive: true });
const browser = await launch();
const { page, faults } = await open_report(browser, join(resolve(run), "report.html"), { width });
if ((await page.$("#flames")) !== null) await page.waitForSelector("#flames [data-loaded]");
await page.waitForTimeout(300);
await page.screenshot({ path: join(out, `${prefix}.png`) });
for (const section of sections) {
  const part = page.locator(`#${section}`);
  if ((await part.count()) === 0) throw new Error(`the report has no section ${section}`);
  const { x, y, width, height } = await part.boundingBox();
  const end = last[section] === undefined ? null : await page.locator(last[section]).boundingBox();
  const clip = { x, y, width, height: end === null ? height : end.y + end.height - y + 8 };
  await page.screenshot({ path: join(out, `${prefix}-${section}.png`), clip, fullPage: true });
}
if (faults.length > 0) throw new Error(faults.join("; "));
await browser.close();
