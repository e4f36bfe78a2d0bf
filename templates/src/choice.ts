// One of several groups of parts at a time. The URL keeps which.

import { h, pick } from "./dom";
import type { Option, PartOf } from "./model";
import { choose, chosen, key_of } from "./state";

export function choice_part({ label, options }: PartOf<"Choice">, section: string, draw: (option: Option) => HTMLElement[]): HTMLElement {
  const key = key_of(section, label);
  const labels = options.map((option) => option.label);
  const content = h("div", {});
  const show = (): void => {
    const wanted = chosen(key, labels, labels[0] ?? "");
    const option = options.find((one) => one.label === wanted);
    content.replaceChildren(...(option === undefined ? [] : draw(option)));
  };
  show();
  const change = (value: string): void => {
    choose(key, value);
    show();
  };
  return h("div", {}, h("div", { class: "controls" }, pick(label, labels, chosen(key, labels, labels[0] ?? ""), change)), content);
}
