// How much each part of a training took at its highest, variant beside variant.

import { h, section } from "./dom";
import { bytes_text, change, exact_bytes, role_label } from "./format";
import type { PartPeak, PartPeaks, ReportModel } from "./model";

function cell(part: PartPeak, variant: number): HTMLElement {
  const [before, bytes] = [part.bytes[0], part.bytes[variant]];
  if (bytes == null) return h("td", { class: "number" }, "–");
  const beside = variant > 0 && before != null && before !== 0 ? ` ${change(bytes / before)}` : "";
  return h("td", { class: "number", title: exact_bytes(bytes) }, bytes_text(bytes), h("span", { class: "muted" }, beside));
}

function table_of({ role, variants, parts }: PartPeaks): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `Peak by part of ${role_label(role)}` },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...[role_label(role), ...variants].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...parts.map((part) => h("tr", {}, h("th", { scope: "row" }, part.name), ...variants.map((_, variant) => cell(part, variant))))),
    ),
  );
}

export function part_peaks_section(model: ReportModel): HTMLElement[] {
  if (model.part_peaks.length === 0) return [];
  return [section("parts", "Peak by part", ...model.part_peaks.map(table_of), h("p", { class: "muted" }, model.part_peaks_remark))];
}
