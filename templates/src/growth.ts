// Does memory grow from round to round, when does it run out, and which stacks make it? One row per variant and role.

import { h, section } from "./dom";
import { flame_link, function_cell } from "./flame_link";
import { bytes_text, exact_bytes, metric_exact, metric_value, role_label, typeset } from "./format";
import type { GrowingRow, Growth, GrowthLine, ReportModel } from "./model";
import { FUNCTION_AND_CALLERS, OF_A_PROFILE_TRIAL } from "./words";

const signs: Record<Growth["verdict"], string> = {
  flat: "→",
  growing: "↗",
  stepped: "⌐",
  leveling_off: "⤵",
  inconclusive: "?",
};

interface Series extends Growth {
  line: GrowthLine;
  /** Its place in results.growth. */
  number: number;
}

function verdict(row: Growth): HTMLElement {
  const look = row.verdict === "growing" ? "regressed" : row.verdict === "flat" ? "improved" : "";
  return h(
    "span",
    { class: `badge ${look}` },
    h("span", { "aria-hidden": "true" }, signs[row.verdict]),
    ` ${row.verdict.replace("_", " ")}`,
  );
}

function amount(row: Growth, value: number | null | undefined, text: string): HTMLElement {
  return h("data", { value: value ?? "", title: metric_exact(row.metric, value) }, text);
}

/** An end of the interval; its unit is that of the growth beside it. */
function end(row: Growth, value: number | null | undefined): HTMLElement {
  return amount(row, value, value == null ? "–" : bytes_text(value));
}

function line(row: Series): HTMLElement {
  const multiples = row.model_multiples_per_round;
  return h(
    "tr",
    { "data-role": row.role, "data-variant": row.variant, "data-metric": row.metric },
    h("th", { scope: "row" }, role_label(row.role) + (row.metric.startsWith("heap_") ? ", live heap" : "")),
    h("td", {}, row.variant),
    h("td", {}, verdict(row)),
    h("td", { class: "number" }, amount(row, row.slope, metric_value(row.metric, row.slope)), multiples == null ? null : h("span", { class: "muted" }, ` = ${multiples.toFixed(2)} models`)),
    h("td", { class: "outlook" }, row.line.outlook),
    h("td", { class: "number" }, end(row, row.ci_low), " to ", end(row, row.ci_high)),
    h("td", { class: "reason" }, typeset(row.reason)),
  );
}

function table(label: string, head: string[], rows: HTMLElement[], look: string): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h(
      "table",
      { class: look },
      h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...rows),
    ),
  );
}

const columns = ["role", "variant", "verdict", "growth", "runs out of memory?", "95% interval", "reason"];

function series_table(label: string, rows: Series[]): HTMLElement {
  return table(label, columns, rows.map(line), "metrics series");
}

function stack_line(row: Series, stack: GrowingRow, model: ReportModel): HTMLElement {
  const key = `growth-${row.number}-${row.line.stacks.indexOf(stack)}`;
  const flame = model.flames.find(({ id, role, variants }) => id !== "" && role === row.role && variants.includes(row.variant));
  const side = flame?.variants[0] === row.variant ? "first" : "second";
  return h(
    "tr",
    { "data-role": row.role, "data-variant": row.variant },
    h("th", { scope: "row" }, role_label(row.role)),
    h("td", {}, row.variant),
    h("td", { class: "number" }, h("data", { value: stack.bytes_per_round, title: exact_bytes(stack.bytes_per_round) }, stack.amount)),
    h("td", { class: "number" }, amount(row, row.slope, metric_value(row.metric, row.slope))),
    function_cell(stack.function, stack.caller, stack.stack, flame_link(stack.function, key, flame, "live-any", side)),
    h("td", {}, stack.phase === "" ? "–" : stack.phase),
  );
}

/** From profile trials; where something grows and none looked at it, how to find out. */
function stacks_part(rows: Series[], model: ReportModel): (HTMLElement | null)[] {
  const lines = rows.flatMap((row) => row.line.stacks.map((stack) => stack_line(row, stack, model)));
  const unnamed = rows.some((row) => row.verdict === "growing" && row.line.stacks.length === 0);
  const head = ["role", "variant", "this stack’s live blocks", "the role’s RSS", FUNCTION_AND_CALLERS, "phase"];
  return [
    lines.length === 0 ? null : h("h3", {}, "The stacks that grow"),
    lines.length === 0
      ? null
      : h("p", { class: "muted" }, h("strong", {}, OF_A_PROFILE_TRIAL), " How much more each stack has live at the end of each round, beside the growth of the role’s RSS, which measured trials have: RSS also has what the allocator holds, so that neither is a share of the other."),
    lines.length === 0 ? null : table("Stacks that grow", head, lines, "differences growing"),
    unnamed
      ? h("p", { class: "muted" }, "Which stacks grow is known where a profile trial looked at the role: ", h("code", {}, "--set profile.trials=1"), ".")
      : null,
  ];
}

/** What is known, and what a gate asks. */
function comes_first(row: Series, model: ReportModel): boolean {
  const asked = model.results.comparisons.some((c) => (c.gate || c.advisory_gate) && c.role === row.role && c.metric === row.metric);
  return asked || row.verdict !== "inconclusive";
}

function folded(title: string, label: string, rows: Series[]): HTMLElement | null {
  if (rows.length === 0) return null;
  return h("details", { class: "raw" }, h("summary", {}, title), series_table(label, rows));
}

/** Intervals that lie above zero are worth knowing all the same. */
function nothing_told(rows: Series[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const [why, ...others] = new Set(rows.map((row) => row.reason));
  const above = rows.filter(({ ci_low }) => ci_low != null && ci_low > 0);
  const intervals = above.map((one) => `${role_label(one.role)} with ${one.variant}, ${bytes_text(one.ci_low!)} to ${metric_value(one.metric, one.ci_high)}: ${one.reason}`);
  return h(
    "div",
    {},
    h("p", {}, others.length > 0 ? "Whether memory grows cannot be told of any series." : `Whether memory grows: ${typeset(why ?? "")}.`),
    intervals.length === 0 ? null : h("ul", { class: "notes" }, ...intervals.map((text) => h("li", {}, typeset(text), "."))),
  );
}

/** Per round where there are rounds; per minute folded beside it. */
export function growth_section(model: ReportModel): HTMLElement[] {
  const rows = model.results.growth.map((row, i): Series => ({ ...row, line: model.growth_lines[i] ?? { outlook: "", stacks: [] }, number: i }));
  if (rows.length === 0) return [];
  const per_round = rows.filter((row) => row.metric.endsWith("_per_round"));
  const per_minute = rows.filter((row) => !row.metric.endsWith("_per_round"));
  const [main, beside] = per_round.length > 0 ? [per_round, per_minute] : [per_minute, []];
  const first = main.filter((row) => comes_first(row, model));
  const rest = main.filter((row) => !comes_first(row, model));
  return [
    section(
      "growth",
      per_round.length > 0 ? "Growth from round to round" : "Growth over time",
      first.length === 0 ? nothing_told(rest) : series_table("Growth", first),
      ...stacks_part(per_round, model),
      folded(`${rest.length} series of which nothing can be told`, "Growth that cannot be told", rest),
      folded(`The same per minute, ${beside.length} series`, "Growth per minute", beside),
    ),
  ];
}
