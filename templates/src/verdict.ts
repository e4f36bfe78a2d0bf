// How a verdict looks: a sign, which of a change says whether there is more or less, a word and a colour that only repeats it.

import { h } from "./dom";
import type { Comparison, Outcome, Verdict } from "./model";

export function sign_of(verdict: Verdict, more: boolean): string {
  if (verdict === "unchanged") return "=";
  if (verdict === "inconclusive") return "?";
  return more ? "▲" : "▼";
}

/** Whether the candidate has more of the metric, and not less; so too where it died. */
export function has_more({ ratio, difference }: Comparison): boolean {
  return ratio == null ? difference == null || difference > 0 : ratio > 1;
}

export function verdict_badge(verdict: Verdict, tier: string, more: boolean): HTMLElement {
  const strong = tier === "strong" && (verdict === "improved" || verdict === "regressed");
  return h(
    "span",
    { class: `badge ${verdict}` },
    h("span", { "aria-hidden": "true" }, sign_of(verdict, more)),
    ` ${verdict}`,
    strong ? h("span", { class: "tier" }, " · strong") : null,
  );
}

/** `words`: "advisory gate failed". */
export function outcome_badge(outcome: Outcome, words: string): HTMLElement {
  return h("span", { class: `gate ${outcome}` }, words);
}
