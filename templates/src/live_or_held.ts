// What the difference consists of: live blocks, file-backed or shared pages, and what no part explains.

import { h, section } from "./dom";
import { bytes_text, exact_bytes, metric_label, percent_text, role_label } from "./format";
import type { MemoryBalance, MemoryPart, ReportModel } from "./model";

/** "646.3 MiB LESS", exact on hover. */
function amount(bytes: number): HTMLElement {
  const words = bytes === 0 ? "the SAME" : `${bytes_text(Math.abs(bytes))} ${bytes < 0 ? "LESS" : "MORE"}`;
  return h("data", { value: bytes, title: exact_bytes(bytes) }, words);
}

function difference(part: MemoryPart): number {
  return part.candidate_bytes - part.baseline_bytes;
}

/** First how much it is altogether, then of what. */
function sentence({ role, candidate, metric, total, parts, rest_bytes, rest }: MemoryBalance, baseline: string): HTMLElement {
  const whole = difference(total);
  const part_of = whole !== 0 && rest_bytes / whole > 0 ? `, ${percent_text(rest_bytes / whole)} of it,` : "";
  return h(
    "li",
    {},
    h("strong", {}, `${role_label(role)}, ${candidate} against ${baseline}: `),
    h("strong", {}, amount(whole)),
    ` (${metric_label(metric)}): `,
    ...parts.flatMap((part) => [amount(difference(part)), ` ${part.name}${part.profiled ? " (profile trial)" : ""}; `]),
    amount(rest_bytes),
    `${part_of} is ${rest}.`,
  );
}

function bytes_cell(bytes: number): HTMLElement {
  return h("td", { class: "number", title: exact_bytes(bytes) }, bytes_text(bytes));
}

function row(balance: MemoryBalance, part: MemoryPart, name: string): HTMLElement {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, role_label(balance.role)),
    h("td", {}, name),
    bytes_cell(part.baseline_bytes),
    h("td", { class: "number", title: exact_bytes(part.candidate_bytes) }, `${bytes_text(part.candidate_bytes)} `, h("span", { class: "muted" }, balance.candidate)),
    h("td", { class: "number" }, h("strong", {}, amount(difference(part)))),
  );
}

/** Readings beside the balance have their source behind their name. */
function rows(balance: MemoryBalance): HTMLElement[] {
  return [
    row(balance, balance.total, metric_label(balance.metric)),
    ...balance.parts.map((part) => row(balance, part, `${part.name}${part.profiled ? ", profile trial" : ""}`)),
    ...balance.at_marks.map((part) => row(balance, part, `${part.name}, beside the sum`)),
  ];
}

export function live_or_held(model: ReportModel): HTMLElement[] {
  const balances = model.memory_balances;
  if (balances.length === 0) return [];
  const baseline = model.results.experiment.baseline;
  const columns = ["role", "part", baseline, "candidate", "difference"];
  const profiled = balances.some(({ parts }) => parts.some((part) => part.profiled));
  return [
    section(
      "held",
      "Live or held",
      profiled ? h("p", { class: "muted" }, h("strong", {}, "Profile trials, not part of the verdict,"), " tell what was live at the peak; everything else is medians of the measured trials.") : null,
      h("ul", { class: "notes" }, ...balances.map((balance) => sentence(balance, baseline))),
      h(
        "details",
        { class: "raw" },
        h("summary", {}, "Both sides of each part"),
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "What the memory consists of" },
          h(
            "table",
            {},
            h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, name)))),
            h("tbody", {}, ...balances.flatMap(rows)),
          ),
        ),
      ),
      h("p", { class: "muted" }, "File-backed pages and what is read at marks are each at their own highest. Shared memory is measured of all processes together; that of a single role is in the rest."),
    ),
  ];
}
