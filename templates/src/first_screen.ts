// What people ask first: which is better, by how much, how sure, at what price, how to run it again.

import type { VariantLooks } from "./variants";
import { differences_section } from "./differences";
import { h, section } from "./dom";
import { change, metric_label, metric_value, role_label, typeset } from "./format";
import { live_or_held } from "./live_or_held";
import { resident_section } from "./resident";
import type { Comparison, Headline, Note, ReportModel, SentencePart, SideEffect } from "./model";
import { overview } from "./overview";
import { dot_strips } from "./strip";
import { outcome_badge, verdict_badge } from "./verdict";

export function first_screen(model: ReportModel, looks: VariantLooks): HTMLElement[] {
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

function verdicts(model: ReportModel, looks: VariantLooks): HTMLElement {
  return section(
    "verdict",
    "Verdict",
    model.progress === "" ? null : h("p", { class: "notice" }, model.progress),
    overview(model, looks),
    growth(model),
    model.best.length === 0 ? null : h("p", { class: "sentence best" }, ...shown(model.best)),
    h("ul", { class: "headlines" }, ...checks_of(model).map((lines) => card_of(lines, model, looks))),
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
    return mark === "strong" ? h("strong", {}, typeset(text)) : typeset(text);
  });
}

/** Headlines of one role and metric, of one candidate or of several. */
function checks_of(model: ReportModel): Headline[][] {
  const checks = new Map<string, Headline[]>();
  for (const line of model.headlines) {
    const key = `${line.role} ${line.metric}`;
    checks.set(key, [...(checks.get(key) ?? []), line]);
  }
  return [...checks.values()];
}

function row_of(line: Headline, model: ReportModel): Comparison | undefined {
  return model.results.comparisons.find(
    (c) => c.role === line.role && c.metric === line.metric && c.candidate === line.candidate,
  );
}

function card_of(lines: Headline[], model: ReportModel, looks: VariantLooks): HTMLElement {
  const [line] = lines;
  return lines.length === 1 && line !== undefined ? card(line, model, looks) : card_of_variants(lines, model, looks);
}

function facts(line: Headline): (Node | string | null)[] {
  return [
    line.outcome === null ? null : outcome_badge(line.outcome, line.gate),
    " ",
    line.reason === "" ? null : h("span", { class: "muted" }, typeset(line.reason)),
  ];
}

function card(line: Headline, model: ReportModel, looks: VariantLooks): HTMLElement {
  const row = row_of(line, model);
  return h(
    "li",
    { class: `card ${line.verdict}` },
    h(
      "div",
      { class: "words" },
      h("p", { class: "sentence" }, ...shown(line.sentence, verdict_badge(line.verdict, line.tier, line.more))),
      h("p", { class: "facts" }, ...facts(line)),
    ),
    row === undefined ? null : dot_strips([row], model, looks),
  );
}

function change_of(row: Comparison): string {
  if (row.ratio != null) return change(row.ratio);
  return row.difference == null ? "–" : (row.difference < 0 ? "" : "+") + metric_value(row.metric, row.difference);
}

/** One table for a check of several candidates. */
function card_of_variants(lines: Headline[], model: ReportModel, looks: VariantLooks): HTMLElement {
  const rows = lines.flatMap((line) => row_of(line, model) ?? []);
  const worst = ["regressed", "inconclusive", "changed", "unchanged", "improved"].find((verdict) => lines.some((line) => line.verdict === verdict));
  const head = lines[0];
  const line_of = (line: Headline): HTMLElement => {
    const row = row_of(line, model);
    return h(
      "tr",
      {},
      h("th", { scope: "row", title: line.candidate }, line.candidate),
      h("td", { class: "number" }, row === undefined ? "–" : change_of(row)),
      h("td", {}, verdict_badge(line.verdict, line.tier, line.more)),
      h("td", { title: typeset(line.reason) }, ...(line.outcome === "passed" ? facts({ ...line, reason: "" }) : facts(line))),
    );
  };
  return h(
    "li",
    { class: `card variants ${worst ?? ""}` },
    h(
      "div",
      { class: "words" },
      h("p", { class: "sentence" }, `${role_label(head?.role ?? "")}: ${metric_label(head?.metric ?? "")}, each against ${model.results.experiment.baseline}`),
      h("div", { class: "scroll" }, h("table", {}, h("tbody", {}, ...lines.map(line_of)))),
    ),
    dot_strips(rows, model, looks),
  );
}

const topics = {
  gate: "Another gate",
  allocator: "Which allocator?",
  model: "Same model?",
  file: "Same file?",
  accuracy: "Same accuracy?",
  time: "What does it cost?",
  growth: "Does memory keep growing?",
};

/** One row per question, in the order of the first answer. */
function by_topic(effects: SideEffect[]): Map<SideEffect["topic"], SideEffect[]> {
  const questions = new Map<SideEffect["topic"], SideEffect[]>();
  for (const effect of effects) questions.set(effect.topic, [...(questions.get(effect.topic) ?? []), effect]);
  return questions;
}

function price(model: ReportModel): HTMLElement[] {
  if (model.side_effects.length === 0) return [];
  return [
    section(
      "price",
      "Same result? What does it cost?",
      h(
        "dl",
        { class: "answers" },
        ...[...by_topic(model.side_effects)].flatMap(([topic, effects]) => [
          h("dt", {}, topics[topic]),
          ...effects.map((effect) => h("dd", {}, typeset(effect.sentence))),
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
      note.advice === "" ? null : h("span", { class: "muted" }, `; advice: ${note.advice}`),
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
