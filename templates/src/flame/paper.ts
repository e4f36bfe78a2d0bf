// The graph for a printer.

import { css_color } from "../variants";
import { s } from "../dom";
import type { FlameModel } from "./data";
import { fill_of, row_height } from "./paint";
import type { Tree } from "./tree";
import { box_label } from "./words";

/** Of a tree what lies under a box, for paper: rows of boxes with their labels, wide enough to be seen. */
export function drawing(model: FlameModel, tree: Tree, zoomed: number): SVGSVGElement {
  const width = 1000;
  const least = 2;
  const scale = tree.width[zoomed]! > 0 ? width / tree.width[zoomed]! : 0;
  const boxes: SVGElement[] = [];
  let deepest = 0;
  for (let i = zoomed; i < tree.end[zoomed]!; ) {
    const wide = tree.width[i]! * scale;
    if (wide < least) {
      i = tree.end[i]!;
      continue;
    }
    const row = tree.depth[i]! - tree.depth[zoomed]!;
    deepest = Math.max(deepest, row);
    const x = (tree.left[i]! - tree.left[zoomed]!) * scale;
    const { name, amount } = box_label(model, tree, i);
    const text = `${name}  ${amount}`.slice(0, Math.floor((wide - 6) / 6));
    boxes.push(
      s("rect", { x, y: row * row_height, width: wide - 1, height: row_height - 1, fill: css_color(fill_of(model, tree, i)), stroke: "#666", "stroke-width": 0.3 }),
      ...(text.length < 3 ? [] : [s("text", { x: x + 3, y: row * row_height + 14, "font-size": 11, fill: css_color("--text") }, text)]),
    );
    ++i;
  }
  return s("svg", { class: "flame-print", viewBox: `0 0 ${width} ${(deepest + 1) * row_height}`, "aria-hidden": "true" }, ...boxes);
}

/** Makes the drawings for paper of all graphs of the page. */
export function draw_for_paper(): void {
  for (const graph of document.querySelectorAll(".flame")) graph.dispatchEvent(new Event("paper"));
}
