// A browser without network, and a page that remembers everything it should not have done.
import { createRequire } from "node:module";

const require = createRequire(new URL("../../templates/package.json", import.meta.url));
const { chromium } = require("playwright-core");

export const axe_source = require("axe-core").source;

export function launch() {
  return chromium.launch({
    executablePath: process.env.MEMDUEL_CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** Opens a report from disk and waits until it is drawn. `faults` grows with every console error,
 *  exception and request; `first` runs in the page before its own script. */
export async function open_report(browser, file, { width = 1200, scheme = "light", hash = "", first = () => {} } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: "reduce" });
  const faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error.stack)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") || request.resourceType() !== "document")
      if (!request.url().startsWith("blob:")) faults.push(`request: ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(first);
  await page.goto(`file://${file}${hash}`);
  await page.waitForSelector("body[data-ready]", { timeout: 30_000 });
  return { page, faults };
}
