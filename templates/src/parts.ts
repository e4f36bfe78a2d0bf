// A part of the document as an element, by its kind.

import { choice_part } from "./choice";
import { h } from "./dom";
import { downloads } from "./downloads";
import { flame_graphs } from "./flames";
import { fold } from "./fold";
import type { Part, ReportModel, Section } from "./model";
import { rounds_chart } from "./rounds";
import { table } from "./table";
import { command_code, text_nodes } from "./text";
import type { VariantLooks } from "./variants";

/** What a part is drawn from, beside itself. */
export interface Place {
  model: ReportModel;
  looks: VariantLooks;
  section: Section;
}

export function draw_parts(parts: Part[], place: Place): HTMLElement[] {
  return parts.map((part) => draw(part, place));
}

function draw(part: Part, place: Place): HTMLElement {
  switch (part.kind) {
    case "Paragraph":
      return h("p", {}, ...text_nodes(part.text));
    case "List":
      return h("ul", {}, ...part.items.map((item) => h("li", {}, ...text_nodes(item))));
    case "Command":
      return command(part.command);
    case "Table":
      return table(part, place);
    case "Preformatted":
      return h("pre", { tabindex: "0", role: "group", "aria-label": place.section.title }, part.text);
    case "RoundsChart":
      return rounds_chart(part, place);
    case "FlameGraphs":
      return flame_graphs(place.model);
    case "Downloads":
      return downloads(place.model);
    case "Fold":
      return fold(part, () => draw_parts(part.parts, place));
    case "Choice":
      return choice_part(part, place.section.id, (option) => draw_parts(option.parts, place));
  }
}

function command(text: string): HTMLElement {
  const copied = (): void => {
    button.textContent = "Copied";
  };
  const copy = (): void => void navigator.clipboard.writeText(text).then(copied);
  const button = h("button", { type: "button", click: copy }, "Copy");
  return h("p", { class: "command" }, command_code(text), button);
}
