// The heap over time, of tools that note it: one line per profile.

import { h } from "../dom";
import type { ProfileFacts } from "./data";
import { bytes_text } from "../format";

const width = 1000;
const height = 160;
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function svg(name: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** A value holds until the next one. */
function path(moments: [number, number][], last: number, most: number): string {
  const x = (at: number): string => ((at / last) * width).toFixed(1);
  const y = (bytes: number): string => (height - (bytes / most) * (height - 2)).toFixed(1);
  const steps = moments.map(([at, bytes], i) => `${i === 0 ? "M" : "H"}${x(at)}${i === 0 ? "," : "V"}${y(bytes)}`);
  return steps.join("");
}

/** Null where no profile has moments. */
export function moments_chart(profiles: ProfileFacts[]): HTMLElement | null {
  const shown = profiles.filter((profile) => profile.moments !== undefined);
  const all = shown.flatMap((profile) => profile.moments!);
  const most = all.reduce((largest, [, bytes]) => Math.max(largest, bytes), 0);
  const last = all.reduce((latest, [at]) => Math.max(latest, at), 0);
  if (most === 0 || last === 0) return null;
  const sentences = shown.map(({ name, moments }) => {
    const [at, bytes] = moments!.reduce((a, b) => (b[1] > a[1] ? b : a));
    return `${name}: at most ${bytes_text(bytes)}, at ${whole.format(at)} ms`;
  });
  const lines = shown.map((profile) =>
    svg("path", { d: path(profile.moments!, last, most), class: `moments-line profile-${profiles.indexOf(profile)}` }),
  );
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...lines);
  return h(
    "figure",
    { class: "moments" },
    chart,
    h("figcaption", { class: "muted" }, `${sentences.join("; ")}. From 0 to ${whole.format(last)} ms.`),
  );
}
