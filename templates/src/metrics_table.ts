// Every comparison as a row: medians, change, interval against the margin, verdict and reason.

import { h, section, select, some_rows } from "./dom";
import { change, count_text, interval_text, metric_exact, metric_label, metric_value, role_label, size_text, typeset } from "./format";
import type { Comparison, ReportModel } from "./model";
import { choose, chosen } from "./state";
import { has_more, verdict_badge } from "./verdict";

const columns = [
  "role",
  "metric",
  "baseline",
  "candidate",
  "change",
  "95% interval, margin shaded",
  "smallest detectable",
  "verdict and reason",
];

const most_rows = 300;

/** A value of the row's interval as people read it. */
function effect(row: Comparison, value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (is_ratio(row)) return change(value);
  const sign = value < 0 ? "" : "+";
  return sign + metric_value(row.metric, value);
}

function is_ratio(row: Comparison): boolean {
  return row.ratio !== null && row.ratio !== undefined;
}

/** Where it is not 95%: two one-sided tests of 5% decide that a row is unchanged. */
function confidence_of(row: Comparison): string {
  return Math.abs(row.confidence - 0.95) < 1e-9 ? "" : ` (${(100 * row.confidence).toPrecision(3).replace(/\.0+$/, "")}%)`;
}

/** The interval drawn over the margin (shaded) around "no difference" (the middle line). */
function interval_bar(row: Comparison): HTMLElement {
  const { ci_low: low, ci_high: high } = row;
  if (low == null || high == null) return h("span", { class: "muted" }, "–");
  const none = is_ratio(row) ? 1 : 0;
  const middle = is_ratio(row) ? row.ratio : row.difference;
  const reach = Math.max(Math.abs(low - none), Math.abs(high - none), row.margin * 1.5) * 1.15 || 1;
  const place = (value: number): number => 50 + ((value - none) / reach) * 50;
  const part = (name: string, from: number, to: number): HTMLElement => {
    const element = h("span", { class: name });
    element.style.left = `${from}%`;
    element.style.width = `${to - from}%`;
    return element;
  };
  const bar = h(
    "span",
    { class: `interval ${row.verdict}`, "aria-hidden": "true" },
    part("margin", place(none - row.margin), place(none + row.margin)),
    part("range", place(low), place(high)),
    middle == null ? null : part("point", place(middle), place(middle)),
  );
  return h("div", { class: "interval-cell" }, bar, h("span", {}, `${interval_text(effect(row, low), effect(row, high))}${confidence_of(row)}`));
}

function data_cell(row: Comparison, side: "baseline" | "candidate"): HTMLElement {
  const value = side === "baseline" ? row.baseline_median : row.candidate_median;
  return h(
    "td",
    { class: "number", title: metric_exact(row.metric, value) },
    h("data", { value: value ?? "" }, metric_value(row.metric, value)),
  );
}

function line(row: Comparison, has_gate: boolean): HTMLElement {
  const settle = row.blocks_needed == null ? "" : ` About ${count_text(row.blocks_needed, "block")} would settle it.`;
  const p = row.p_value == null ? "" : ` p = ${row.p_value.toPrecision(2)}`;
  const p_adjusted = row.p_adjusted == null ? "" : `, corrected ${row.p_adjusted.toPrecision(2)}`;
  const middle = is_ratio(row) ? row.ratio : row.difference;
  return h(
    "tr",
    { "data-role": row.role, "data-metric": row.metric, "data-candidate": row.candidate },
    h("th", { scope: "row" }, role_label(row.role)),
    h("td", { title: row.metric }, metric_label(row.metric), has_gate ? h("span", { class: "gate" }, "gate") : null),
    data_cell(row, "baseline"),
    data_cell(row, "candidate"),
    h("td", { class: "number", title: middle == null ? "not compared" : String(middle) }, effect(row, middle)),
    h("td", {}, interval_bar(row)),
    h(
      "td",
      { class: "number" },
      row.minimum_detectable == null
        ? "–"
        : is_ratio(row)
          ? size_text(row.metric, row.minimum_detectable, row.baseline_median)
          : metric_value(row.metric, row.minimum_detectable),
    ),
    h(
      "td",
      { class: "reason" },
      verdict_badge(row.verdict, row.tier, has_more(row)),
      ` ${typeset(row.reason)}${settle}`,
      h("span", { class: "muted" }, `${p}${p_adjusted}`),
    ),
  );
}

function table_of(candidate: string, rows: Comparison[], has_gate: (row: Comparison) => boolean): HTMLElement {
  const baseline = rows[0]?.baseline ?? "";
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `All metrics of ${candidate}` },
    h(
      "table",
      { class: "metrics comparisons" },
      h("caption", {}, `${candidate} against ${baseline}`),
      h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, name)))),
      some_rows(rows, most_rows, (row) => line(row, has_gate(row))),
    ),
  );
}

export function metrics_section(model: ReportModel): HTMLElement[] {
  const rows = model.results.comparisons;
  if (rows.length === 0) return [];
  const has_gate = (row: Comparison): boolean =>
    model.results.gates.some((gate) => gate.candidate === row.candidate && gate.role === row.role && gate.metric === row.metric);
  const roles = ["all", ...new Set(rows.map((row) => row.role))];
  const verdicts = ["all", "improved", "regressed", "changed", "unchanged", "inconclusive"];
  const content = h("div", {});
  const count = h("output", { class: "muted" });
  const show = (): void => {
    const role = chosen("table_role", roles, "all");
    const verdict = chosen("table_verdict", verdicts, "all");
    const visible = rows.filter(
      (row) => (role === "all" || row.role === role) && (verdict === "all" || row.verdict === verdict),
    );
    count.textContent = `${visible.length} of ${rows.length} rows`;
    const candidates = [...new Set(visible.map((row) => row.candidate))];
    content.replaceChildren(
      ...candidates.map((name) => table_of(name, visible.filter((row) => row.candidate === name), has_gate)),
    );
  };
  show();
  const filter = (label: string, key: string, options: string[]): HTMLElement =>
    select(label, options.map((o) => ({ value: o, label: role_label(o) })), chosen(key, options, "all"), (value) => {
      choose(key, value);
      show();
    });
  return [
    section(
      "metrics",
      "All metrics",
      h(
        "details",
        { open: chosen("table", ["open", "closed"], "closed") === "open", class: "raw" },
        h("summary", {}, `All ${rows.length} comparisons, with interval, margin, verdict and reason`),
        h(
          "p",
          { class: "muted" },
          "Gates judge the rows marked “gate”. The p values of rows that a gate compares are corrected for the number of these rows (Holm), all others for false discoveries (Benjamini and Hochberg).",
        ),
        h("div", { class: "controls" }, filter("Role", "table_role", roles), filter("Verdict", "table_verdict", verdicts), count),
        content,
      ),
    ),
  ];
}
