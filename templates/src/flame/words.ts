// Amounts and differences as the page says them.

import { bytes_text, bytes_with_interval, exact_bytes, seconds } from "../format";
import type { FlameModel, Unit, View } from "./data";
import type { Tree } from "./tree";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

let counted_in: Unit = "bytes";

/** Of all profiles of the page. */
export function use_unit(unit: Unit): void {
  counted_in = unit;
}

/** "bytes", "time" or "samples". */
export function amount_word(): string {
  return counted_in === "nanoseconds" ? "time" : counted_in;
}

/** For a title attribute: nothing rounded. */
export function exact_amount(amount: number): string {
  return counted_in === "bytes" ? exact_bytes(amount) : `${whole.format(amount)} ${counted_in}`;
}

/** As `memduel summary` prints it: 512 B, 41.3 KiB, 1.25 GiB; 0.35 s; 17. */
export function amount_text(amount: number): string {
  if (counted_in === "nanoseconds") return seconds(amount * 1e-9);
  return counted_in === "samples" ? whole.format(amount) : bytes_text(amount);
}

export function with_interval(amount: number, half_width: number): string {
  if (counted_in === "bytes") return bytes_with_interval(amount, half_width);
  return half_width > 0 ? `${amount_text(amount)} ± ${amount_text(half_width)}` : amount_text(amount);
}

/** Half of a 95% interval. */
export function half_width(variance: number): number {
  return 1.959964 * Math.sqrt(variance);
}

/** "+1.20 MiB", "−34.3 ± 5.6 MiB" or "unchanged"; of a sampled difference whose interval (± `half`)
 *  includes zero "unchanged within ±2.00 MiB". */
export function difference_text(before: number, after: number, half = 0): string {
  const difference = after - before;
  if (difference === 0) return "unchanged";
  if (Math.abs(difference) <= half) return `unchanged within ±${amount_text(half)}`;
  return (difference > 0 ? "+" : "") + with_interval(difference, half);
}

/** The same of a box in two profiles. */
export function box_difference(tree: Tree, node: number): string {
  const [a, b] = tree.sides;
  if (a === undefined || b === undefined) return "";
  return difference_text(a.total[node]!, b.total[node]!, half_width(a.variance[node]! + b.variance[node]!));
}

export function percent(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(1)}%` : "–";
}

export function view_key(view: View): string {
  const of = view.end !== undefined ? `-${view.born ?? "any"}-${view.end}` : view.round !== undefined ? `-${view.round}` : "";
  return `${view.kind}${of}${view.heap === "malloc" ? "" : `-${view.heap}`}`;
}

export function view_label(view: View): string {
  const heap = view.heap === "mapped" ? "mapped memory " : "";
  if (view.end !== undefined && view.born === undefined) {
    const since = (view.since ?? 1) > 1 ? `, allocated in round ${view.since} or later, or outside rounds` : "";
    return `live at the end of round ${view.end}${since}`;
  }
  if (view.end !== undefined) {
    const born = view.born === 0 ? "outside rounds" : `in round ${view.born}`;
    return `allocated ${born}, live at the end of round ${view.end}`;
  }
  if (counted_in !== "bytes") return counted_in === "nanoseconds" ? "CPU time" : "samples";
  if (view.round !== undefined) return `live at the peak of round ${view.round}`;
  switch (view.kind) {
    case "peak":
      return view.heap === "heap_and_mapped" ? "heap and mapped memory at their peak" : `${heap}live at peak`;
    case "live":
      return `${heap}live at end`;
    case "allocated":
      return `${heap}allocated`;
    case "temporary":
      return `${heap}temporary`;
    case "resident":
      return "resident near the peak, by owner";
  }
}

export function frame_name(model: FlameModel, tree: Tree, node: number): string {
  return node === 0 ? "all" : (model.frames.names[tree.frame[node]!] ?? "?");
}

/** As people say it: without parameters and what stands in angle brackets. */
export function short_name(model: FlameModel, frame: number): string {
  return model.frames.shorts[frame] || (model.frames.names[frame] ?? "?");
}

/** What a box says: its function, and what it has or differs by. */
export function box_label(model: FlameModel, tree: Tree, node: number): { name: string; amount: string } {
  const name = node === 0 ? "all" : short_name(model, tree.frame[node]!);
  const [a, b] = tree.sides;
  if (b === undefined) return { name, amount: amount_text(a?.total[node] ?? 0) };
  return { name, amount: box_difference(tree, node) };
}

/** One sentence about a box. */
export function describe(model: FlameModel, tree: Tree, node: number): string {
  const [a, b] = tree.sides;
  if (a === undefined) return "";
  const place = node === 0 ? "" : model.frames.places[tree.frame[node]!];
  const name = frame_name(model, tree, node) + (place ? ` in ${place}` : "");
  const amount = (side: typeof a): string => with_interval(side.total[node]!, half_width(side.variance[node]!));
  const share = (side: typeof a): string => percent(side.total[node]!, side.total[0]!);
  if (b !== undefined) {
    const names = model.profiles.map((profile) => profile.name);
    return (
      `${name}: ${box_difference(tree, node)} (${amount(a)}, ${share(a)} of all in ${names[0]}; ` +
      `${amount(b)}, ${share(b)} of all in ${names[1]})`
    );
  }
  const blocks = `${whole.format(a.blocks[node]!)} ${counted_in === "bytes" ? "allocations" : "samples"}, `;
  const count = model.profiles[tree.profiles[0]!]!.counted && counted_in !== "samples" ? blocks : "";
  return `${name}: ${amount(a)}, ${share(a)}, ${count}${exact_amount(a.total[node]!)}`;
}
