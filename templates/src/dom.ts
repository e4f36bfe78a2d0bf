// Elements made from data: every text goes in as a text node, never as markup.

/** Marks that reorder the text around them: a name could otherwise rewrite the sentence it is in. */
const reordering = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value).replace(reordering, "\uFFFD"));
  }
  for (const child of children) {
    if (child === null || child === undefined) continue;
    element.append(typeof child === "string" ? child.replace(reordering, "\uFFFD") : child);
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** A region of the page with a heading that the table of contents links to. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title`, tabindex: "-1" }, title),
    ...children,
  );
}

/** One choice out of several, as radio buttons that look like a segmented switch. */
export function choice<T extends string>(
  legend: string,
  options: readonly { value: T; label: string }[],
  selected: T,
  on_change: (value: T) => void,
): HTMLElement {
  const name = `choice-${legend.replaceAll(" ", "-")}-${choice_count++}`;
  return h(
    "fieldset",
    { class: "choice" },
    h("legend", {}, legend),
    ...options.map(({ value, label }) => {
      const input = h("input", { type: "radio", name, value, change: () => on_change(value) });
      input.checked = value === selected;
      return h("label", {}, input, h("span", {}, label));
    }),
  );
}
let choice_count = 0;

/** A drop-down list with its label. */
export function select(
  label: string,
  options: readonly { value: string; label: string }[],
  selected: string,
  on_change: (value: string) => void,
): HTMLElement {
  const list = h(
    "select",
    { change: () => on_change(list.value) },
    ...options.map(({ value, label: text }) => {
      const option = h("option", { value }, text);
      option.selected = value === selected;
      return option;
    }),
  );
  return h("label", { class: "select" }, h("span", {}, label), list);
}

/** Few short options are buttons, others a list. */
export function pick(label: string, options: readonly string[], selected: string, on_change: (value: string) => void): HTMLElement {
  const shown = options.map((value) => ({ value, label: value }));
  const short = options.length <= 8 && options.join("").length <= 80;
  return short ? choice(label, shown, selected, on_change) : select(label, shown, selected, on_change);
}
