// Before all verdicts: what was compared, the answers in one line, memory from round to round, what changed most.

import type { VariantLooks } from "./variants";
import { h, s } from "./dom";
import { metric_label, role_label } from "./format";
import type { Cause, NextStep, ReportModel } from "./model";
import { choose } from "./state";
import { median } from "./timeline_data";

/** Variants and what makes them different. */
export function compared_variants(model: ReportModel, looks: VariantLooks): HTMLElement | null {
  if (model.compared.length === 0) return null;
  return h(
    "dl",
    { class: "compared" },
    ...model.compared.flatMap((variant) => {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = `var(${looks.get(variant.name)?.color ?? "--variant-0"})`;
      return [h("dt", {}, swatch, " ", variant.name), h("dd", { title: variant.words }, h("code", {}, variant.words === "" ? "as configured" : variant.words))];
    }),
  );
}

export function overview(model: ReportModel, looks: VariantLooks): HTMLElement | null {
  const parts = [
    model.overall === "" ? null : h("p", { class: "overall" }, model.overall),
    causes(model),
    model.next_step === null ? null : next_step(model.next_step),
  ].filter((part) => part !== null);
  const picture = thumbnail(model, looks);
  if (parts.length === 0 && picture === null) return null;
  return h("div", { class: "overview" }, h("div", {}, ...parts), picture);
}

function next_step({ sentence, command }: NextStep): HTMLElement {
  return h("div", { class: "next-step" }, h("p", {}, sentence), command === "" ? null : h("code", {}, command));
}

/** A link within the page, which the URL remembers. */
function link_to(section: string, ...content: (Node | string)[]): HTMLElement {
  return h(
    "a",
    {
      href: `#at=${section}`,
      click: (event) => {
        event.preventDefault();
        choose("at", section);
        document.getElementById(section)?.scrollIntoView();
      },
    },
    ...content,
  );
}

/** Those of one metric under a heading of their own. */
function causes(model: ReportModel): HTMLElement | null {
  const metrics = new Map<string, Cause[]>();
  for (const cause of model.causes) metrics.set(cause.of, [...(metrics.get(cause.of) ?? []), cause]);
  if (metrics.size === 0) return null;
  return h("div", { class: "causes" }, ...[...metrics].flatMap(([of, all]) => causes_of(of, all)));
}

function causes_of(metric: string, all: Cause[]): HTMLElement[] {
  const resident = all.some((cause) => cause.resident);
  return [
    h("p", { class: "muted" }, `What changed most in ${metric}: `, link_to(resident ? "resident" : "where", resident ? "from one peak to the other" : "where it differs")),
    h(
      "ol",
      {},
      ...all.map((cause) =>
        h("li", { class: cause.more ? "more" : "less" }, h("strong", {}, cause.amount), " ", h("span", { title: cause.name }, cause.name)),
      ),
    ),
  ];
}

const size = { width: 300, height: 96, edge: 4 };

/** Median peak of each round by variant, of the role that the first verdict is about; null with fewer than three rounds. */
function thumbnail(model: ReportModel, looks: VariantLooks): HTMLElement | null {
  const metric = "peak_rss_bytes";
  const role = model.headlines[0]?.role ?? model.results.trials[0]?.roles[0]?.role;
  if (role === undefined) return null;
  const courses = [...looks.values()].map((look) => {
    const by_round = new Map<number, number[]>();
    for (const trial of model.results.trials) {
      if (trial.variant !== look.name || trial.kind !== "measure" || trial.status !== "ok") continue;
      for (const round of trial.roles.find((one) => one.role === role)?.rounds ?? []) {
        const value = round.metrics[metric];
        if (value !== undefined) by_round.set(round.round, [...(by_round.get(round.round) ?? []), value]);
      }
    }
    const points = [...by_round]
      .sort(([a], [b]) => a - b)
      .map(([round, values]) => ({ round, value: median(values.sort((a, b) => a - b)) ?? 0 }));
    return { look, points };
  });
  const rounds = courses.flatMap(({ points }) => points.map((point) => point.round));
  const last = rounds.reduce((a, b) => Math.max(a, b), 0);
  const first = rounds.reduce((a, b) => Math.min(a, b), last);
  const highest = courses.flatMap(({ points }) => points.map((point) => point.value)).reduce((a, b) => Math.max(a, b), 0);
  if (last - first < 2 || highest <= 0) return null;
  const svg = s("svg", { viewBox: `0 0 ${size.width} ${size.height}`, "aria-hidden": "true" });
  svg.append(s("line", { x1: 0, x2: size.width, y1: size.height - 1, y2: size.height - 1, class: "grid" }));
  for (const { look, points } of courses) {
    const every = Math.ceil(points.length / size.width);
    const at = points.filter((_, i) => i % every === 0).map(({ round, value }) => {
      const x = size.edge + ((round - first) / (last - first)) * (size.width - 2 * size.edge);
      return `${x.toFixed(1)},${(size.height - 1 - (value / highest) * (size.height - 2 * size.edge)).toFixed(1)}`;
    });
    svg.append(s("polyline", { points: at.join(" "), stroke: `var(${look.color})`, "stroke-dasharray": look.dash.join(" ") }));
  }
  return h(
    "figure",
    { class: "thumbnail" },
    svg,
    h("figcaption", {}, link_to("rounds", `${role_label(role)}: ${metric_label(metric)}, rounds ${first} to ${last}`)),
  );
}
