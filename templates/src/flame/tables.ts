// What the graph shows, as tables: the functions with most bytes, and what survived which round.

import { h } from "../dom";
import { count_text } from "../format";
import type { FlameModel, View } from "./data";
import type { FrameAmounts } from "./tree";
import {
  amount_text,
  amount_word,
  difference_text,
  exact_amount,
  half_width,
  percent,
  short_name,
  view_label,
} from "./words";

const most_rows = 40;

function number_cell(bytes: number): HTMLElement {
  return h("td", { class: "number", title: exact_amount(bytes) }, h("data", { value: bytes }, amount_text(bytes)));
}

function button(text: string, label: string, on_click: () => void): HTMLElement {
  return h("button", { type: "button", class: "link", "aria-label": label, click: on_click }, text);
}

/** A column's head, which sorts its table by what the column holds: numbers from the largest, texts from A. */
function sorter(text: string, column: number): HTMLElement {
  const on_click = (event: Event): void => {
    if (!(event.currentTarget instanceof HTMLElement)) return;
    const head = event.currentTarget.closest("th")!;
    const body = head.closest("table")!.tBodies[0]!;
    const again = head.getAttribute("aria-sort") === "descending";
    const cell = (row: HTMLTableRowElement): HTMLElement => row.cells[column]!;
    const number = (row: HTMLTableRowElement): number => Number(cell(row).querySelector("data")?.value ?? cell(row).dataset["value"] ?? NaN);
    const rows = [...body.rows].sort((a, b) =>
      Number.isNaN(number(a)) ? cell(a).textContent!.localeCompare(cell(b).textContent!) : number(b) - number(a),
    );
    body.replaceChildren(...(again ? rows.reverse() : rows));
    for (const other of head.parentElement!.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", again ? "ascending" : "descending");
  };
  return h("button", { type: "button", class: "sort", click: on_click }, text);
}

/** Functions with most bytes of their own; of two profiles (their numbers are `profiles`) those that
 *  changed most. */
export function functions_table(
  model: FlameModel,
  profiles: number[],
  rows: FrameAmounts[],
  whole: number,
  on_find: (name: string) => void,
  on_around: (name: string) => void,
): HTMLElement {
  const two = profiles.length === 2;
  const weight = ({ own, total }: FrameAmounts): number =>
    two ? Math.abs(own[1]! - own[0]!) : own[0]! > 0 ? own[0]! : total[0]! * 1e-9;
  const unsure = ({ own, variance }: FrameAmounts): boolean => two && Math.abs(own[1]! - own[0]!) <= half_width(variance);
  const weighty = rows.filter((row) => weight(row) > 0).sort((x, y) => weight(y) - weight(x));
  const shown = weighty.filter((row) => !unsure(row)).slice(0, most_rows);
  const within = weighty.filter(unsure).slice(0, most_rows);
  const heads = two
    ? ["function", "difference", ...profiles.map((profile) => model.profiles[profile]!.name), "callers, callees", "where"]
    : ["function", `own ${amount_word()}`, "share", "with all it calls", "callers, callees", "where"];
  const cells = ({ own, total, variance }: FrameAmounts): HTMLElement[] =>
    two
      ? [
          h("td", { class: "number", title: exact_amount(own[1]! - own[0]!), "data-value": own[1]! - own[0]! }, difference_text(own[0]!, own[1]!, half_width(variance))),
          number_cell(own[0]!),
          number_cell(own[1]!),
        ]
      : [number_cell(own[0]!), h("td", { class: "number", "data-value": own[0]! }, percent(own[0]!, whole)), number_cell(total[0]!)];
  const table = (some: FrameAmounts[], label: string): HTMLElement =>
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
      h(
        "table",
        { class: "functions" },
        h("thead", {}, h("tr", {}, ...heads.map((text, column) => h("th", { scope: "col" }, sorter(text, column))))),
        h(
          "tbody",
          {},
          ...some.map((row) => {
            const name = model.frames.names[row.frame] ?? "?";
            const said = short_name(model, row.frame);
            return h(
              "tr",
              {},
              h("th", { scope: "row", title: name }, button(said, `${said}: find it in the graph`, () => on_find(name))),
              ...cells(row),
              h("td", {}, button("around", `around ${said}: its callers and what it calls`, () => on_around(name))),
              h("td", { class: "muted" }, model.frames.places[row.frame] || "–"),
            );
          }),
        ),
      ),
    );
  return h(
    "div",
    {},
    table(shown, "Table of functions"),
    within.length === 0
      ? null
      : h(
          "details",
          { class: "long" },
          h("summary", {}, `${count_text(within.length, "function")} whose difference is within the sampling error`),
          table(within, "Functions within the sampling error"),
        ),
  );
}

/** Of a retention cell what the profiles that are shown have. */
function cell_text(view: View, profiles: number[]): { text: string; title: string; bytes: number } {
  const totals = profiles.map((profile) => view.totals[profile]!);
  const [a, b] = totals;
  if (a === undefined) return { text: "–", title: "", bytes: 0 };
  if (b === undefined) return { text: amount_text(a.bytes), title: exact_amount(a.bytes), bytes: a.bytes };
  const half = Math.hypot(a.half_width, b.half_width);
  return {
    text: difference_text(a.bytes, b.bytes, half),
    title: `${exact_amount(a.bytes)} before, ${exact_amount(b.bytes)} after`,
    bytes: b.bytes - a.bytes,
  };
}

/** What a leak looks like in one sentence: the round that leaves most to the end. */
function retention_sentence(cells: Map<View, { text: string; bytes: number }>, last: number): string {
  const staying = [...cells].filter(
    ([view, { text, bytes }]) => view.end === last && view.born !== 0 && view.born !== last && bytes !== 0 && !text.startsWith("unchanged"),
  );
  const [first, ...others] = staying;
  if (first === undefined) return `No earlier round has a measurable amount live at the end of round ${last}.`;
  const [view, { text }] = others.reduce((most, one) => (Math.abs(one[1].bytes) > Math.abs(most[1].bytes) ? one : most), first);
  return `Of the earlier rounds, round ${view.born} has the most live at the end of round ${last}: ${text}.`;
}

/** Bytes allocated in a round (down) and live at the end of a round (across); null without rounds. */
export function retention_table(views: View[], profiles: number[], on_view: (view: View) => void): HTMLElement | null {
  const cells = views.filter((view) => view.born !== undefined);
  if (cells.length === 0) return null;
  const in_order = (numbers: (number | undefined)[]): number[] =>
    [...new Set(numbers.filter((n) => n !== undefined))].sort((x, y) => x - y);
  const births = in_order(cells.map((view) => view.born));
  const ends = in_order(cells.map((view) => view.end));
  const shown = new Map(cells.map((view) => [view, cell_text(view, profiles)]));
  const most = Math.max(1, ...[...shown.values()].map(({ bytes }) => Math.abs(bytes)));
  const cell = (born: number, end: number): HTMLElement => {
    const view = cells.find((candidate) => candidate.born === born && candidate.end === end);
    const content = view === undefined ? undefined : shown.get(view);
    if (view === undefined || content === undefined) return h("td", { class: "number muted" }, "–");
    const text = button(content.text, `${content.text}: show what is ${view_label(view)}`, () => on_view(view));
    const td = h(
      "td",
      { class: "number", title: content.title, "data-born": born, "data-end": end, "data-bytes": content.bytes },
      text,
    );
    const strength = Math.round((Math.abs(content.bytes) / most) * 100);
    const color = profiles.length < 2 ? "--flame-0" : content.bytes > 0 ? "--more-little" : "--less-little";
    td.style.background = `color-mix(in srgb, var(${color}) ${strength}%, transparent)`;
    return td;
  };
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of rounds" },
    h("p", { class: "retention-verdict" }, retention_sentence(shown, ends.at(-1)!)),
    h(
      "table",
      { class: "retention" },
      h(
        "thead",
        {},
        h("tr", {}, h("th", { scope: "col" }, "allocated in \\ live at the end of"), ...ends.map((end) => h("th", { scope: "col", class: "number" }, `round ${end}`))),
      ),
      h(
        "tbody",
        {},
        ...births.map((born) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, born === 0 ? "outside rounds" : `round ${born}`),
            ...ends.map((end) => cell(born, end)),
          ),
        ),
      ),
    ),
  );
}
