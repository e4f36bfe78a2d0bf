// Which switch matters: every switch added alone to one variant and left out of the other.

import { type VariantLooks } from "./variants";
import { choice, h, section } from "./dom";
import { change, count_text, interval_text, metric_exact, metric_label, metric_value } from "./format";
import type { AblationCell, AblationRow, AblationTotal, LowerBound, ReportModel } from "./model";
import { choose, chosen } from "./state";
import { type Side, waterfall } from "./ablation_waterfall";
import { sign_of } from "./verdict";

const effects: Record<AblationRow["effect"], { word: string; look: string }> = {
  saves: { word: "saves", look: "improved" },
  costs: { word: "costs", look: "regressed" },
  mixed: { word: "mixed", look: "" },
  changes: { word: "changes", look: "" },
  nothing: { word: "nothing", look: "unchanged" },
  inconclusive: { word: "inconclusive", look: "" },
};

function amount(metric: string, value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return (value < 0 ? "" : "+") + metric_value(metric, value);
}

function interval(cell: AblationCell, metric: string): string {
  if (cell.ci_low == null || cell.ci_high == null) return "";
  const end = (value: number): string => (cell.ratio == null ? amount(metric, value) : change(value));
  return interval_text(end(cell.ci_low), end(cell.ci_high));
}

function cell_of(cell: AblationCell, metric: string, view: string): HTMLElement {
  if (cell.variant === null || cell.difference == null)
    return h("td", { class: "reason", "data-view": view }, h("span", { class: "muted" }, cell.reason));
  return h(
    "td",
    { class: "number", "data-view": view, title: `${cell.variant}: ${metric_exact(metric, cell.median)}, ${count_text(cell.n, "block")}; ${cell.reason}` },
    h("data", { value: cell.difference }, amount(metric, cell.difference)),
    cell.ratio == null ? null : ` ${change(cell.ratio)}`,
    ` ${sign_of(cell.verdict, cell.difference > 0)} `,
    h("span", { class: "muted" }, interval(cell, metric)),
  );
}

function row_of(row: AblationRow): HTMLElement {
  const effect = effects[row.effect];
  return h(
    "tr",
    { "data-switch": row.switch },
    h("th", { scope: "row" }, row.switch),
    cell_of(row.added_alone, row.metric, "added_alone"),
    cell_of(row.removed_alone, row.metric, "removed_alone"),
    h("td", {}, h("span", { class: `badge ${effect.look}` }, effect.word)),
  );
}

/** In the right column, what leaving out adds: the sense of its cells. */
function sums(total: AblationTotal): HTMLElement[] {
  const line = (name: string, added: number | null | undefined, removed_alone: number | null | undefined): HTMLElement =>
    h(
      "tr",
      { class: "sum" },
      h("th", { scope: "row" }, name),
      h("td", { class: "number" }, amount(total.metric, added)),
      h("td", { class: "number" }, amount(total.metric, removed_alone == null ? removed_alone : -removed_alone)),
      h("td", {}),
    );
  return [
    line("all of them", total.whole.difference, total.whole.difference),
    line("sum of the above", total.added_alone.sum, total.removed_alone.sum),
    line("interaction", total.added_alone.remainder, total.removed_alone.remainder),
  ];
}

function table_of(total: AblationTotal, rows: AblationRow[]): HTMLElement {
  const phase = total.phase === null ? "" : `, phase ${total.phase}`;
  const title = `${total.role}: ${metric_label(total.metric)}${phase}`;
  const medians = [total.whole.reference_median, total.whole.median].map((value) => metric_value(total.metric, value));
  const columns = ["switch", `added to ${total.whole.reference}`, `left out of ${total.whole.variant ?? "–"}`, "effect"];
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `Ablation of ${title}` },
    h(
      "table",
      { class: "ablation" },
      h("caption", {}, `${title}: ${total.whole.reference} ${medians[0]}, ${total.whole.variant ?? "–"} ${medians[1]}`),
      h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...rows.map(row_of), ...sums(total)),
    ),
  );
}

const sides = ["added_alone", "removed_alone"] as const;

function rows_of(total: AblationTotal, rows: AblationRow[]): AblationRow[] {
  return rows.filter((row) => row.role === total.role && row.metric === total.metric && row.phase === total.phase);
}

/** Whole trials only: the phases have their tables. */
function waterfalls(totals: AblationTotal[], rows: AblationRow[]): HTMLElement {
  const content = h("div", {});
  const draw = (): void => {
    const side = chosen<Side>("ablation", sides, "added_alone");
    content.replaceChildren(
      ...totals
        .filter((total) => total.phase === null)
        .flatMap((total) => {
          const chart = waterfall(total, rows_of(total, rows), side);
          return chart === null ? [] : [h("h3", {}, `${total.role}: ${metric_label(total.metric)}`), chart];
        }),
    );
  };
  draw();
  const switcher = choice(
    "Each switch",
    [
      { value: "added_alone", label: "added alone" },
      { value: "removed_alone", label: "left out" },
    ],
    chosen<Side>("ablation", sides, "added_alone"),
    (value) => {
      choose("ablation", value);
      draw();
    },
  );
  return h("div", {}, h("div", { class: "controls" }, switcher), content);
}

export function ablation_section(model: ReportModel): HTMLElement[] {
  const { ablation, ablation_totals } = model.results;
  if (ablation.length === 0) return [];
  const tables = (in_phases: boolean): HTMLElement[] =>
    ablation_totals
      .filter((total) => (total.phase !== null) === in_phases)
      .map((total) => table_of(total, rows_of(total, ablation)));
  const phases = tables(true);
  return [
    section(
      "ablation",
      "Ablation: which switch matters",
      h("ul", { class: "growth" }, ...model.ablation.map((text) => h("li", {}, text))),
      h(
        "p",
        { class: "muted" },
        "Every cell is a variant that was measured, against its reference in the same blocks: a switch added alone " +
          "(less is a saving), a switch left out (more is a saving lost). The verdicts inform and decide no gate.",
      ),
      waterfalls(ablation_totals, ablation),
      h("h3", {}, "The same in numbers"),
      ...tables(false),
      phases.length === 0
        ? null
        : h("details", {}, h("summary", {}, `The peak of every phase: ${phases.length} tables`), ...phases),
    ),
  ];
}

/** Each variant's multiple of a bound as a bar; the bound's own comes first. */
function bound_bars(bound: LowerBound, looks: VariantLooks): HTMLElement {
  const variants = [...looks.values()].flatMap((look) => {
    const multiple = bound.multiples[look.name];
    return multiple === undefined ? [] : [{ name: look.name, multiple, color: look.color }];
  });
  const all = [{ name: "lower bound", multiple: 1, color: "--neutral" }, ...variants];
  const most = Math.max(...all.map(({ multiple }) => multiple));
  return h(
    "dl",
    { class: "waterfall", "aria-label": `${bound.role}: multiples of the lower bound` },
    ...all.flatMap(({ name, multiple, color }) => {
      const bar = h("span", { class: "step", "aria-hidden": "true" });
      bar.style.width = `${(multiple / most) * 100}%`;
      bar.style.background = `var(${color})`;
      const bytes = multiple * bound.bytes;
      return [
        h("dt", {}, name),
        h(
          "dd",
          { title: metric_exact(bound.metric, bytes) },
          h("span", { class: "track" }, bar),
          h("data", { value: multiple }, `${multiple.toFixed(2)} ×  ${metric_value(bound.metric, bytes)}`),
        ),
      ];
    }),
  );
}

export function lower_bounds_section(model: ReportModel, looks: VariantLooks): HTMLElement[] {
  if (model.lower_bounds.length === 0) return [];
  return [
    section(
      "lower-bounds",
      "Against the lower bound",
      h("ul", { class: "growth" }, ...model.lower_bounds.map((text) => h("li", {}, text))),
      ...model.results.lower_bounds.map((bound) =>
        h("div", {}, h("h3", {}, `${bound.role}: ${metric_label(bound.metric)}`), bound_bars(bound, looks)),
      ),
      h("p", { class: "muted" }, "A lower bound is what a role must hold at once above idle, derived on paper."),
    ),
  ];
}
