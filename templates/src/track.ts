// Numbers on a line: dots of trials, medians and intervals, a lane for each variant; bars of amounts.

import { h, s } from "./dom";
import type { Track, TrackMark } from "./model";
import { mark_path, swatch, type VariantLook, type VariantLooks } from "./variants";

const lane_height = 11;
const bar_height = 16;
const radius = 3.5;
/** Of a bar or band, in parts of the track: about a pixel. */
const least_width = 0.003;

function percent(position: number): string {
  return `${(100 * position).toFixed(2)}%`;
}

/** Variants of the marks, in the order of all charts. */
function variants_in(marks: TrackMark[], looks: VariantLooks): VariantLook[] {
  const named = new Set(marks.map(({ variant }) => variant));
  return [...looks.values()].filter(({ name }) => named.has(name));
}

export function track({ marks }: Track, looks: VariantLooks): SVGSVGElement {
  const lanes = variants_in(marks.filter(({ kind }) => kind !== "bar"), looks);
  const height = lanes.length === 0 ? bar_height : Math.max(bar_height, lanes.length * lane_height);
  const middle_of = (lane: number): number => (height * (2 * lane + 1)) / (2 * Math.max(lanes.length, 1));
  const svg = s("svg", { class: "track", height, "aria-hidden": "true" });
  if (lanes.length === 0) svg.append(s("rect", { class: "ground", width: "100%", height }));
  lanes.forEach((_, lane) => svg.append(s("line", { class: "grid", x1: 0, x2: "100%", y1: middle_of(lane), y2: middle_of(lane) })));
  const order = ["margin", "range", "bar", "dot", "median"];
  for (const mark of [...marks].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))) {
    const lane = lanes.findIndex(({ name }) => name === mark.variant);
    const own = lane < 0 ? { middle: height / 2, height } : { middle: middle_of(lane), height: Math.max(lane_height, height / lanes.length) };
    svg.append(shape(mark, looks.get(mark.variant ?? ""), own));
  }
  return svg;
}

function shape(mark: TrackMark, look: VariantLook | undefined, lane: { middle: number; height: number }): SVGElement {
  const paint = { class: `${mark.kind} ${look === undefined ? (mark.tone ?? "") : ""}`.trim(), fill: look === undefined ? undefined : `var(${look.color})` };
  const [from, to] = [Math.min(mark.from, mark.to), Math.max(mark.from, mark.to)];
  const box = (height: number): SVGElement =>
    s("rect", { ...paint, x: percent(from), width: percent(Math.max(to - from, least_width)), y: lane.middle - height / 2, height });
  switch (mark.kind) {
    case "dot":
      return s("svg", { x: percent(from), y: lane.middle, overflow: "visible" }, s("path", { ...paint, d: mark_path(look?.mark ?? "circle", 0, 0, radius) }));
    case "median":
      return s("svg", { x: percent(from), y: lane.middle - lane.height / 2, overflow: "visible" }, s("rect", { ...paint, x: -1, width: 2, height: lane.height }));
    case "margin":
      return box(lane.height);
    case "range":
      return box(lane.height - 2);
    case "bar":
      return box(lane.height - 4);
  }
}

const words: Partial<Record<TrackMark["kind"], string>> = {
  dot: "each mark is one trial; each metric has its own scale",
  median: "bar: median",
  range: "band: 95% CI of the change",
  margin: "grey: margin",
};

/** What dots and bands mean; bars have their names and amounts beside them. */
export function track_legend(tracks: Track[], looks: VariantLooks): HTMLElement | null {
  const marks = tracks.flatMap((one) => one.marks);
  const kinds = new Set(marks.map(({ kind }) => kind));
  const meanings = Object.entries(words).filter(([kind]) => kinds.has(kind as TrackMark["kind"]));
  if (meanings.length === 0) return null;
  const variants = variants_in(marks, looks).map((look) => h("span", {}, swatch(look), ` ${look.name}`));
  return h("p", { class: "track-legend muted" }, ...variants, h("span", {}, meanings.map(([, meaning]) => meaning).join(" · ")));
}
