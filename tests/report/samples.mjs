// Reports of made-up runs, each in a folder of its own, and what their results.json says.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { axe_source } from "./browser.mjs";

/** `kinds` as memduel-sample-report names them; "flame-…" is a page with a flame graph alone. */
export function make_samples(kinds) {
  const dir = mkdtempSync(join(tmpdir(), "memduel-report-"));
  for (const kind of kinds) execFileSync(process.env.MEMDUEL_SAMPLE_REPORT, [join(dir, kind), kind]);
  return {
    report: (kind) => join(dir, kind, kind.startsWith("flame-") ? "flame.html" : "report.html"),
    results: (kind) => JSON.parse(readFileSync(join(dir, kind, "results.json"), "utf8")),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** What axe-core finds, one line per rule. */
export async function violations(page) {
  await page.evaluate(axe_source);
  const { violations: found } = await page.evaluate(() => globalThis.axe.run());
  return found.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(" | ")}`);
}

export const unfold = (page) =>
  page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });

export const overflows = (page) => page.evaluate(() => document.scrollingElement.scrollWidth > innerWidth);
