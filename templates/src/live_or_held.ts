// What the difference consists of: live blocks, what the allocator holds free, file-backed pages.

import { h, section } from "./dom";
import { exact_bytes, mib } from "./format";
import type { MemoryPart, ReportModel } from "./model";

const names: Record<string, string> = {
  heap_in_use_bytes: "live blocks of the heap",
  heap_held_free_bytes: "held free by the allocator",
  peak_rss_anon_bytes: "anonymous pages, at the peak seen at marks",
  peak_rss_file_bytes: "file-backed pages, at the peak seen at marks",
};

const prepositions: Record<string, string> = { heap_held_free_bytes: "" };

function bytes_cell(bytes: number): HTMLElement {
  return h("td", { class: "number", title: exact_bytes(bytes) }, mib(bytes));
}

function difference(part: MemoryPart): HTMLElement {
  const bytes = part.candidate_bytes - part.baseline_bytes;
  const word = bytes < 0 ? " LESS" : bytes > 0 ? " MORE" : "";
  return h("td", { class: "number", title: exact_bytes(bytes) }, h("strong", {}, mib(Math.abs(bytes)) + word));
}

/** "2.0 MiB LESS in live blocks of the heap, the same held free by the allocator". */
function in_words(parts: MemoryPart[]): string {
  return parts
    .map((part) => {
      const bytes = part.candidate_bytes - part.baseline_bytes;
      const amount = bytes === 0 ? "the same" : `${mib(Math.abs(bytes))} ${bytes < 0 ? "LESS" : "MORE"}`;
      return `${amount} ${prepositions[part.metric] ?? "in"} ${names[part.metric] ?? part.metric}`.replace("  ", " ");
    })
    .join("; ");
}

function summaries(parts: MemoryPart[], baseline: string): HTMLElement {
  const groups = new Map<string, MemoryPart[]>();
  for (const part of parts) {
    const who = `${part.role}, ${part.candidate} against ${baseline}`;
    groups.set(who, [...(groups.get(who) ?? []), part]);
  }
  return h(
    "ul",
    { class: "notes" },
    ...[...groups].map(([who, own]) => h("li", {}, h("strong", {}, `${who}: `), `${in_words(own)}.`)),
  );
}

/** The roles that the verdict is about. */
export function live_or_held(model: ReportModel): HTMLElement[] {
  const roles = new Set(model.headlines.map((line) => line.role));
  const parts = model.memory_parts.filter((part) => roles.has(part.role));
  if (parts.length === 0) return [];
  const baseline = model.results.experiment.baseline;
  const columns = ["role", "part", baseline, "candidate", "difference"];
  const row = (part: MemoryPart): HTMLElement =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, part.role),
      h("td", {}, names[part.metric] ?? part.metric),
      bytes_cell(part.baseline_bytes),
      h("td", { class: "number", title: exact_bytes(part.candidate_bytes) }, `${mib(part.candidate_bytes)} `, h("span", { class: "muted" }, part.candidate)),
      difference(part),
    );
  return [
    section(
      "held",
      "Live or held",
      summaries(parts, baseline),
      h(
        "details",
        {},
        h("summary", {}, "Both sides of each part"),
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "What the memory consists of" },
          h(
            "table",
            {},
            h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, name)))),
            h("tbody", {}, ...parts.map(row)),
          ),
        ),
      ),
      h("p", { class: "muted" }, "Medians of the trials. The parts are read at marks, each at its own highest, so they need not add up to the peak."),
    ),
  ];
}
