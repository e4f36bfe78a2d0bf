// Tracers side by side: what each says of the same program, and what it counts.

import { h, section } from "./dom";
import type { AgreementRow, AgreementStackRow, AgreementTable, ReportModel } from "./model";
import { FUNCTION_AND_CALLERS } from "./words";

function amount_cell({ amount, change }: AgreementRow["amounts"][number]): HTMLElement {
  return h("td", { class: "number" }, amount, ...(change === "" ? [] : [h("br", {}), h("span", { class: "muted" }, change)]));
}

/** What one tracer says, and below it over the whole width what it counts. */
function tracer_rows(row: AgreementRow): HTMLElement {
  return h(
    "tbody",
    { "data-tracer": row.tracer },
    h(
      "tr",
      {},
      h("th", { scope: "rowgroup" }, row.tracer, row.tool === row.tracer ? "" : h("span", { class: "muted" }, ` ${row.tool}`)),
      ...row.amounts.map(amount_cell),
      h("td", {}, row.stacks === "" ? "the reference" : row.stacks),
    ),
    h(
      "tr",
      { class: "counts" },
      h("td", { colspan: "5" }, h("span", { class: "muted" }, row.counts)),
    ),
  );
}

function stack_row(row: AgreementStackRow): HTMLElement {
  return h(
    "tr",
    { "data-function": row.function },
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
    h("td", {}, row.question),
    ...row.amounts.map((amount) => h("td", { class: "number" }, amount)),
  );
}

function heads(names: string[]): HTMLElement {
  return h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, name))));
}

function scrolled(label: string, table: HTMLElement): HTMLElement {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

function table_of(table: AgreementTable): HTMLElement {
  const columns = ["tracer", "peak", "allocated", "live at end", `stacks of ${table.reference}`];
  const tracers = table.rows.map((row) => row.tracer);
  return h(
    "div",
    {},
    scrolled(
      `Tracers of ${table.title}`,
      h("table", { class: "agreement" }, h("caption", {}, table.title), heads(columns), ...table.rows.map(tracer_rows)),
    ),
    table.stacks.length === 0
      ? ""
      : h(
          "details",
          {},
          h("summary", {}, `The largest stacks of ${table.reference}, and what the others have there`),
          scrolled(
            `Stacks of ${table.title}`,
            h("table", { class: "agreement-stacks" }, heads([FUNCTION_AND_CALLERS, "question", ...tracers]), h("tbody", {}, ...table.stacks.map(stack_row))),
          ),
        ),
  );
}

export function agreement_section(model: ReportModel): HTMLElement[] {
  const [first, ...others] = model.agreement;
  if (first === undefined) return [];
  return [
    section(
      "agreement",
      "Tracers side by side",
      h(
        "p",
        { class: "muted" },
        "The same program under several tracers. Two right tools give different numbers where they count different things, or end at different moments.",
      ),
      table_of(first),
      ...others.map((table) => h("details", {}, h("summary", {}, table.title), table_of(table))),
    ),
  ];
}
