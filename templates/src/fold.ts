// Parts behind a title. What is long stays folded on paper.

import { h } from "./dom";
import type { PartOf } from "./model";

export function fold({ title, is_open, is_long }: PartOf<"Fold">, draw: () => HTMLElement[]): HTMLElement {
  return h("details", { open: is_open === true, class: is_long ? "long" : undefined }, h("summary", {}, title), ...draw());
}
