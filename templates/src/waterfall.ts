// Bars from one whole to another, each step beginning where the one before ended.

import { h } from "./dom";

export interface Step {
  name: Node | string;
  /** Where its bar begins and ends. */
  from: number;
  to: number;
  /** What it says: a whole, or an effect. */
  value: number;
  /** "whole", or what kind of step it is: a class of its row. */
  kind: string;
}

/** `amount` and `exact` put a step's value into words, the second for those who point at it. */
export function waterfall_of(all: Step[], amount: (step: Step) => string, exact: (value: number) => string, side = ""): HTMLElement {
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
          { class: `${step.kind} ${sense}`, title: exact(step.value) },
          h("span", { class: "track" }, bar),
          h("data", { value: step.value }, amount(step)),
        ),
      ];
    }),
  );
}

/** "12 MiB LESS" of a step; a whole by itself. */
export function step_amount(step: Step, text: (value: number) => string): string {
  if (step.kind === "whole") return text(step.value);
  const word = step.value < 0 ? "LESS" : step.value > 0 ? "MORE" : "";
  return `${text(Math.abs(step.value))} ${word}`.trim();
}
