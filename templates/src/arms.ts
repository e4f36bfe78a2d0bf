// One look per arm, by colour and by mark, so that no reader depends on colour alone.

import type { ReportModel } from "./model";

export interface ArmLook {
  name: string;
  /** CSS custom property with the arm's colour in the current theme. */
  color: string;
  /** Shape of its dots. */
  mark: "circle" | "square" | "diamond" | "triangle";
  /** Dash pattern of its lines. */
  dash: number[];
}

const marks = ["circle", "square", "diamond", "triangle"] as const;
const dashes = [[7, 4], [], [2, 3], [10, 3, 2, 3]];
const colors = 6;

export type ArmLooks = ReadonlyMap<string, ArmLook>;

/** The baseline is grey and dashed, the first candidate blue and solid. Arms that only take a candidate apart are in no chart. */
export function arm_looks(model: ReportModel): ArmLooks {
  const baseline = model.results.experiment.baseline;
  const names = model.results.arms.filter((arm) => arm.ablation !== true).map((arm) => arm.name);
  const ordered = [...names.filter((n) => n === baseline), ...names.filter((n) => n !== baseline)];
  return new Map(
    ordered.map((name, i) => [
      name,
      {
        name,
        color: `--arm-${i % colors}`,
        mark: marks[i % marks.length] ?? "circle",
        dash: dashes[i % dashes.length] ?? [],
      },
    ]),
  );
}

export function css_color(property: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(property).trim();
}
