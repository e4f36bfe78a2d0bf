// Whose the resident memory is: both variants by owner, and the way from one peak to the other in steps.

import type { VariantLooks } from "./variants";
import { h, section } from "./dom";
import { flame_link } from "./flame_link";
import { bytes_text, exact_bytes, role_label } from "./format";
import type { OwnerRow, ReportModel, ResidentTable } from "./model";
import { type Step, step_amount, waterfall_of } from "./waterfall";
import { OF_A_PROFILE_TRIAL } from "./words";

function steps_of(table: ResidentTable, number: number, model: ReportModel): Step[] {
  const baseline = model.results.experiment.baseline;
  const flame = model.flames.find(({ id, role, variants }) => id !== "" && role === table.role && variants[1] === table.candidate);
  const whole = (name: string, value: number): Step => ({ name, from: 0, to: value, value, kind: "whole" });
  let at = table.baseline_bytes;
  const between = table.steps.map((step, row): Step => {
    const has_stack = step.function !== "" && step.owner !== "other" && step.owner !== "inherited";
    const link = has_stack ? flame_link(step.function, `resident-${number}-${row}`, flame, "resident", "difference") : null;
    const from = at;
    at += step.size;
    return { name: h("span", {}, step.words, link === null ? "" : " ", link), from, to: at, value: step.size, kind: step.owner === "other" ? "interaction" : "switch" };
  });
  return [whole(baseline, table.baseline_bytes), ...between, whole(table.candidate, table.candidate_bytes)];
}

/** Both variants' bars of an owner, drawn to one scale. */
function owner_row(row: OwnerRow, table: ResidentTable, model: ReportModel, looks: VariantLooks): HTMLElement[] {
  const largest = Math.max(table.baseline_bytes, table.candidate_bytes, 1);
  const bar = (variant: string, bytes: number): HTMLElement => {
    const filled = h("span", { class: "bar", "aria-hidden": "true" });
    filled.style.width = `${(Math.max(0, bytes) / largest) * 100}%`;
    filled.style.background = `var(${looks.get(variant)?.color ?? "--variant-0"})`;
    return h(
      "span",
      { class: "owned", title: `${variant}: ${exact_bytes(bytes)}` },
      h("span", { class: "track" }, filled),
      h("data", { value: bytes, "data-variant": variant, "data-owner": row.owner }, bytes_text(bytes)),
    );
  };
  return [
    h("dt", {}, h("span", { class: "owner" }, row.owner), " ", h("span", { class: "muted" }, row.words)),
    h("dd", {}, bar(model.results.experiment.baseline, row.baseline_bytes), bar(table.candidate, row.candidate_bytes)),
  ];
}

function figure_of(table: ResidentTable, number: number, model: ReportModel, looks: VariantLooks): HTMLElement {
  return h(
    "div",
    { class: "resident", "data-role": table.role, "data-candidate": table.candidate },
    h("h3", {}, `${role_label(table.role)}: ${bytes_text(table.baseline_bytes)} with ${model.results.experiment.baseline}, ${bytes_text(table.candidate_bytes)} with ${table.candidate}`),
    waterfall_of(steps_of(table, number, model), (step) => step_amount(step, bytes_text), exact_bytes, `resident-${number}`),
    h(
      "details",
      {},
      h("summary", {}, "Live or held: both variants by owner"),
      h("dl", { class: "owners" }, ...[...table.owners, ...table.told].flatMap((row) => owner_row(row, table, model, looks))),
    ),
    ...table.remarks.map((remark) => h("p", { class: "muted" }, `${remark}.`)),
  );
}

/** The first table in full, the others folded: they are other roles. */
export function resident_section(model: ReportModel, looks: VariantLooks): HTMLElement[] {
  const [first, ...others] = model.resident;
  if (first === undefined) return [];
  return [
    section(
      "resident",
      "From one peak to the other",
      h(
        "p",
        { class: "muted" },
        h("strong", {}, OF_A_PROFILE_TRIAL),
        " A snapshot near the peak gives every resident page an owner. Each bar begins where the one above ends.",
      ),
      figure_of(first, 0, model, looks),
      ...others.map((table, i) => h("details", { class: "raw" }, h("summary", {}, table.title), figure_of(table, i + 1, model, looks))),
    ),
  ];
}
