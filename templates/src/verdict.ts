// How a verdict looks: a sign, a word and a colour that only repeats them.

import { h } from "./dom";
import type { Outcome, Verdict } from "./model";

const signs: Record<Verdict, string> = {
  improved: "▼",
  regressed: "▲",
  unchanged: "=",
  inconclusive: "?",
};

export function verdict_badge(verdict: Verdict, tier = ""): HTMLElement {
  const strong = tier === "strong" && (verdict === "improved" || verdict === "regressed");
  return h(
    "span",
    { class: `badge ${verdict}` },
    h("span", { "aria-hidden": "true" }, signs[verdict]),
    ` ${verdict}`,
    strong ? h("span", { class: "tier" }, " · strong") : null,
  );
}

export function outcome_badge(outcome: Outcome, advisory: boolean): HTMLElement {
  return h("span", { class: `gate ${outcome}` }, `gate ${outcome}${advisory ? " (advisory)" : ""}`);
}
