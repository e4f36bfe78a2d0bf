// The ablation as a waterfall: from the baseline's bar to the candidate's, one step per switch, then what
// the switches do only together.

import { h } from "./dom";
import { metric_exact, metric_value } from "./format";
import type { AblationRow, AblationTotal } from "./model";

export type Side = "added_alone" | "left_out";

interface Step {
  name: string;
  /** Where its bar begins and ends, in the metric's unit. */
  from: number;
  to: number;
  /** What it says: a median, or an effect. */
  value: number;
  kind: "whole" | "switch" | "interaction";
}

/** A switch's effect, less memory negative: what adding it alone changes, or what leaving it out gives back. */
function effect(row: AblationRow, side: Side): number | null {
  const { difference } = row[side];
  if (difference == null || row[side].arm === null) return null;
  return side === "added_alone" ? difference : -difference;
}

/** Null where a median or the remainder is not known. */
function steps(total: AblationTotal, rows: AblationRow[], side: Side): Step[] | null {
  const { reference_median: before, median: after, reference, arm } = total.whole;
  const { remainder } = total[side];
  if (before == null || after == null || remainder == null) return null;
  const switches = rows
    .flatMap((row) => {
      const size = effect(row, side);
      return size === null ? [] : [{ name: row.optimization, size }];
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
  all.push({ name: arm ?? "", from: 0, to: after, value: after, kind: "whole" });
  return all;
}

function amount(metric: string, step: Step): string {
  if (step.kind === "whole") return metric_value(metric, step.value);
  const word = step.value < 0 ? "LESS" : step.value > 0 ? "MORE" : "";
  return `${metric_value(metric, Math.abs(step.value))} ${word}`.trim();
}

export function waterfall(total: AblationTotal, rows: AblationRow[], side: Side): HTMLElement | null {
  const all = steps(total, rows, side);
  if (all === null) return null;
  const values = all.flatMap(({ from, to }) => [from, to]);
  const [low, high] = [Math.min(0, ...values), Math.max(...values, Number.MIN_VALUE)];
  const place = (value: number): number => ((value - low) / (high - low)) * 100;
  return h(
    "dl",
    { class: "waterfall", "data-side": side },
    ...all.flatMap((step) => {
      const size = step.to - step.from;
      const bar = h("span", { class: "step", "aria-hidden": "true" });
      bar.style.left = `${place(Math.min(step.from, step.to))}%`;
      bar.style.width = `${(Math.abs(size) / (high - low)) * 100}%`;
      const sense = step.kind === "whole" ? "" : size < 0 ? "improved" : "regressed";
      return [
        h("dt", { class: step.kind }, step.name),
        h(
          "dd",
          { class: `${step.kind} ${sense}`, title: metric_exact(total.metric, step.value) },
          h("span", { class: "track" }, bar),
          h("data", { value: step.value }, amount(total.metric, step)),
        ),
      ];
    }),
  );
}
