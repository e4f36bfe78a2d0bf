// The ablation as a waterfall: from the baseline's bar to the candidate's, one step per switch, then what
// the switches do only together.

import { metric_exact, metric_value } from "./format";
import type { AblationRow, AblationTotal } from "./model";
import { type Step, step_amount, waterfall_of } from "./waterfall";

export type Side = "added_alone" | "removed_alone";

/** A switch's effect, less memory negative: what adding it alone changes, or what leaving it out gives back. */
function effect(row: AblationRow, side: Side): number | null {
  const { difference } = row[side];
  if (difference == null || row[side].variant === null) return null;
  return side === "added_alone" ? difference : -difference;
}

/** Null where a median or the remainder is not known. */
function steps(total: AblationTotal, rows: AblationRow[], side: Side): Step[] | null {
  const { reference_median: before, median: after, reference, variant } = total.whole;
  const { remainder } = total[side];
  if (before == null || after == null || remainder == null) return null;
  const switches = rows
    .flatMap((row) => {
      const size = effect(row, side);
      return size === null ? [] : [{ name: row.switch, size }];
    })
    .sort((a, b) => a.size - b.size);
  const all: Step[] = [{ name: reference, from: 0, to: before, value: before, kind: "whole" }];
  let at = before;
  for (const { name, size } of switches) {
    all.push({ name, from: at, to: at + size, value: size, kind: "switch" });
    at += size;
  }
  // Effects are estimated from pairs of trials and the outer bars are medians: the bar closes the gap
  // between them, the number is the estimate.
  all.push({ name: "interaction", from: at, to: after, value: remainder, kind: "interaction" });
  all.push({ name: variant ?? "", from: 0, to: after, value: after, kind: "whole" });
  return all;
}

export function waterfall(total: AblationTotal, rows: AblationRow[], side: Side): HTMLElement | null {
  const all = steps(total, rows, side);
  if (all === null) return null;
  const text = (value: number): string => metric_value(total.metric, value);
  return waterfall_of(all, (step) => step_amount(step, text), (value) => metric_exact(total.metric, value), side);
}
