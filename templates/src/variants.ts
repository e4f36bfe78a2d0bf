// One look per variant, by colour and by mark, so that no reader depends on colour alone.

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

/** The baseline is grey and dashed, the first candidate blue and solid. Variants that only take a candidate apart are in no chart. */
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

export function css_color(property: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}
