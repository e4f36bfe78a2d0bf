// One look per variant, by colour and by mark, so that no reader depends on colour alone.

import { h } from "./dom";
import type { ReportModel } from "./model";

export interface VariantLook {
  name: string;
  /** CSS custom property with the variant's colour in the current theme. */
  color: string;
  /** Shape of its dots. */
  mark: "circle" | "square" | "diamond" | "triangle";
  /** Dash pattern of its lines. */
  dash: number[];
}

const marks = ["circle", "square", "diamond", "triangle"] as const;
const dashes = [[7, 4], [], [2, 3], [10, 3, 2, 3]];
const colors = 6;

export type VariantLooks = ReadonlyMap<string, VariantLook>;

/** The baseline is grey and dashed, the first candidate blue and solid. Variants of an ablation are in no chart. */
export function variant_looks(model: ReportModel): VariantLooks {
  const baseline = model.results.experiment.baseline;
  const names = model.results.variants.filter((variant) => variant.ablation !== true).map((variant) => variant.name);
  const ordered = [...names.filter((n) => n === baseline), ...names.filter((n) => n !== baseline)];
  return new Map(
    ordered.map((name, i) => [
      name,
      {
        name,
        color: `--variant-${i % colors}`,
        mark: marks[i % marks.length] ?? "circle",
        dash: dashes[i % dashes.length] ?? [],
      },
    ]),
  );
}

/** What stands for a variant before its name. */
export function swatch(look: VariantLook | undefined): HTMLElement {
  const element = h("span", { class: `swatch ${look?.mark ?? ""}`, "aria-hidden": "true" });
  element.style.color = `var(${look?.color ?? "--variant-0"})`;
  return element;
}

/** The outline of a variant's dot. */
export function mark_path(mark: VariantLook["mark"], x: number, y: number, r: number): string {
  switch (mark) {
    case "circle":
      return `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`;
    case "square":
      return `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case "diamond":
      return `M${x},${y - r * 1.3}l${r * 1.3},${r * 1.3}l${-r * 1.3},${r * 1.3}l${-r * 1.3},${-r * 1.3}z`;
    case "triangle":
      return `M${x},${y - r * 1.2}l${r * 1.2},${r * 2.1}h${-r * 2.4}z`;
  }
}

export function css_color(property: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}
