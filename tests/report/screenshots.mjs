// node tests/report/screenshots.mjs RUN_DIR OUT_DIR: pictures of a run's report for README and docs.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

import { launch, open_report } from "./browser.mjs";

const [run, out] = process.argv.slice(2);
if (run === undefined || out === undefined) {
  console.error("usage: node tests/report/screenshots.mjs RUN_DIR OUT_DIR");
  process.exit(2);
}

const shots = [
  { name: "report.png", width: 1120, height: 900 },
  { name: "report-rounds.png", width: 1120, section: "rounds" },
];

mkdirSync(out, { recursive: true });
const browser = await launch();
for (const { name, section, height = 900, ...options } of shots) {
  const { page, faults } = await open_report(browser, join(resolve(run), "report.html"), options);
  await page.setViewportSize({ width: options.width, height });
  await page.waitForTimeout(300);
  const path = join(out, name);
  if (section === undefined) await page.screenshot({ path });
  else await page.locator(`#${section}`).screenshot({ path });
  if (faults.length > 0) throw new Error(`${name}: ${faults.join("; ")}`);
  await page.close();
}
await browser.close();
