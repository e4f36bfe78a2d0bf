// Every trial as a dot, since data often comes in clusters that a mean or a box would hide.

import { h, s } from "./dom";
import { metric_exact, metric_value, tick_bytes, unit_of } from "./format";
import type { Cell } from "./model";
import type { Place } from "./parts";
import { table } from "./table";
import { median } from "./timeline_data";
import { mark_path } from "./variants";

export interface Dot {
  /** Column, counted from 0. */
  column: number;
  variant: string;
  trial: number;
  value: number;
}

interface DotChart {
  metric: string;
  columns: string[];
  /** What a column is: "round" or "block". */
  column_name: string;
  dots: Dot[];
  from_zero: boolean;
  place: Place;
}

const frame = { left: 78, right: 12, top: 10, bottom: 30, height: 260, first_width: 800 };

function nice_step(span: number, steps: number): number {
  const raw = Math.max(span / steps, Number.MIN_VALUE);
  const power = 2 ** Math.floor(Math.log2(raw));
  return raw > power * 1.4 ? power * 2 : power;
}

function tick_label(metric: string, value: number): string {
  return unit_of(metric)?.startsWith("bytes") ? tick_bytes(value) : metric_value(metric, value);
}

interface Spot {
  dot: Dot;
  x: number;
  y: number;
}

/** The chart for one width; one path per variant, so that a hundred thousand dots stay cheap. */
function draw(chart: DotChart, width: number): { svg: SVGSVGElement; places: Spot[] } {
  const values = chart.dots.map((dot) => dot.value);
  const highest = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const lowest = values.reduce((a, b) => Math.min(a, b), Infinity);
  const pad = (highest - lowest) * 0.08 || Math.abs(highest) * 0.02 || 1;
  const from = chart.from_zero ? Math.min(0, lowest) : lowest - pad;
  const to = highest + (chart.from_zero ? (highest - from) * 0.06 || 1 : pad);
  const inner = { width: width - frame.left - frame.right, height: frame.height - frame.top - frame.bottom };
  const y_of = (v: number): number => frame.top + inner.height * (1 - (v - from) / (to - from));
  const column_width = inner.width / Math.max(chart.columns.length, 1);
  const lane = (column_width * 0.8) / Math.max(chart.place.looks.size, 1);
  const radius = Math.max(1.5, Math.min(4, lane / 4));

  const svg = s("svg", {
    width,
    height: frame.height,
    viewBox: `0 0 ${width} ${frame.height}`,
    "aria-hidden": "true",
  });
  const every = Math.ceil(chart.columns.length / Math.max(inner.width / 34, 1));
  chart.columns.forEach((label, i) => {
    const x = frame.left + i * column_width;
    if (i % 2 === 0 && column_width > 4)
      svg.append(s("rect", { x, y: frame.top, width: column_width, height: inner.height, class: "stripe" }));
    if (i % every === 0)
      svg.append(s("text", { x: x + column_width / 2, y: frame.height - 10, class: "tick", "text-anchor": "middle" }, label));
  });
  const step = nice_step(to - from, 5);
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
    const y = y_of(tick);
    svg.append(
      s("line", { x1: frame.left, x2: width - frame.right, y1: y, y2: y, class: "grid" }),
      s("text", { x: frame.left - 8, y: y + 4, class: "tick", "text-anchor": "end" }, tick_label(chart.metric, tick)),
    );
  }

  const places: Spot[] = [];
  [...chart.place.looks.values()].forEach((look, a) => {
    const own = chart.dots.filter((dot) => dot.variant === look.name);
    const by_column = new Map<number, Dot[]>();
    for (const dot of own) by_column.set(dot.column, [...(by_column.get(dot.column) ?? []), dot]);
    const path: string[] = [];
    const middle: string[] = [];
    const taken = new Set<number>();
    for (const [column, dots] of by_column) {
      const left = frame.left + column * column_width + column_width * 0.1 + a * lane;
      dots.forEach((dot, i) => {
        const x = left + (lane * (i + 1)) / (dots.length + 1);
        const y = y_of(dot.value);
        places.push({ dot, x, y });
        // Dots at one place of the screen are one dot on it.
        const spot = Math.round(x * 2) * 4096 + Math.round(y * 2);
        if (!taken.has(spot)) path.push(mark_path(look.mark, x, y, radius));
        taken.add(spot);
      });
      const mid = median(dots.map((dot) => dot.value).sort((p, q) => p - q));
      if (mid !== null && dots.length > 1) middle.push(`M${left + lane * 0.08},${y_of(mid)}h${lane * 0.84}`);
    }
    const color = `var(${look.color})`;
    svg.append(
      s("path", { d: path.join(""), class: "dots", fill: color }),
      s("path", { d: middle.join(""), class: "median", stroke: color }),
    );
  });
  return { svg, places };
}

function nearest(places: Spot[], x: number, y: number): Spot | null {
  let best: Spot | null = null;
  let least = 30 ** 2;
  for (const place of places) {
    const distance = (place.x - x) ** 2 + (place.y - y) ** 2;
    if (distance < least) [best, least] = [place, distance];
  }
  return best;
}

const most_rows = 200;

/** The same numbers for readers who cannot see the chart: medians by column and variant. Made when it is unfolded. */
function as_table(chart: DotChart): HTMLElement {
  const title = `Medians by ${chart.column_name} as a table`;
  const values = new Map<string, number[]>();
  const variants = [...chart.place.looks.keys()];
  const cell = (column: number, variant: string): Cell => {
    const mid = median((values.get(`${column} ${variant}`) ?? []).sort((p, q) => p - q));
    return { text: [{ text: metric_value(chart.metric, mid) }], exact: metric_exact(chart.metric, mid), value: mid, variant };
  };
  const draw = (): HTMLElement => {
    for (const { column, variant, value } of chart.dots) {
      const key = `${column} ${variant}`;
      const of_cell = values.get(key);
      if (of_cell === undefined) values.set(key, [value]);
      else of_cell.push(value);
    }
    const rows = chart.columns.map((label, column) => ({
      cells: [{ text: [{ text: label }] }, ...variants.map((variant) => cell(column, variant))],
    }));
    const columns = [{ title: chart.column_name }, ...variants.map((variant) => ({ title: variant, is_number: true }))];
    return table({ caption: title, columns, rows, most_shown: most_rows, has_heading: true }, chart.place);
  };
  const details = h("details", { class: "long" }, h("summary", {}, title));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(draw());
  });
  return details;
}

export function dot_chart(chart: DotChart, label: string): HTMLElement {
  const hint = "Each dot is one trial, the bar the median of its variant. Point at a dot to read it.";
  const output = h("output", { class: "readout" }, hint);
  const plot = h("div", { class: "plot", role: "img", "aria-label": label });
  plot.style.height = `${frame.height}px`;
  let places: Spot[] = [];
  const paint = (width: number): void => {
    const drawn = draw(chart, width);
    places = drawn.places;
    plot.replaceChildren(drawn.svg);
  };
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const found = nearest(places, event.clientX - box.left, event.clientY - box.top);
    output.textContent =
      found === null
        ? hint
        : `${chart.column_name} ${chart.columns[found.dot.column] ?? ""} · ${found.dot.variant}, trial ${found.dot.trial} · ` +
          `${metric_value(chart.metric, found.dot.value)} = ${metric_exact(chart.metric, found.dot.value)}`;
  });
  paint(frame.first_width);
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width > 0) paint(width);
  }).observe(plot);
  return h("div", { class: "chart" }, plot, output, as_table(chart));
}
