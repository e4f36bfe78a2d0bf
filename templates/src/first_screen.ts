// What people ask first: which is better, by how much, how sure, at what price, how to run it again.

import type { ArmLooks } from "./arms";
import { differences_section } from "./differences";
import { h, section } from "./dom";
import { metric_exact, metric_value, with_minus } from "./format";
import { live_or_held } from "./live_or_held";
import { resident_section } from "./resident";
import type { Comparison, Headline, Note, ReportModel, SentencePart } from "./model";
import { outcome_badge, verdict_badge } from "./verdict";

export function first_screen(model: ReportModel, looks: ArmLooks): HTMLElement[] {
  return [
    verdicts(model, looks),
    ...price(model),
    ...resident_section(model, looks),
    ...(model.resident.length === 0 ? live_or_held(model) : []),
    ...differences_section(model),
    ...weaknesses(model),
    reproduce(model),
  ];
}

function verdicts(model: ReportModel, looks: ArmLooks): HTMLElement {
  const nothing =
    model.headlines.length === 0 && model.growth.length === 0
      ? h("p", { class: "muted" }, "No verdict yet: no gate metric was measured in two arms.")
      : null;
  return section(
    "verdict",
    "Verdict",
    model.progress === "" ? null : h("p", { class: "notice" }, model.progress),
    growth(model),
    model.best.length === 0 ? null : h("p", { class: "sentence best" }, ...shown(model.best)),
    h("ul", { class: "headlines" }, ...model.headlines.map((line) => card(line, model, looks))),
    nothing,
  );
}

function growth(model: ReportModel): HTMLElement | null {
  if (model.growth.length === 0) return null;
  return h(
    "ul",
    { class: "growth" },
    ...model.growth.map((sentence) => h("li", { class: "card" }, h("p", { class: "sentence" }, ...shown(sentence)))),
  );
}

/** `badge` stands for the verdict. */
function shown(sentence: SentencePart[], badge?: Node): (Node | string)[] {
  return sentence.map(({ text, mark }) => {
    if (mark === "verdict" && badge !== undefined) return badge;
    return mark === "strong" ? h("strong", {}, text) : text;
  });
}

function card(line: Headline, model: ReportModel, looks: ArmLooks): HTMLElement {
  const row = model.results.comparisons.find(
    (c) => c.role === line.role && c.metric === line.metric && c.candidate === line.candidate,
  );
  return h(
    "li",
    { class: `card ${line.verdict}` },
    h(
      "div",
      { class: "words" },
      h("p", { class: "sentence" }, ...shown(line.sentence, verdict_badge(line.verdict, line.tier))),
      h(
        "p",
        { class: "facts" },
        line.outcome === null ? null : outcome_badge(line.outcome, line.advisory),
        " ",
        line.reason === "" ? null : h("span", { class: "muted" }, with_minus(line.reason)),
      ),
    ),
    row === undefined ? null : bars(row, looks),
  );
}

/** Both medians as bars from zero, drawn to one scale. */
function bars(row: Comparison, looks: ArmLooks): HTMLElement {
  const sides = [
    { arm: row.baseline, value: row.baseline_median },
    { arm: row.candidate, value: row.candidate_median },
  ];
  const largest = Math.max(...sides.map(({ value }) => Math.abs(value ?? 0)), Number.MIN_VALUE);
  return h(
    "dl",
    { class: "bars" },
    ...sides.flatMap(({ arm, value }) => {
      const bar = h("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${(Math.abs(value ?? 0) / largest) * 100}%`;
      bar.style.background = `var(${looks.get(arm)?.color ?? "--arm-0"})`;
      return [
        h("dt", {}, arm),
        h(
          "dd",
          { title: metric_exact(row.metric, value) },
          h("span", { class: "track" }, bar),
          h(
            "data",
            {
              value: value ?? "",
              "data-role": row.role,
              "data-metric": row.metric,
              "data-arm": arm,
            },
            metric_value(row.metric, value),
          ),
        ),
      ];
    }),
  );
}

const topics = { gate: "Another gate", allocator: "Which allocator?", model: "Same model?", file: "Same file?", accuracy: "Same accuracy?", counter: "Exact counter", time: "Cost in time", growth: "Will it run out of memory?" };

function price(model: ReportModel): HTMLElement[] {
  if (model.side_effects.length === 0) return [];
  return [
    section(
      "price",
      "Other checks, and the price",
      h(
        "dl",
        { class: "answers" },
        ...model.side_effects.flatMap((effect) => [
          h("dt", {}, topics[effect.topic]),
          h("dd", {}, with_minus(effect.sentence)),
        ]),
      ),
    ),
  ];
}

function note_list(notes: Note[], kind: string): HTMLElement[] {
  return notes.map((note) =>
    h(
      "li",
      {},
      h("strong", {}, `${kind}: `),
      note.message,
      note.advice === "" ? null : h("span", { class: "muted" }, ` ${note.advice}`),
    ),
  );
}

function weaknesses(model: ReportModel): HTMLElement[] {
  const { warnings, limitations } = model.results;
  if (warnings.length + limitations.length === 0) return [];
  return [
    section(
      "weaknesses",
      "What weakens this claim",
      h("ul", { class: "notes" }, ...note_list(warnings, "Warning"), ...note_list(limitations, "Limitation")),
    ),
  ];
}

function reproduce(model: ReportModel): HTMLElement {
  const button = h(
    "button",
    {
      type: "button",
      click: () => {
        void navigator.clipboard.writeText(model.reproduce).then(() => {
          button.textContent = "Copied";
        });
      },
    },
    "Copy",
  );
  return section(
    "reproduce",
    "Run it again",
    h("p", { class: "command" }, h("code", {}, model.reproduce), " ", button),
    h("p", { class: "muted" }, "config.json lies in the run’s directory and can be downloaded under Evidence."),
  );
}
