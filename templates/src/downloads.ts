// The numbers as files to save.

import { h } from "./dom";
import type { ReportModel, Trial } from "./model";

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** One line per value, as `memduel report --format csv` writes it. */
function as_csv(trials: Trial[]): string {
  const field = (text: string): string => {
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = ["trial,block,position,variant,kind,status,role,round,phase,metric,value,profiler"];
  for (const trial of trials)
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

const by_itself = "results.json, beside it in the run's directory, has all; memduel report --format csv writes them as a table.";

export function downloads(model: ReportModel): HTMLElement {
  const button = (label: string, action: () => void): HTMLElement => h("button", { type: "button", click: action }, label);
  const as_json = (name: string, value: unknown): HTMLElement => button(name, () => save(name, "application/json", JSON.stringify(value, null, 2)));
  const config = as_json("config.json", model.config);
  if (model.round_step > 1)
    return h("p", { class: "downloads" }, `This page has one of ${model.round_step} successive rounds. ${by_itself} `, config);
  const csv = button("results.csv", () => save("results.csv", "text/csv", as_csv(model.results.trials)));
  return h("p", { class: "downloads" }, "Download: ", as_json("results.json", model.results), csv, config);
}
