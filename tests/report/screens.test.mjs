// Pictures of pages with unusual runs, held to those in screens/: a change of layout or colour has to be looked at.
// MEMDUEL_UPDATE_GOLDEN=1 writes them anew. Text is drawn in one font, because machines differ in theirs.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { launch, open_report } from "./browser.mjs";
import { make_samples, overflows } from "./samples.mjs";

const widths = [1280, 900, 390];
const printed = 794;
/** One picture of each kind. Between them they have every width, colour scheme and medium. */
const shots = {
  plain: { width: 1280, scheme: "light" },
  many: { width: 1280, scheme: "dark" },
  snapshots: { width: 900, scheme: "light" },
  hostile: { width: 390, scheme: "light" },
  "hostile-many": { width: 900, scheme: "dark" },
  zeros: { width: 390, scheme: "dark" },
  "one-trial": { width: 1280, scheme: "light" },
  "one-variant": { width: 900, scheme: "light" },
  unmarked: { width: 390, scheme: "light" },
  failed: { width: 1280, scheme: "dark" },
  empty: { width: 390, scheme: "dark" },
  running: { width: printed, scheme: "light", media: "print" },
};
const scale = 0.25;
const font = `*, *::before, *::after { font-family: "DejaVu Sans" !important; animation: none !important; transition: none !important; }`;
const folder = fileURLToPath(new URL("./screens/", import.meta.url));
const updating = process.env.MEMDUEL_UPDATE_GOLDEN === "1";

let browser;
let pictures;
let samples;
let judge;

before(async () => {
  samples = make_samples(Object.keys(shots));
  browser = await launch();
  pictures = await browser.newContext({ deviceScaleFactor: scale, reducedMotion: "reduce", bypassCSP: true });
  judge = await browser.newPage();
  mkdirSync(folder, { recursive: true });
});

after(async () => {
  await browser?.close();
  samples?.remove();
});

/** The share of the squares of 4 x 4 pixels whose mean brightness differs by more than a sixteenth; 1 for another width. Heights may
 *  differ by a fiftieth: a browser's update moves lines by fractions of a pixel. */
async function difference(before, after) {
  const urls = [before, after].map((bytes) => `data:image/jpeg;base64,${bytes.toString("base64")}`);
  return judge.evaluate(async (all) => {
    const square = 4;
    const drawn = [];
    for (const url of all) {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      drawn.push(context.getImageData(0, 0, image.width, image.height));
    }
    const [a, b] = drawn;
    if (a.width !== b.width || Math.abs(a.height - b.height) > a.height / 50) return 1;
    const mean = (picture, left, top) => {
      let sum = 0;
      for (let y = top; y < top + square; ++y)
        for (let x = left; x < left + square; ++x) for (let channel = 0; channel < 3; ++channel) sum += picture.data[(y * picture.width + x) * 4 + channel];
      return sum / (square * square * 3);
    };
    let squares = 0;
    let differ = 0;
    const height = Math.min(a.height, b.height);
    for (let y = 0; y + square <= height; y += square)
      for (let x = 0; x + square <= a.width; x += square) {
        ++squares;
        if (Math.abs(mean(a, x, y) - mean(b, x, y)) > 16) ++differ;
      }
    return differ / squares;
  }, urls);
}

describe("pages look as their pictures", () => {
  for (const [kind, { width, scheme, media = "screen" }] of Object.entries(shots))
    test(kind, async () => {
      const name = `${kind}-${media === "print" ? media : `${width}-${scheme}`}.jpg`;
      const { page, faults } = await open_report(pictures, samples.report(kind));
      await page.addStyleTag({ content: font });
      for (const [each, medium] of [...widths.map((one) => [one, "screen"]), [printed, "print"], [width, media]]) {
        await page.setViewportSize({ width: each, height: 900 });
        await page.emulateMedia({ colorScheme: scheme, media: medium });
        await page.waitForTimeout(100);
        assert.equal(await overflows(page), false, `${each} px, ${medium}: wider than the window`);
      }
      const picture = await page.screenshot({ fullPage: true, type: "jpeg", quality: 50 });
      if (updating) writeFileSync(folder + name, picture);
      assert.ok(existsSync(folder + name), `no picture ${folder}${name}`);
      const differs = await difference(readFileSync(folder + name), picture);
      if (differs > 0.01) writeFileSync(name, picture);
      assert.ok(differs <= 0.01, `${(100 * differs).toFixed(1)}% of ${name} looks otherwise; the new picture is ${process.cwd()}/${name}`);
      assert.deepEqual(faults, []);
      await page.close();
    });
});
