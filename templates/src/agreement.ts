// Tracers side by side: what each says of the same program, and why they differ.

import { h, section } from "./dom";
import type { AgreementRow, AgreementStackRow, AgreementTable, ReportModel } from "./model";
import { FUNCTION_AND_CALLERS } from "./words";

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

/** What one tracer says, and below it over the whole width what it counts and why it differs. */
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
      { class: "why" },
      h("td", { colspan: "5" }, h("span", { class: "muted" }, row.counts), row.why.length === 0 ? "" : h("ul", {}, ...row.why.map((text) => h("li", {}, text)))),
    ),
  );
}

/** "7 explained, 1 unexplained" */
function outcomes(table: AgreementTable): string {
  const all = table.rows.flatMap((row) => row.amounts.map(({ outcome }) => outcome));
  const counts = Object.keys(badges).map((outcome): [string, number] => [outcome, all.filter((one) => one === outcome).length]);
  return counts
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ");
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
        "The same program under several tracers. Two right tools give different numbers where they count different things; what is known of each gives bounds, and a difference within them is explained.",
      ),
      table_of(first),
      ...others.map((table) => h("details", {}, h("summary", {}, `${table.title}: ${outcomes(table)}`), table_of(table))),
    ),
  ];
}
