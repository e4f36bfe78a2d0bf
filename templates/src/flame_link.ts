// From a function in a table to its boxes in the flame graph.

import { h } from "./dom";
import type { FlamePair } from "./model";
import { choose } from "./state";

/** A function of a table as the flame graph's search finds it: Python functions have no file there. */
function search_for(name: string): string {
  return `^${name.replace(/ \([^()]*\.py\)$/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`;
}

/** Nothing where the page has no such flame graph, or the function has no name. */
export function flame_link(name: string, flame: FlamePair | undefined, view: string, side: string): HTMLElement | null {
  if (flame === undefined || name.startsWith("[")) return null;
  const action = (): void => {
    const wanted = { flame: flame.id, view, side, round: "", phase: "", search: search_for(name), at: "flames" };
    for (const [key, value] of Object.entries(wanted)) choose(key, value);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return h("button", { type: "button", class: "link to-flame", "aria-label": `${name}: show it in the flame graph`, click: action }, "flame graph");
}

/** A function with its whole stack, outermost last, folded below it. */
export function function_cell(name: string, stack: string[], link: HTMLElement | null): HTMLElement {
  return h(
    "td",
    { class: "stack" },
    h(
      "details",
      {},
      h("summary", {}, h("code", {}, name)),
      h("ol", { reversed: true }, ...[...stack].reverse().map((frame) => h("li", {}, h("code", {}, frame)))),
    ),
    link,
  );
}
