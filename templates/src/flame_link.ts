// From a stack in a table to its boxes in the flame graph.

import { h } from "./dom";
import type { TableStack } from "./flame/stack";
import type { FlamePair, ReportModel } from "./model";
import { choose } from "./state";

/** Names a row's stack in the URL: of differences "where-TABLE-ROW", of growth "growth-SERIES-ROW", of a waterfall "resident-TABLE-STEP". */
export function stack_of(model: ReportModel, key: string): TableStack | undefined {
  const [kind, table = "", row = ""] = key.split("-");
  if (kind === "where") return model.differences[Number(table)]?.rows[Number(row)];
  if (kind === "growth") return model.growth_lines[Number(table)]?.stacks[Number(row)];
  if (kind === "resident") return model.resident[Number(table)]?.steps[Number(row)];
  return undefined;
}

/** `view` begins with one of the graph's views, `key` names the stack. Nothing where the page has no such flame graph. */
export function flame_link(name: string, key: string, flame: FlamePair | undefined, view: string, side: string): HTMLElement | null {
  if (flame === undefined) return null;
  const action = (): void => {
    const wanted = { flame: flame.id, view, side, round: "", phase: "", thread: "", order: "", around: "", frames: "", focus: "", ignore: "", hide: "", search: "", zoom: "", stack: key, at: "flames" };
    for (const [part, value] of Object.entries(wanted)) choose(part, value);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return h("button", { type: "button", class: "link to-flame", "aria-label": `${name}: show this stack in the flame graph`, click: action }, "flame graph");
}

/** A function, for whom it works, and its whole stack, outermost last, folded below it. */
export function function_cell(name: string, caller: string, stack: string[], link: HTMLElement | null): HTMLElement {
  return h(
    "td",
    { class: "stack" },
    h(
      "details",
      { class: "raw" },
      h("summary", {}, h("code", {}, name), caller === "" ? null : h("span", { class: "caller" }, " for ", h("code", {}, caller))),
      h("ol", { reversed: true }, ...[...stack].reverse().map((frame) => h("li", {}, h("code", {}, frame)))),
    ),
    link,
  );
}
