// What the verdict rests on: trials, variants, config, environment, and the raw numbers to take away.

import { h, section, some_rows } from "./dom";
import { bytes_text, change, count_text, interval_text, metric_exact, metric_label, metric_value, role_label, seconds, size_text, typeset } from "./format";
import type { Comparison, ReportModel, Trial } from "./model";

export function evidence_section(model: ReportModel): HTMLElement {
  return section(
    "evidence",
    "Evidence",
    method(model),
    trials(model),
    variants(model),
    tree("Environment", model.results.environment),
    tree("Config, resolved", model.config),
    downloads(model),
  );
}

/** How one gate row came to its verdict, with its numbers. */
function decision(row: Comparison, gate_rows: number): string {
  const change_of = (value: number | null | undefined): string =>
    value == null ? "?" : row.ratio == null ? metric_value(row.metric, value) : change(value);
  const margin = row.ratio == null ? metric_value(row.metric, row.margin) : size_text(row.metric, row.margin, row.baseline_median);
  const p = row.p_value == null ? "" : `; p ${row.p_value.toPrecision(2)}`;
  const corrected =
    row.p_adjusted == null ? "" : `, corrected for ${count_text(gate_rows, "gate row")} ${row.p_adjusted.toPrecision(2)}`;
  const middle = row.ratio ?? row.difference;
  const numbers =
    middle == null || row.ci_low == null || row.ci_high == null
      ? ""
      : `the change is ${change_of(middle)}, its interval ${interval_text(change_of(row.ci_low), change_of(row.ci_high))}, the margin ±${margin}${p}${corrected}; `;
  const tier = row.tier === "strong" ? ", strong" : "";
  return `${role_label(row.role)}, ${metric_label(row.metric)}, ${count_text(Math.min(row.n_baseline, row.n_candidate), "block")} of ${row.baseline} and ${row.candidate}: ${numbers}${row.verdict}${tier}, because ${typeset(row.reason)}.`;
}

function method(model: ReportModel): HTMLElement {
  const gates = model.results.comparisons.filter((row) => row.gate);
  return h(
    "details",
    {},
    h("summary", {}, "How this was decided"),
    h(
      "p",
      {},
      "Every block runs each variant once, in random order, so that a slow drift of the machine hits all variants alike. " +
        "One trial gives one number per role and metric. The change is the Hodges–Lehmann estimate with its 95% interval. " +
        "“Improved” and “regressed” need an interval that excludes no difference, after correcting for the number of gate metrics; " +
        "“strong” means that the whole interval lies beyond the margin. “Changed” is such a change of a metric of which nothing declares whether higher or lower is better. “Unchanged” is only said when the interval lies inside the margin. " +
        "Everything else is inconclusive, with the reason. Warm-up and profile trials never enter the numbers.",
    ),
    gates.length === 0 ? null : h("ul", { class: "notes" }, ...gates.map((row) => h("li", {}, decision(row, gates.length)))),
  );
}

function rows_table(label: string, head: string[], body: HTMLElement): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
      body,
    ),
  );
}

const most_trials = 500;

function peak_of(trial: Trial): HTMLElement {
  const tree_role = trial.roles.find((role) => role.role === "all") ?? trial.roles[0];
  const peak = tree_role?.metrics["peak_rss_bytes"];
  return h(
    "td",
    { class: "number", title: metric_exact("peak_rss_bytes", peak) },
    peak === undefined ? "–" : bytes_text(peak),
  );
}

function trials(model: ReportModel): HTMLElement {
  const notes = new Map(model.trial_notes.map((note) => [note.trial, note]));
  const all = model.results.trials;
  const failed = all.filter((trial) => trial.status !== "ok").length;
  const row_of = (trial: Trial): HTMLElement => {
    const note = notes.get(trial.id);
    return h(
      "tr",
      { class: trial.status },
      h("th", { scope: "row" }, String(trial.id)),
      h("td", {}, String(trial.block)),
      h("td", {}, trial.variant),
      h("td", {}, trial.kind),
      h("td", {}, trial.status.replaceAll("_", " ")),
      h("td", { class: "number" }, note === undefined ? "–" : seconds(note.seconds)),
      peak_of(trial),
      h("td", {}, note === undefined || note.failure === "" ? "" : h("pre", {}, note.failure)),
    );
  };
  return h(
    "details",
    { open: failed > 0, class: "raw" },
    h("summary", {}, all.length === 0 ? "No trials" : all.length === 1 ? `One trial, ${failed > 0 ? "not " : ""}ok` : `All ${all.length} trials${failed > 0 ? `, ${failed} not ok` : ", all ok"}`),
    rows_table("Trials", ["trial", "block", "variant", "kind", "status", "time", "peak RSS, all processes", "what happened"], some_rows(all, most_trials, row_of)),
  );
}

function variants(model: ReportModel): HTMLElement {
  const names = model.results.variants.map((variant) => variant.name);
  const judged = model.results.variants.filter((variant) => variant.ablation !== true).map((variant) => variant.name);
  const switches = [...new Set(model.results.variants.flatMap((variant) => Object.keys(variant.switches)))];
  const text = (value: unknown): string =>
    value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);
  const row = (label: string, values: string[]): HTMLElement =>
    h(
      "tr",
      { class: new Set(values).size > 1 ? "differs" : "" },
      h("th", { scope: "row" }, label),
      ...values.map((value) => h("td", {}, value)),
    );
  return h(
    "details",
    {},
    h("summary", {}, names.length === 1 ? "The variant" : `Variants: what differs between ${judged.join(", ")}${judged.length < names.length ? ` and ${count_text(names.length - judged.length, "variant")} of the ablation` : ""}`),
    rows_table("Variants", ["variant", ...names], h("tbody", {}, ...[
      row("trials ok", model.results.variants.map((variant) => String(variant.trials_ok))),
      row("trials failed", model.results.variants.map((variant) => String(variant.trials_failed))),
      ...(model.results.variants.some((variant) => variant.allocator)
        ? [
            row("allocator", model.results.variants.map((variant) => variant.allocator ?? "–")),
            row("malloc seen in", model.results.variants.map((variant) => variant.allocator_libraries?.join(", ") || "–")),
          ]
        : []),
      row("final model, SHA-256", model.results.variants.map((variant) => variant.model_sha256?.slice(0, 16) ?? "–")),
      ...switches.map((name) => row(name, model.results.variants.map((variant) => text(variant.switches[name])))),
    ])),
  );
}

function tree(title: string, value: unknown): HTMLElement {
  return h(
    "details",
    { class: "raw" },
    h("summary", {}, title),
    h("pre", { tabindex: "0", role: "region", "aria-label": title }, JSON.stringify(value, null, 2)),
  );
}

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** One line per value, as `memduel report --format csv` writes it. */
export function as_csv(trials_: Trial[]): string {
  const field = (text: string): string => {
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = ["trial,block,position,variant,kind,status,role,round,phase,metric,value,profiler"];
  for (const trial of trials_)
    for (const role of trial.roles) {
      const head = [trial.id, trial.block, trial.position ?? "", field(trial.variant), trial.kind, trial.status, field(role.role)];
      const add = (round: string, phase: string, metrics: Record<string, number>): void => {
        for (const [metric, value] of Object.entries(metrics))
          lines.push([...head, round, field(phase), field(metric), value, field(trial.profiler ?? "")].join(","));
      };
      add("", "", role.metrics);
      for (const round of role.rounds ?? []) {
        add(String(round.round), "", round.metrics);
        for (const phase of round.phases ?? []) add(String(round.round), phase.phase, phase.metrics);
      }
    }
  return `${lines.join("\n")}\n`;
}

function downloads(model: ReportModel): HTMLElement {
  const button = (label: string, action: () => void): HTMLElement =>
    h("button", { type: "button", click: action }, label);
  if (model.round_step > 1)
    return h(
      "p",
      { class: "downloads" },
      `This page shows one of ${model.round_step} successive rounds. `,
      "results.json, beside it in the run’s directory, has all; memduel report --format csv writes them as a table. ",
      button("config.json", () => save("config.json", "application/json", JSON.stringify(model.config, null, 2))),
    );
  return h(
    "p",
    { class: "downloads" },
    "Take the numbers away: ",
    button("results.json", () => save("results.json", "application/json", JSON.stringify(model.results, null, 2))),
    button("results.csv", () => save("results.csv", "text/csv", as_csv(model.results.trials))),
    button("config.json", () => save("config.json", "application/json", JSON.stringify(model.config, null, 2))),
  );
}
