// Memory over time and round by round, one role at a time, variants overlaid.

import type { VariantLooks } from "./variants";
import { choice, h, section, select } from "./dom";
import { type Dot, dot_chart } from "./dots";
import { metric_label } from "./format";
import type { ReportModel, RoleTimeline, Trial } from "./model";
import { peak_places } from "./peak_places";
import { choose, chosen } from "./state";
import { phase_color, phase_names, timeline_chart } from "./timeline_chart";
import { type Axis, bands, curves, median } from "./timeline_data";

interface RoleChoice {
  value: string;
  label: string;
}

/** The median over the measured trials of a role's peak. */
function typical_peak(model: ReportModel, role: string): number {
  const peaks = measured(model).flatMap((trial) => trial.roles.find((one) => one.role === role)?.metrics["peak_rss_bytes"] ?? []);
  return median(peaks.sort((a, b) => a - b)) ?? 0;
}

/** Of each group of processes the largest, then the one in the middle, then the others by size; behind all other roles. */
function role_choices(model: ReportModel, roles: string[]): RoleChoice[] {
  const grouped = model.results.job.groups.map(({ name, count }) => {
    const members = roles.filter((role) => role.startsWith(`${name}-`) && Number(role.slice(name.length + 1)) <= count);
    const peaks = new Map(members.map((role) => [role, typical_peak(model, role)]));
    members.sort((a, b) => (peaks.get(b) ?? 0) - (peaks.get(a) ?? 0));
    const middle = members.length > 2 ? members.splice(members.length >> 1, 1) : [];
    const [largest, ...others] = members;
    if (largest === undefined) return [];
    return [
      { value: largest, label: members.length === 0 ? largest : `${largest}, the largest ${name}` },
      ...middle.map((role) => ({ value: role, label: `${role}, the median ${name}` })),
      ...others.map((role) => ({ value: role, label: role })),
    ];
  });
  const in_groups = new Set(grouped.flat().map(({ value }) => value));
  return [...roles.filter((role) => !in_groups.has(role)).map((role) => ({ value: role, label: role })), ...grouped.flat()];
}

/** Few are buttons, many a list. */
function role_picker(choices: RoleChoice[], role: string, pick: (role: string) => void): HTMLElement {
  const most_buttons = 8;
  return choices.length <= most_buttons ? choice("Role", choices, role, pick) : select("Role", choices, role, pick);
}

/** Roles that have something to show, as they were measured. */
function roles_of(model: ReportModel): string[] {
  const seen = new Set<string>();
  for (const trial of model.results.trials)
    for (const role of trial.roles)
      if ((role.rounds ?? []).length > 0 || model.timelines.some((t) => t.role === role.role))
        seen.add(role.role);
  return [...seen];
}

function measured(model: ReportModel): Trial[] {
  return model.results.trials.filter((t) => t.kind === "measure" && t.status === "ok");
}

function metrics_where(model: ReportModel, has: (trial: Trial) => Iterable<string>): string[] {
  const names = new Set<string>();
  for (const trial of measured(model)) for (const name of has(trial)) names.add(name);
  const preferred = ["peak_rss_bytes", "peak_rss_above_idle_bytes", "peak_heap_bytes"];
  return [...names].sort(
    (a, b) => rank(preferred, a) - rank(preferred, b) || a.localeCompare(b),
  );
}

function rank(preferred: string[], name: string): number {
  const i = preferred.indexOf(name);
  return i < 0 ? preferred.length : i;
}

export function rounds_section(model: ReportModel, looks: VariantLooks): HTMLElement[] {
  const choices = role_choices(model, roles_of(model));
  const roles = choices.map(({ value }) => value);
  const first = roles[0];
  if (first === undefined) return [];
  const content = h("div", {});
  const show = (): void => {
    const role = chosen("role", roles, first);
    const places = peak_places(model, role, looks.keys());
    content.replaceChildren(
      ...(places === null ? [] : [h("p", { class: "peaks" }, places)]),
      ...over_time(model, role, looks, show),
      ...peaks_by_round(model, role, looks, show),
      ...blocks_in_order(model, role, looks, show),
    );
  };
  show();
  return [
    section(
      "rounds",
      "Memory over time",
      model.round_step === 1
        ? null
        : h("p", { class: "muted" }, `Dots: of ${model.round_step} successive rounds the one with most memory. The curves have every round.`),
      h(
        "div",
        { class: "controls" },
        role_picker(choices, chosen("role", roles, first), (role) => {
          choose("role", role);
          show();
        }),
      ),
      legend(model, looks),
      content,
    ),
  ];
}

export function legend(model: ReportModel, looks: VariantLooks): HTMLElement {
  return h(
    "ul",
    { class: "legend" },
    ...[...looks.values()].map((look) => {
      const swatch = h("span", { class: `swatch ${look.mark}`, "aria-hidden": "true" });
      swatch.style.color = `var(${look.color})`;
      const role = looks.size > 1 && look.name === model.results.experiment.baseline ? " (baseline)" : "";
      return h("li", {}, swatch, ` ${look.name}${role}`);
    }),
  );
}

const axes = ["round", "time"] as const;
const details = ["band", "trials"] as const;
const scales = ["zero", "data"] as const;

function over_time(
  model: ReportModel,
  role: string,
  looks: VariantLooks,
  show: () => void,
): HTMLElement[] {
  const own = model.timelines.filter((t) => t.role === role);
  const metrics = own.map((t) => t.metric);
  const preferred = metrics.find((m) => m.includes("rss")) ?? metrics[0];
  if (preferred === undefined) return [];
  const timeline = own.find((t) => t.metric === chosen("series", metrics, preferred));
  if (timeline === undefined) return [];
  const has_rounds = timeline.round_buckets > 0;
  const axis: Axis = has_rounds ? chosen("x", axes, "round") : "time";
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
        : select("Series", metrics.map((m) => ({ value: m, label: metric_label(m) })), timeline.metric, pick("series")),
      has_rounds
        ? choice("Along", [{ value: "round", label: "rounds" }, { value: "time", label: "time" }], axis, pick("x"))
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
  if (names.length === 0) return [];
  return [
    h(
      "ul",
      { class: "legend phases" },
      ...names.map((name) => {
        const swatch = h("span", { class: "swatch box", "aria-hidden": "true" });
        swatch.style.background = phase_color(names, name);
        return h("li", {}, swatch, ` ${name}`);
      }),
    ),
  ];
}

function metric_picker(
  key: string,
  metrics: string[],
  metric: string,
  show: () => void,
): HTMLElement {
  return h(
    "div",
    { class: "controls" },
    select("Metric", metrics.map((m) => ({ value: m, label: metric_label(m) })), metric, (value) => {
      choose(key, value);
      show();
    }),
  );
}

function peaks_by_round(
  model: ReportModel,
  role: string,
  looks: VariantLooks,
  show: () => void,
): HTMLElement[] {
  const rounds_in = (trial: Trial) => trial.roles.find((r) => r.role === role)?.rounds ?? [];
  const metrics = metrics_where(model, (trial) => rounds_in(trial).flatMap((r) => Object.keys(r.metrics)));
  const first = metrics[0];
  if (first === undefined) return [];
  const metric = chosen("round_metric", metrics, first);
  const numbers = [...new Set(measured(model).flatMap((t) => rounds_in(t).map((r) => r.round)))].sort((a, b) => a - b);
  const column = new Map(numbers.map((number, i) => [number, i]));
  const dots: Dot[] = measured(model).flatMap((trial) =>
    rounds_in(trial).flatMap((round) => {
      const value = round.metrics[metric];
      if (value === undefined) return [];
      return [{ column: column.get(round.round) ?? 0, variant: trial.variant, trial: trial.id, value }];
    }),
  );
  return [
    h("h3", {}, `Each round, every trial: ${metric_label(metric)} of ${role}`),
    metric_picker("round_metric", metrics, metric, show),
    dot_chart(
      {
        metric,
        columns: numbers.map(String),
        column_name: "round",
        variants: [...looks.keys()],
        dots,
        from_zero: chosen("y", scales, "zero") === "zero",
        looks,
      },
      `${metric} of ${role} in each round of every trial`,
    ),
  ];
}

function blocks_in_order(
  model: ReportModel,
  role: string,
  looks: VariantLooks,
  show: () => void,
): HTMLElement[] {
  const metrics_in = (trial: Trial) => trial.roles.find((r) => r.role === role)?.metrics ?? {};
  const metrics = metrics_where(model, (trial) => Object.keys(metrics_in(trial)));
  const first = metrics[0];
  if (first === undefined) return [];
  const metric = chosen("block_metric", metrics, first);
  const blocks = [...new Set(measured(model).map((t) => t.block))].sort((a, b) => a - b);
  if (blocks.length < 2) return [];
  const column = new Map(blocks.map((block, i) => [block, i]));
  const dots: Dot[] = measured(model).flatMap((trial) => {
    const value = metrics_in(trial)[metric];
    if (value === undefined) return [];
    return [{ column: column.get(trial.block) ?? 0, variant: trial.variant, trial: trial.id, value }];
  });
  return [
    h("h3", {}, `Blocks in the order they ran: ${metric_label(metric)} of ${role}`),
    h("p", { class: "muted" }, "A slope along this strip would mean that the machine drifted during the run."),
    metric_picker("block_metric", metrics, metric, show),
    dot_chart(
      {
        metric,
        columns: blocks.map(String),
        column_name: "block",
        variants: [...looks.keys()],
        dots,
        from_zero: chosen("y", scales, "zero") === "zero",
        looks,
      },
      `${metric} of ${role} in each block, in run order`,
    ),
  ];
}
