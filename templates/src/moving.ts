// Moving a zoomed chart along its x axis, by keys and by the mouse.

import type uPlot from "uplot";

/** Shows [begin, begin + width], as far as there are data. */
function show(chart: uPlot, begin: number, width: number): void {
  const xs = chart.data[0];
  const [first, last] = [xs[0] ?? 0, xs.at(-1) ?? 1];
  const wanted = Math.min(width, last - first);
  const from = Math.min(Math.max(begin, first), last - wanted);
  chart.setScale("x", { min: from, max: from + wanted });
}

/** + and − zoom, arrows move, 0 shows all; whether the key was one of these. */
export function move_by_key(chart: uPlot, key: string): boolean {
  const { min, max } = chart.scales.x ?? {};
  if (min == null || max == null) return false;
  const width = max - min;
  const moves: Record<string, [number, number]> = {
    "+": [min + width / 4, width / 2],
    "=": [min + width / 4, width / 2],
    "-": [min - width / 2, 2 * width],
    ArrowLeft: [min - width / 4, width],
    ArrowRight: [min + width / 4, width],
    "0": [-Infinity, Infinity],
  };
  const to = moves[key];
  if (to === undefined) return false;
  show(chart, ...to);
  return true;
}

/** Dragging with Shift moves what is shown; without it the chart zooms to what was dragged over. */
export function move_by_mouse(chart: uPlot): void {
  chart.over.addEventListener(
    "mousedown",
    (down) => {
      const { min, max } = chart.scales.x ?? {};
      if (!down.shiftKey || min == null || max == null) return;
      down.stopImmediatePropagation();
      down.preventDefault();
      const per_pixel = (max - min) / chart.over.clientWidth;
      const move = (event: MouseEvent): void =>
        show(chart, min - (event.clientX - down.clientX) * per_pixel, max - min);
      const end = (): void => {
        document.removeEventListener("mousemove", move);
        document.removeEventListener("mouseup", end);
      };
      document.addEventListener("mousemove", move);
      document.addEventListener("mouseup", end);
    },
    { capture: true },
  );
}
