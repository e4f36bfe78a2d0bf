// Memory over time and round by round, one role at a time, variants overlaid.

import { choice, h, select } from "./dom";
import { type Dot, dot_chart } from "./dots";
import type { ChartRole, Metrics, PartOf, ReportModel, RoleTimeline, Trial } from "./model";
import type { Place } from "./parts";
import { choose, chosen } from "./state";
import { phase_color, phase_names, timeline_chart } from "./timeline_chart";
import { type Axis, bands, curves, has_rounds } from "./timeline_data";
import { swatch } from "./variants";

/** Few are buttons, many a list. */
function role_picker(roles: ChartRole[], role: string, pick: (role: string) => void): HTMLElement {
  const most_buttons = 8;
  const choices = roles.map(({ role: value, label }) => ({ value, label }));
  return choices.length <= most_buttons ? choice("Role", choices, role, pick) : select("Role", choices, role, pick);
}

function metric_words({ metrics }: ReportModel, name: string): string {
  return metrics[name] ?? name;
}

function measured(model: ReportModel): Trial[] {
  return model.results.trials.filter((t) => t.kind === "measure" && t.status === "ok");
}

/** Those that readers look for first. */
function metrics_in(all: Metrics[]): string[] {
  const preferred = ["peak_rss_bytes", "peak_rss_above_idle_bytes", "peak_heap_bytes"];
  return [...new Set(all.flatMap((metrics) => Object.keys(metrics)))].sort((a, b) => rank(preferred, a) - rank(preferred, b) || a.localeCompare(b));
}

function rank(preferred: string[], name: string): number {
  const i = preferred.indexOf(name);
  return i < 0 ? preferred.length : i;
}

export function rounds_chart({ roles }: PartOf<"RoundsChart">, place: Place): HTMLElement {
  const { model } = place;
  const [first] = roles;
  if (first === undefined) return h("p", { class: "muted" }, "No role has measurements over time.");
  const names = roles.map(({ role }) => role);
  const content = h("div", {});
  const show = (): void => {
    const name = chosen("role", names, first.role);
    const role = roles.find((one) => one.role === name) ?? first;
    content.replaceChildren(
      ...(role.peaks === "" ? [] : [h("p", { class: "peaks" }, role.peaks)]),
      ...over_time(place, role.role, show),
      ...peaks_by_round(place, role, show),
      ...trials_in_order(place, role, show),
    );
  };
  show();
  const thinned = `Dots: the round with the most memory of ${model.round_step} successive rounds. The curves have every round.`;
  const picker = role_picker(roles, chosen("role", names, first.role), (role) => {
    choose("role", role);
    show();
  });
  return h(
    "div",
    {},
    model.round_step === 1 ? null : h("p", { class: "muted" }, thinned),
    h("div", { class: "controls" }, picker, legend(place)),
    content,
  );
}

function legend({ model, looks }: Place): HTMLElement {
  const role = (name: string): string => (looks.size > 1 && name === model.results.experiment.baseline ? " (baseline)" : "");
  const entries = [...looks.values()].map((look) => h("li", {}, swatch(look), ` ${look.name}${role(look.name)}`));
  return h("ul", { class: "legend" }, ...entries);
}

const axes = ["round", "time"] as const;
const details = ["band", "trials"] as const;
const scales = ["zero", "data"] as const;

function over_time(place: Place, role: string, show: () => void): HTMLElement[] {
  const { model, looks } = place;
  const own = model.timelines.filter((t) => t.role === role);
  const metrics = own.map((t) => t.metric);
  const preferred = metrics.find((m) => m.includes("rss")) ?? metrics[0];
  if (preferred === undefined) return [];
  const timeline = own.find((t) => t.metric === chosen("series", metrics, preferred));
  if (timeline === undefined) return [];
  const by_round = timeline.round_buckets > 0;
  const rounds_word = has_rounds(timeline) ? "rounds" : "progress";
  const axis: Axis = by_round ? chosen("x", axes, "round") : "time";
  const detail = chosen("show", details, "band");
  const scale = chosen("y", scales, "zero");
  const all = curves(model, timeline, axis);
  const pick = (key: string) => (value: string) => {
    choose(key, value);
    show();
  };
  return [
    h(
      "div",
      { class: "controls" },
      metrics.length < 2
        ? null
        : select("Series", metrics.map((m) => ({ value: m, label: metric_words(model, m) })), timeline.metric, pick("series")),
      by_round
        ? choice("Along", [{ value: "round", label: rounds_word }, { value: "time", label: "time" }], axis, pick("x"))
        : null,
      choice("Show", [{ value: "band", label: "median and band" }, { value: "trials", label: "every trial" }], detail, pick("show")),
      choice("Scale", [{ value: "zero", label: "from zero" }, { value: "data", label: "fit" }], scale, pick("y")),
    ),
    timeline_chart({
      timeline,
      axis,
      bands: bands(all, looks.keys()),
      curves: detail === "trials" ? all : [],
      from_zero: scale === "zero",
      looks,
    }),
    ...phase_legend(timeline),
  ];
}

function phase_legend(timeline: RoleTimeline): HTMLElement[] {
  const names = phase_names(timeline);
  const entries = names.map((name) => {
    const box = h("span", { class: "swatch box", "aria-hidden": "true" });
    box.style.color = phase_color(names, name);
    return h("li", {}, box, ` ${name}`);
  });
  return entries.length === 0 ? [] : [h("ul", { class: "legend phases" }, ...entries)];
}

/** A chart of every trial's values: in which numbered columns a trial has which metrics. */
interface DotsOf {
  /** In the URL, of the metric. */
  key: string;
  column_name: string;
  title: string;
  columns_of: (trial: Trial) => [number, Metrics][];
}

function dots_of(place: Place, role: ChartRole, show: () => void, { key, column_name, title, columns_of }: DotsOf): HTMLElement[] {
  const of_trials = measured(place.model).map((trial) => ({ trial, columns: columns_of(trial) }));
  const metrics = metrics_in(of_trials.flatMap(({ columns }) => columns.map(([, metrics]) => metrics)));
  const first = metrics[0];
  if (first === undefined) return [];
  const metric = chosen(key, metrics, first);
  const numbers = [...new Set(of_trials.flatMap(({ columns }) => columns.map(([number]) => number)))].sort((a, b) => a - b);
  const column = new Map(numbers.map((number, i) => [number, i]));
  const dots = of_trials.flatMap(({ trial, columns }) =>
    columns.flatMap(([number, { [metric]: value }]): Dot[] =>
      value === undefined ? [] : [{ column: column.get(number) ?? 0, variant: trial.variant, trial: trial.id, value }],
    ),
  );
  const from_zero = chosen("y", scales, "zero") === "zero";
  const heading = `${title}: ${metric_words(place.model, metric)} of ${role.label}`;
  const pick = (value: string): void => {
    choose(key, value);
    show();
  };
  return [
    h("h3", {}, heading),
    h("div", { class: "controls" }, select("Metric", metrics.map((m) => ({ value: m, label: metric_words(place.model, m) })), metric, pick)),
    dot_chart({ metric, columns: numbers.map(String), column_name, dots, from_zero, place }, heading),
  ];
}

function peaks_by_round(place: Place, role: ChartRole, show: () => void): HTMLElement[] {
  const columns_of = (trial: Trial): [number, Metrics][] =>
    (trial.roles.find((one) => one.role === role.role)?.rounds ?? []).map(({ round, metrics }) => [round, metrics]);
  return dots_of(place, role, show, { key: "round_metric", column_name: "round", title: "Each round, every trial", columns_of });
}

/** A machine that drifted during the run shows as a slope. */
function trials_in_order(place: Place, role: ChartRole, show: () => void): HTMLElement[] {
  if (new Set(measured(place.model).map(({ block }) => block)).size < 2) return [];
  const columns_of = (trial: Trial): [number, Metrics][] => [[trial.block, trial.roles.find((one) => one.role === role.role)?.metrics ?? {}]];
  return dots_of(place, role, show, { key: "block_metric", column_name: "block", title: "Trials in the order they ran (a slope is a drift of the machine)", columns_of });
}
