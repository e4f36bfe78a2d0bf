// Tracers side by side: what each says of the same program, and why they differ.

import { h, section } from "./dom";
import type { AgreementRow, AgreementStackRow, AgreementTable, ReportModel } from "./model";

const badges: Record<string, [string, string]> = {
  same: ["unchanged", "= SAME"],
  close: ["unchanged", "≈ CLOSE"],
  explained: ["improved", "✓ EXPLAINED"],
  possible: ["inconclusive", "? POSSIBLE"],
  unexplained: ["regressed", "! UNEXPLAINED"],
};

function amount_cell({ amount, change, outcome }: AgreementRow["amounts"][number]): HTMLElement {
  const badge = badges[outcome];
  return h(
    "td",
    { class: "number", "data-outcome": outcome },
    amount,
    ...(badge === undefined ? [] : [h("br", {}), h("span", { class: "muted" }, `${change} `), h("span", { class: `badge ${badge[0]}` }, badge[1])]),
  );
}

function tracer_row(row: AgreementRow): HTMLElement {
  return h(
    "tr",
    { "data-tracer": row.tracer },
    h("th", { scope: "row" }, row.tracer, row.tool === row.tracer ? "" : h("span", { class: "muted" }, ` ${row.tool}`)),
    h("td", {}, row.counts),
    ...row.amounts.map(amount_cell),
    h("td", {}, row.stacks === "" ? "the reference" : row.stacks),
    h("td", {}, row.why.length === 0 ? "" : h("ul", { class: "why" }, ...row.why.map((text) => h("li", {}, text)))),
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
  const columns = ["tracer", "what it counts", "peak", "allocated", "live at end", `stacks of ${table.reference}`, "why it differs"];
  const tracers = table.rows.map((row) => row.tracer);
  return h(
    "div",
    {},
    scrolled(
      `Tracers of ${table.title}`,
      h("table", { class: "agreement" }, h("caption", {}, table.title), heads(columns), h("tbody", {}, ...table.rows.map(tracer_row))),
    ),
    table.stacks.length === 0
      ? ""
      : h(
          "details",
          {},
          h("summary", {}, `The largest stacks of ${table.reference}, and what the others have there`),
          scrolled(
            `Stacks of ${table.title}`,
            h("table", { class: "agreement-stacks" }, heads(["function, and who calls it", "question", ...tracers]), h("tbody", {}, ...table.stacks.map(stack_row))),
          ),
        ),
  );
}

export function agreement_section(model: ReportModel): HTMLElement[] {
  if (model.agreement.length === 0) return [];
  return [
    section(
      "agreement",
      "Tracers side by side",
      h(
        "p",
        { class: "muted" },
        "The same program under several tracers. Two right tools give different numbers where they count different things; what is known of each gives bounds, and a difference within them is explained.",
      ),
      ...model.agreement.map(table_of),
    ),
  ];
}
