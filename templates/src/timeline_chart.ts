// Memory over time: uPlot draws bands and lines, the hooks add rounds behind and phases below.

import uPlot from "uplot";

import { type VariantLook, type VariantLooks, css_color } from "./variants";
import { fitting } from "./canvas_text";
import { h } from "./dom";
import { exact_bytes, metric_value, seconds, tick_bytes, unit_of } from "./format";
import type { RoleTimeline, RoundSpan, Span } from "./model";
import { move_by_key, move_by_mouse } from "./moving";
import { choose, chosen_text } from "./state";
import { type Axis, type Band, type Curve, has_rounds, positions } from "./timeline_data";

interface TimelineView {
  timeline: RoleTimeline;
  axis: Axis;
  bands: Band[];
  /** Empty unless every trial is to be drawn. */
  curves: Curve[];
  from_zero: boolean;
  looks: VariantLooks;
}

const lane_height = 18;
/** Below the plot: tick labels by time; by round the rounds carry their own labels on top. */
const axis_heights: Record<Axis, number> = { round: 10, time: 34 };

/** Steps of a byte axis: 1, 2 and 4 of each binary unit's powers, so that ticks read as whole MiB. */
const binary_steps = Array.from({ length: 46 }, (_, i) => 2 ** i);

function within(span: Span, axis: Axis): [number, number] {
  return axis === "time" ? span.seconds : span.position;
}

function with_alpha(color: string, alpha: number): string {
  return `color-mix(in srgb, ${color} ${alpha * 100}%, transparent)`;
}

/** Names of all phases of a timeline in order of appearance. */
export function phase_names(timeline: RoleTimeline): string[] {
  const names = timeline.variants.flatMap((variant) =>
    variant.rounds.flatMap((round) => round.phases.map((phase) => phase.phase)),
  );
  return [...new Set(names)];
}

export function phase_color(names: string[], phase: string): string {
  return css_color(`--phase-${names.indexOf(phase) % 7}`);
}

/** Every other round a shade darker, with its number on top; of many rounds every k-th number. */
function shade_rounds(u: uPlot, rounds: RoundSpan[], axis: Axis): void {
  const { ctx: context, bbox } = u;
  const visible = rounds.filter((round) => {
    const [begin, end] = within(round, axis);
    return u.valToPos(end, "x", true) > bbox.left && u.valToPos(begin, "x", true) < bbox.left + bbox.width;
  });
  const every = Math.ceil((visible.length * 30 * devicePixelRatio) / bbox.width);
  context.save();
  context.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "top";
  // Asked once: of ten thousand rounds the style would cost more than the drawing.
  const [odd, even, muted] = [css_color("--round-odd"), css_color("--round-even"), css_color("--muted")];
  for (const round of visible) {
    const [begin, end] = within(round, axis);
    const left = Math.max(u.valToPos(begin, "x", true), bbox.left);
    const right = Math.min(u.valToPos(end, "x", true), bbox.left + bbox.width);
    context.fillStyle = round.round % 2 === 1 ? odd : even;
    context.fillRect(left, bbox.top, right - left, bbox.height);
    context.fillStyle = muted;
    const label = right - left > 70 * devicePixelRatio ? `round ${round.round}` : `${round.round}`;
    if (round.round % every === 0) context.fillText(label, (left + right) / 2, bbox.top + 4 * devicePixelRatio);
  }
  const first = visible[0];
  if (first !== undefined && first === rounds[0]) {
    const width = u.valToPos(within(first, axis)[0], "x", true) - bbox.left;
    const label = fitting(context, "start-up", width - 8 * devicePixelRatio);
    context.fillText(label, bbox.left + width / 2, bbox.top + 4 * devicePixelRatio);
  }
  context.restore();
}

/** The timeline's variants, baseline first. */
function in_order(view: TimelineView): RoleTimeline["variants"] {
  return [...view.looks.keys()].flatMap((name) => view.timeline.variants.filter((variant) => variant.variant === name));
}

/** One lane per variant below the axis: its rounds, and in them its phases by name. */
function draw_lanes(u: uPlot, view: TimelineView): void {
  const { ctx: context, bbox } = u;
  const ratio = devicePixelRatio;
  const names = phase_names(view.timeline);
  const colors = new Map(names.map((name) => [name, phase_color(names, name)]));
  const [text_color, plain] = [css_color("--text"), css_color("--round-even")];
  context.save();
  context.font = `${10.5 * ratio}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  in_order(view).forEach((variant, lane) => {
    const look = view.looks.get(variant.variant);
    const top = bbox.top + bbox.height + (axis_heights[view.axis] + lane * lane_height) * ratio;
    const height = (lane_height - 4) * ratio;
    context.textAlign = "right";
    context.fillStyle = css_color(look?.color ?? "--text");
    context.fillText(fitting(context, variant.variant, bbox.left - 10 * ratio), bbox.left - 6 * ratio, top + height / 2);
    context.textAlign = "center";
    const box = (span: Span, color: string, label: string): void => {
      const [begin, end] = within(span, view.axis);
      const left = Math.max(u.valToPos(begin, "x", true), bbox.left);
      const right = Math.min(u.valToPos(end, "x", true), bbox.left + bbox.width);
      if (right - left < 0.5) return;
      context.fillStyle = color;
      context.fillRect(left, top, Math.max(right - left - ratio, 1), height);
      context.fillStyle = text_color;
      const text = fitting(context, label, right - left - 6 * ratio);
      if (text !== "") context.fillText(text, (left + right) / 2, top + height / 2);
    };
    for (const round of variant.rounds) {
      box(round, plain, round.phases.length === 0 && has_rounds(view.timeline) ? `${round.round}` : "");
      for (const phase of round.phases) box(phase, colors.get(phase.phase) ?? plain, phase.phase);
    }
  });
  context.restore();
}

interface Columns {
  data: uPlot.AlignedData;
  series: uPlot.Series[];
  bands: uPlot.Band[];
  /** Index in `data` of each variant's median line. */
  medians: { band: Band; index: number }[];
}

function line(look: VariantLook | undefined, width: number, alpha: number): uPlot.Series {
  const color = css_color(look?.color ?? "--text");
  return {
    stroke: alpha < 1 ? with_alpha(color, alpha) : color,
    width,
    dash: alpha < 1 ? [] : (look?.dash ?? []),
    points: { show: false },
  };
}

function columns(view: TimelineView): Columns {
  const data: (number | null)[][] = [positions(view.timeline, view.axis)];
  const series: uPlot.Series[] = [{}];
  const areas: uPlot.Band[] = [];
  const medians: Columns["medians"] = [];
  const add = (values: (number | null)[], options: uPlot.Series): number => {
    data.push(values);
    return series.push(options) - 1;
  };
  for (const curve of view.curves)
    add(curve.high, line(view.looks.get(curve.variant), 1, 0.45));
  for (const band of view.bands) {
    const look = view.looks.get(band.variant);
    const color = css_color(look?.color ?? "--text");
    const edge: uPlot.Series = { stroke: "transparent", width: 0, points: { show: false } };
    if (view.curves.length === 0) {
      const high = add(band.high, edge);
      const low = add(band.low, edge);
      areas.push({ series: [high, low], fill: with_alpha(color, 0.22) });
    }
    medians.push({ band, index: add(band.median, line(look, 2, 1)) });
  }
  return { data: data as uPlot.AlignedData, series, bands: areas, medians };
}

function y_range(view: TimelineView, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const from = view.from_zero ? Math.min(0, low) : low - (high - low) * 0.06;
  // Room for the round numbers on top.
  return [from, high + Math.max(high - from, 1) * 0.12];
}

function inside<T extends Span>(spans: T[], axis: Axis, x: number): T | undefined {
  return spans.find((span) => within(span, axis)[0] <= x && x < within(span, axis)[1]);
}

/** "40% of the run", of its only round. */
function share_of(round: Span, axis: Axis, x: number): string {
  const [begin, end] = within(round, axis);
  return `${Math.round((100 * (x - begin)) / (end - begin))}% of the run`;
}

/** "round 4", "start-up"; by time the time as well. */
function x_label(view: TimelineView, x: number): string {
  const variant = in_order(view)[0];
  if (variant === undefined) return seconds(x);
  if (view.axis === "time") return seconds(x);
  const round = inside(variant.rounds, view.axis, x);
  if (!has_rounds(view.timeline)) return round === undefined ? "" : share_of(round, view.axis, x);
  return round === undefined ? "between rounds" : `round ${round.round}`;
}

/** Of a variant, in which phase it is. */
function phase_at(view: TimelineView, variant: string, x: number): string {
  const rounds = view.timeline.variants.find((one) => one.variant === variant)?.rounds ?? [];
  const round = inside(rounds, view.axis, x);
  const phase = inside(round?.phases ?? [], view.axis, x);
  const number = round !== undefined && view.axis === "time" && has_rounds(view.timeline) ? `round ${round.round}` : "";
  const words = [number, phase?.phase ?? ""].filter((word) => word !== "").join(", ");
  return words === "" ? "" : ` (${words})`;
}

/** Reads the chart at the cursor, in words. */
function readout(view: TimelineView, medians: Columns["medians"], i: number, x: number): string {
  const metric = view.timeline.metric;
  const parts = medians.flatMap(({ band }) => {
    const [low, mid, high] = [band.low[i], band.median[i], band.high[i]];
    if (low == null || mid == null || high == null) return [];
    const exact = unit_of(metric) === "bytes" ? ` = ${exact_bytes(mid)}` : "";
    return [
      `${band.variant}${phase_at(view, band.variant, x)} ${metric_value(metric, mid)}${exact}, trials ${metric_value(metric, low)} to ${metric_value(metric, high)}`,
    ];
  });
  return [x_label(view, x), ...parts].join(" · ");
}

/** What the URL says of an axis: "1.5~3.25". */
function chosen_zoom(axis: Axis): { min: number; max: number } | null {
  const [min = NaN, max = NaN] = chosen_text(`zoom_${axis}`).split("~").map(Number);
  return min < max ? { min, max } : null;
}

function keep_zoom(u: uPlot, axis: Axis): void {
  const { min, max } = u.scales["x"] ?? {};
  const xs = u.data[0];
  if (min == null || max == null || xs.length === 0) return;
  const whole = min <= xs[0]! && max >= xs.at(-1)!;
  choose(`zoom_${axis}`, whole ? "" : `${Number(min.toFixed(3))}~${Number(max.toFixed(3))}`);
}

/** A chart element that owns its uPlot; keys + − ← → 0 zoom and move as the mouse does. */
export function timeline_chart(view: TimelineView): HTMLElement {
  const { timeline, axis } = view;
  const prepared = columns(view);
  const hint = "Drag to zoom, with Shift to move, double click to reset; with the keyboard + − ← → and 0.";
  const output = h("output", { class: "readout" }, hint);
  const plot = h("div", {
    class: "plot",
    tabindex: "0",
    role: "application",
    "aria-roledescription": "chart",
    "aria-label": `${timeline.metric} of ${timeline.role} by ${axis}: ${prepared.medians
      .map(({ band }) => `${band.variant} up to ${metric_value(timeline.metric, highest(band.high))}`)
      .join(", ")}`,
  });
  const baseline = in_order(view)[0];
  const below = axis_heights[axis] + timeline.variants.length * lane_height;
  const height = 300 + below;
  const options: uPlot.Options = {
    width: 800,
    height,
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: {
      x: { time: false },
      y: { range: (_u, low, high) => y_range(view, low, high) },
    },
    series: prepared.series,
    bands: prepared.bands,
    axes: [
      {
        size: below,
        stroke: () => css_color("--muted"),
        grid: { show: false },
        ticks: { show: axis === "time", stroke: () => css_color("--line"), size: 4 },
        values: (_u, ticks) => ticks.map((tick) => (axis === "time" ? `${tick} s` : "")),
      },
      {
        size: 78,
        stroke: () => css_color("--muted"),
        grid: { stroke: () => css_color("--line"), width: 1 },
        ticks: { show: false },
        ...(unit_of(timeline.metric) === "bytes" ? { incrs: binary_steps } : {}),
        values: (_u, ticks) =>
          ticks.map((tick) => (unit_of(timeline.metric) === "bytes" ? tick_bytes(tick) : String(tick))),
      },
    ],
    hooks: {
      setScale: [
        (u, key) => {
          if (key === "x") keep_zoom(u, axis);
        },
      ],
      drawClear: [(u) => baseline && has_rounds(timeline) && shade_rounds(u, baseline.rounds, axis)],
      draw: [(u) => draw_lanes(u, view)],
      setCursor: [
        (u) => {
          const i = u.cursor.idx;
          const x = i == null ? null : u.data[0][i];
          output.textContent = i == null || x == null ? hint : readout(view, prepared.medians, i, x);
        },
      ],
    },
  };
  const zoom = chosen_zoom(axis);
  const chart = new uPlot(options, prepared.data, plot);
  if (zoom !== null) chart.setScale("x", zoom);
  move_by_mouse(chart);
  plot.addEventListener("keydown", (event) => {
    if (move_by_key(chart, event.key)) event.preventDefault();
  });
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width > 0 && width !== chart.width) chart.setSize({ width, height });
  }).observe(plot);
  return h("div", { class: "chart" }, plot, output);
}

function highest(values: (number | null)[]): number {
  return values.reduce<number>((most, v) => Math.max(most, v ?? 0), 0);
}
