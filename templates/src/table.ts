// A table of the document: numbers at the right, exact where one points, filters above, long ones in steps.

import { h, select } from "./dom";
import type { Cell, Column, PartOf, Row } from "./model";
import type { Place } from "./parts";
import { stack_nodes } from "./stack";
import { choose, chosen, key_of } from "./state";
import { text_nodes } from "./text";
import { track, track_legend } from "./track";

type Table = Omit<PartOf<"Table">, "kind">;

interface Drawn {
  part: Table;
  place: Place;
}

export function table(part: Table, place: Place): HTMLElement {
  const filters = filters_of(part, key_of(place.section.id, part.caption ?? ""));
  const body = h("tbody", {});
  const count = h("output", { class: "muted" });
  const show = (): void => {
    const rows = part.rows.filter((row) => filters.every(({ column, key, values }) => {
      const wanted = chosen(key, values, all);
      return wanted === all || words_of(row.cells[column]) === wanted;
    }));
    count.textContent = `${rows.length} of ${part.rows.length} rows`;
    body.replaceChildren();
    append_rows(body, rows, part.most_shown ?? rows.length, { part, place });
  };
  show();
  const controls = filters.map(({ label, key, values }) =>
    select(label, values.map((value) => ({ value, label: value })), chosen(key, values, all), (value) => {
      choose(key, value);
      show();
    }),
  );
  const head = h("thead", {}, h("tr", {}, ...part.columns.map(heading)));
  const drawn = h(
    "table",
    { class: classes(part) },
    part.caption === undefined ? null : h("caption", {}, part.caption),
    part.has_heading === true ? head : null,
    body,
  );
  return h(
    "div",
    {},
    controls.length === 0 ? null : h("div", { class: "controls" }, ...controls, count),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": part.caption ?? (place.section.title || "Results") }, drawn),
    track_legend(part.rows.flatMap(({ cells }) => cells.flatMap((cell) => cell.track ?? [])), place.looks),
  );
}

/** On a narrow screen each row of a table with many columns is a card. */
const most_narrow_columns = 3;

function classes({ columns, rows, look }: Table): string {
  const has = (kind: "track" | "stack"): boolean => rows.some(({ cells }) => cells.some((cell) => cell[kind] != null));
  const wide = columns.length > most_narrow_columns || has("track") || has("stack");
  return [look ?? "", has("track") ? "drawn" : "", wide ? "wide" : ""].filter((name) => name !== "").join(" ");
}

function heading({ title, is_number }: Column): HTMLElement {
  return h(title === "" ? "td" : "th", { scope: title === "" ? undefined : "col", class: is_number ? "number" : undefined }, title);
}

function row_of(row: Row, { part, place }: Drawn): HTMLElement {
  const cells = row.cells.map((cell, i) => cell_of(cell, i, part, place));
  return h("tr", { class: row.look, "data-key": row.key }, ...cells);
}

function cell_of(cell: Cell, at: number, { columns, has_heading }: Table, place: Place): HTMLTableCellElement {
  const { title = "", is_number = false } = columns[at] ?? {};
  const is_heading = at === 0 && !is_number && (cell.text.length > 0 || cell.stack != null);
  const kind = cell.track != null ? "track-cell" : cell.stack != null ? "stack" : is_number ? "number" : undefined;
  const text = text_nodes(cell.text);
  const has_label = has_heading === true && at > 0 && title !== "" && text.length > 0 && cell.stack == null;
  const content =
    cell.stack != null ? stack_nodes(cell.stack, text, place.model)
    : cell.value != null ? [h("data", { value: cell.value, "data-variant": cell.variant }, ...text)]
    : text;
  return h(
    is_heading ? "th" : "td",
    { scope: is_heading ? "row" : undefined, class: kind, title: cell.exact, "data-label": has_label ? title : undefined },
    ...content,
    cell.track == null ? null : track(cell.track, place.looks),
  );
}

const all = "all";

interface Filter {
  column: number;
  label: string;
  key: string;
  values: string[];
}

/** The text of a cell, as a filter offers it. */
function words_of(cell: Cell | undefined): string {
  return (cell?.text ?? []).map(({ text }) => text).join("");
}

function filters_of({ columns, rows }: Table, scope: string): Filter[] {
  return columns.flatMap(({ title, is_filter }, column) => {
    const values = [...new Set(rows.map((row) => words_of(row.cells[column])))];
    if (is_filter !== true || values.length < 2) return [];
    return [{ column, label: title, key: key_of(scope, title), values: [all, ...values] }];
  });
}

/** Rows beyond `most` only when they are asked for. */
function append_rows(body: HTMLElement, rows: Row[], most: number, drawn: Drawn): void {
  const next = rows.slice(0, most);
  body.append(...next.map((row) => row_of(row, drawn)));
  const left = rows.length - next.length;
  if (left === 0) return;
  const more = h("tr", {});
  const click = (): void => {
    more.remove();
    append_rows(body, rows.slice(most), most, drawn);
  };
  const label = most < left ? `Show ${most.toLocaleString("en")} more of ${left.toLocaleString("en")}` : `Show ${left.toLocaleString("en")} more`;
  more.append(h("td", { colspan: 99 }, h("button", { type: "button", click }, label)));
  body.append(more);
}
