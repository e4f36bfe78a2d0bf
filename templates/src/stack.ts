// A stack of calls: its function, what called it, where it is, the whole of it folded, and the way to its flame graph.

import { h } from "./dom";
import type { TableStack } from "./flame/stack";
import type { Cell, Part, ReportDocument, ReportModel, Row, StackCell } from "./model";
import { choose } from "./state";

const keys = new Map<StackCell, string>();
const stacks = new Map<string, TableStack>();

/** Names every stack for the URL by its section and its number there. Once, before anything is drawn. */
export function name_stacks({ first_screen, details }: ReportDocument): void {
  for (const section of [...first_screen, ...details]) {
    let number = 0;
    for (const row of section.parts.flatMap(rows_of)) {
      for (const { stack } of row.cells) {
        if (stack == null) continue;
        const key = `${section.id}-${number++}`;
        keys.set(stack, key);
        stacks.set(key, as_table_stack(stack, row.cells));
      }
    }
  }
}

function rows_of(part: Part): Row[] {
  if (part.kind === "Table") return part.rows;
  if (part.kind === "Fold") return part.parts.flatMap(rows_of);
  if (part.kind === "Choice") return part.options.flatMap((option) => option.parts.flatMap(rows_of));
  return [];
}

function as_table_stack({ frames, side }: StackCell, cells: Cell[]): TableStack {
  const amount = cells.find(({ value }) => value != null);
  const words = (amount?.text ?? []).map(({ text }) => text).join("");
  const of_both = side === undefined || side === "difference";
  return { stack: frames, amount: words, ...(of_both && amount?.value != null ? { size: amount.value } : {}) };
}

export function stack_of(key: string): TableStack | undefined {
  return stacks.get(key);
}

/** `words` in place of the function, if there are any. */
export function stack_nodes(stack: StackCell, words: (Node | string)[], model: ReportModel): (Node | null)[] {
  const location = stack.location === undefined ? [] : [" ", h("code", { class: "location" }, stack.location)];
  const name = words.length > 0 ? words : [h("code", {}, stack.function), ...location, ...callers(stack.callers ?? [])];
  const frames = [...stack.frames].reverse().map((frame) => h("li", {}, h("code", {}, frame)));
  const whole =
    frames.length < 2
      ? h("span", {}, ...name)
      : h("details", { class: "long" }, h("summary", {}, ...name), h("ol", { reversed: true }, ...frames));
  return [whole, flame_link(stack, model)];
}

function callers(names: string[]): (Node | string)[] {
  if (names.length === 0) return [];
  const all = names.flatMap((name, i) => [i === 0 ? "" : " ← ", h("code", {}, name)]);
  return [" ", h("span", { class: "caller" }, "called from ", ...all)];
}

/** Nothing where the page has no such flame graph. */
function flame_link(stack: StackCell, model: ReportModel): HTMLElement | null {
  const { flame, view = "", side = "" } = stack;
  if (flame === undefined || !model.flames.some(({ id }) => id === flame)) return null;
  const cleared = ["round", "phase", "thread", "order", "around", "frames", "focus", "ignore", "hide", "search", "zoom"];
  const click = (): void => {
    for (const key of cleared) choose(key, "");
    const at = document.querySelector(".flames")?.closest("section")?.id ?? "";
    for (const [key, value] of Object.entries({ flame, view, side, stack: keys.get(stack) ?? "", at })) choose(key, value);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return h("button", { type: "button", class: "link to-flame", "aria-label": `${stack.function}: show this stack in the flame graph`, click }, "flame graph");
}
