// How boxes look, on the screen and on paper.

import type { FlameModel } from "./data";
import type { Tree } from "./tree";
import { half_width } from "./words";

export const row_height = 20;
const python_kind = 1;

/** The custom property with a box's colour: by name, or by how much the profiles differ. */
export function fill_of(model: FlameModel, tree: Tree, node: number): string {
  const [a, b] = tree.sides;
  if (a !== undefined && b !== undefined) {
    const difference = b.total[node]! - a.total[node]!;
    const share = Math.abs(difference) / Math.max(a.total[node]!, b.total[node]!, 1);
    const unsure = Math.abs(difference) <= half_width(a.variance[node]! + b.variance[node]!);
    if (share < 0.005 || unsure) return "--neutral-soft";
    return `--${difference > 0 ? "more" : "less"}-${share > 0.5 ? "much" : "little"}`;
  }
  if (node === 0) return "--neutral-soft";
  const frame = tree.frame[node]!;
  if (model.frames.kinds[frame] === python_kind) return "--flame-python";
  const name = model.frames.names[frame] ?? "";
  if (name.includes("+0x") || name.startsWith("[")) return "--flame-unknown";
  let hash = 0;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return `--flame-${hash % 4}`;
}
