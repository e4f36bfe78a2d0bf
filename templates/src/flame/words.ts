// Amounts and differences as the page says them.

import { exact_bytes } from "../format";
import type { FlameModel, View } from "./data";
import type { Tree } from "./tree";

const units = ["B", "KiB", "MiB", "GiB", "TiB"];

/** As `memduel summary` prints it: 512 B, 41.3 KiB, 1.25 GiB. */
export function bytes_text(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; Math.abs(value) >= 1024 && unit + 1 < units.length; ++unit) value /= 1024;
  const digits = unit === 0 ? 0 : Math.abs(value) < 10 ? 2 : 1;
  return `${value.toFixed(digits).replace("-", "−")} ${units[unit]}`;
}

export function with_interval(bytes: number, half_width: number): string {
  return half_width > 0 ? `${bytes_text(bytes)} ± ${bytes_text(half_width)}` : bytes_text(bytes);
}

/** "1.20 MiB MORE", "3 B LESS" or "the same". */
export function difference_text(before: number, after: number): string {
  const difference = after - before;
  if (difference === 0) return "the same";
  return `${bytes_text(Math.abs(difference))} ${difference > 0 ? "MORE" : "LESS"}`;
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "–";
}

export function view_key(view: View): string {
  const of = view.end !== undefined ? `-${view.born}-${view.end}` : view.round !== undefined ? `-${view.round}` : "";
  return `${view.kind}${of}${view.heap === "mapping" ? "-mapping" : ""}`;
}

export function view_label(view: View): string {
  const heap = view.heap === "mapping" ? "mappings " : "";
  if (view.end !== undefined) {
    const born = view.born === 0 ? "outside rounds" : `in round ${view.born}`;
    return `born ${born}, live at the end of round ${view.end}`;
  }
  if (view.round !== undefined) return `live at the peak of round ${view.round}`;
  switch (view.kind) {
    case "peak":
      return `${heap}live at peak`;
    case "live":
      return `${heap}live at end`;
    case "allocated":
      return `${heap}allocated`;
    case "temporary":
      return `${heap}temporary`;
  }
}

export function frame_name(model: FlameModel, tree: Tree, node: number): string {
  return node === 0 ? "all" : (model.frames.names[tree.frame[node]!] ?? "?");
}

/** One sentence about a box. */
export function describe(model: FlameModel, tree: Tree, node: number): string {
  const [a, b] = tree.sides;
  if (a === undefined) return "";
  const place = node === 0 ? "" : model.frames.places[tree.frame[node]!];
  const name = frame_name(model, tree, node) + (place ? ` in ${place}` : "");
  const half_width = (side: typeof a): number => 1.959964 * Math.sqrt(side.variance[node]!);
  const amount = (side: typeof a): string => with_interval(side.total[node]!, half_width(side));
  if (b !== undefined) {
    const names = model.profiles.map((profile) => profile.name);
    return `${name}: ${difference_text(a.total[node]!, b.total[node]!)} (${amount(a)} in ${names[0]}, ${amount(b)} in ${names[1]})`;
  }
  const share = percent(a.total[node]!, a.total[0]!);
  const blocks = Math.round(a.blocks[node]!).toLocaleString("en");
  return `${name}: ${amount(a)}, ${share}, ${blocks} blocks, ${exact_bytes(a.total[node]!)}`;
}
