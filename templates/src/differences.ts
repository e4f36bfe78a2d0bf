// Where the memory differs: the stacks of the profile trials that changed most.

import { h, section } from "./dom";
import type { DifferenceRow, DifferenceTable, ReportModel } from "./model";

function row_of(row: DifferenceRow): HTMLElement {
  return h(
    "tr",
    { "data-function": row.function },
    h("td", { class: "number" }, h("span", { class: `badge ${row.more ? "regressed" : "improved"}` }, `${row.more ? "▲ MORE" : "▼ LESS"}`), ` ${row.amount}`),
    h("td", { class: "number" }, row.share),
    h(
      "td",
      { class: "stack" },
      h(
        "details",
        {},
        h("summary", {}, h("code", {}, row.function)),
        h("ol", { reversed: true }, ...[...row.stack].reverse().map((name) => h("li", {}, h("code", {}, name)))),
      ),
    ),
    h("td", {}, row.phase === "" ? "–" : row.phase),
  );
}

function table_of(table: DifferenceTable): HTMLElement {
  const columns = ["difference", "of all", "function, and who calls it", "phase"];
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `Difference of ${table.title}` },
    h(
      "table",
      { class: "differences" },
      h("caption", {}, table.title),
      h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...table.rows.map(row_of)),
    ),
    h("p", { class: "muted" }, `${table.remark.charAt(0).toUpperCase()}${table.remark.slice(1)}.`),
  );
}

export function differences_section(model: ReportModel): HTMLElement[] {
  if (model.differences.length === 0) return [];
  return [
    section(
      "where",
      "Where it differs",
      h(
        "p",
        { class: "muted" },
        "From profile trials, which stay out of the statistics. Stacks are matched by their functions, whatever " +
          "their addresses and lines, so that two builds can be compared.",
      ),
      ...model.differences.map(table_of),
    ),
  ];
}
