// Where the memory differs: the stacks of the profile trials that changed most.

import { h, section } from "./dom";
import { flame_link, function_cell } from "./flame_link";
import { count_text, exact_bytes } from "./format";
import type { DifferenceRow, DifferenceTable, FlamePair, ReportModel } from "./model";
import { FUNCTION_AND_CALLERS, OF_A_PROFILE_TRIAL } from "./words";

const first_rows = 5;

/** The flame graph's view that asks what a table of this kind asks. */
const views: Record<string, string> = { peak: "peak", live: "live", retained: "live-any", allocated: "allocated", allocations: "allocated" };

function row_of(row: DifferenceRow, key: string, table: DifferenceTable, flame: FlamePair | undefined): HTMLElement {
  return h(
    "tr",
    { "data-function": row.function },
    h("td", { class: "number" }, h("span", { class: `badge ${row.more ? "regressed" : "improved"}` }, `${row.more ? "▲ MORE" : "▼ LESS"}`), " ", h("data", { value: row.size, title: exact(row.size, table.kind) }, row.amount)),
    h("td", { class: "number" }, row.share),
    function_cell(row.function, row.caller, row.stack, flame_link(row.function, key, flame, views[table.kind] ?? "peak", "difference")),
    h("td", {}, row.phase === "" ? "–" : row.phase),
  );
}

/** Of what a row counts. */
function exact(size: number, kind: string): string {
  return kind === "allocations" ? count_text(size, "block") : exact_bytes(size);
}

function table_of(table: DifferenceTable, model: ReportModel): HTMLElement {
  const columns = ["difference", "of what differs", FUNCTION_AND_CALLERS, "phase"];
  const flame = model.flames.find(
    ({ id, role, variants }) => id !== "" && role === table.role && variants[1] === table.candidate,
  );
  const number = model.differences.indexOf(table);
  const rows = (some: DifferenceRow[]): HTMLElement =>
    h(
      "table",
      { class: "differences" },
      h("caption", {}, table.title),
      h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...some.map((row) => row_of(row, `where-${number}-${table.rows.indexOf(row)}`, table, flame))),
    );
  const rest = table.rows.slice(first_rows);
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `Difference of ${table.title}` },
    rows(table.rows.slice(0, first_rows)),
    rest.length === 0 ? null : h("details", { class: "raw" }, h("summary", {}, `${rest.length} more stacks`), rows(rest)),
    h("p", { class: "muted" }, `${table.remark.charAt(0).toUpperCase()}${table.remark.slice(1)}.`),
  );
}

/** The first table in full, the others folded: they are other roles. */
export function differences_section(model: ReportModel): HTMLElement[] {
  const [first, ...others] = model.differences;
  if (first === undefined) return [];
  return [
    section(
      "where",
      "Where it differs",
      h(
        "p",
        { class: "muted" },
        h("strong", {}, OF_A_PROFILE_TRIAL),
        " Stacks are matched by their functions, whatever their addresses and lines, so that two builds can be compared.",
      ),
      table_of(first, model),
      ...others.map((table) => h("details", { class: "raw" }, h("summary", {}, table.title), table_of(table, model))),
    ),
  ];
}
