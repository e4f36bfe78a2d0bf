// Every trial of each variant as a dot on one scale from zero, with the variant's median and the interval of the change.

import type { VariantLooks } from "./variants";
import { h } from "./dom";
import { metric_exact, metric_value } from "./format";
import type { Comparison, ReportModel, RoleGroup, Trial } from "./model";
import { median } from "./timeline_data";

/** The role's own number; of a group (NAME_max, NAME_median) that of its processes. */
function value_in(trial: Trial, role: string, metric: string, groups: RoleGroup[]): number | null {
  const own = (name: string): number | undefined => trial.roles.find((one) => one.role === name)?.metrics[metric];
  const group = groups.find(({ name }) => role === `${name}_max` || role === `${name}_median`);
  if (group === undefined) return own(role) ?? null;
  const values = Array.from({ length: group.count }, (_, i) => own(`${group.name}-${i + 1}`)).filter((value) => value !== undefined);
  values.sort((a, b) => a - b);
  return (role.endsWith("_max") ? values.at(-1) : median(values)) ?? null;
}

/** What the measured trials of a variant say of a role's metric. */
export function trial_values(model: ReportModel, variant: string, role: string, metric: string): number[] {
  return model.results.trials
    .filter((trial) => trial.variant === variant && trial.kind === "measure" && trial.status === "ok")
    .flatMap((trial) => value_in(trial, role, metric, model.results.job.groups) ?? []);
}

interface Side {
  variant: string;
  value: number | null | undefined;
  /** Of the candidate: where its median would lie at either end of the interval. */
  ends: [number, number] | null;
}

/** The interval of a change, put upon the baseline's median. */
function ends_of(row: Comparison): [number, number] | null {
  const { baseline_median: from, ci_low: low, ci_high: high } = row;
  if (from == null || low == null || high == null) return null;
  return row.ratio == null ? [from + low, from + high] : [from * low, from * high];
}

function line(side: Side, row: Comparison, model: ReportModel, looks: VariantLooks, place: (value: number) => string): HTMLElement[] {
  const color = `var(${looks.get(side.variant)?.color ?? "--variant-0"})`;
  const part = (name: string, value: number): HTMLElement => {
    const element = h("span", { class: name });
    element.style.left = place(value);
    element.style.color = color;
    return element;
  };
  const track = h("span", { class: "track", "aria-hidden": "true" });
  if (side.ends !== null) {
    const range = part("range", side.ends[0]);
    range.style.right = `calc(100% - ${place(side.ends[1])})`;
    track.append(range);
  }
  track.append(...trial_values(model, side.variant, row.role, row.metric).map((value) => part("dot", value)));
  if (side.value != null) track.append(part("middle", side.value));
  return [
    h("dt", { title: side.variant }, side.variant),
    h(
      "dd",
      { title: metric_exact(row.metric, side.value) },
      track,
      h(
        "data",
        { value: side.value ?? "", "data-role": row.role, "data-metric": row.metric, "data-variant": side.variant },
        metric_value(row.metric, side.value),
      ),
    ),
  ];
}

/** Of rows with one baseline, role and metric: the baseline's line, then each candidate's. */
export function dot_strips(rows: Comparison[], model: ReportModel, looks: VariantLooks): HTMLElement {
  const first = rows[0];
  const sides: { side: Side; row: Comparison }[] = rows.map((row) => ({
    row,
    side: { variant: row.candidate, value: row.candidate_median, ends: ends_of(row) },
  }));
  if (first !== undefined)
    sides.unshift({ row: first, side: { variant: first.baseline, value: first.baseline_median, ends: null } });
  const values = sides.flatMap(({ side, row }) => [
    ...trial_values(model, side.variant, row.role, row.metric),
    ...(side.ends ?? []),
    side.value ?? 0,
  ]);
  const least = Math.min(0, ...values);
  const most = Math.max(0, ...values);
  const reach = most - least || 1;
  const place = (value: number): string => `${((value - least) / reach) * 100}%`;
  return h("dl", { class: "strips" }, ...sides.flatMap(({ side, row }) => line(side, row, model, looks, place)));
}
