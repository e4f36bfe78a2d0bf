// Does memory grow from round to round? One row per arm and role, baseline first.

import { h, section } from "./dom";
import { metric_exact, metric_value, mib } from "./format";
import type { Growth, ReportModel } from "./model";

const signs: Record<Growth["verdict"], string> = {
  flat: "→",
  growing: "↗",
  stepped: "⌐",
  settling: "⤵",
  inconclusive: "?",
};

function verdict(row: Growth): HTMLElement {
  const look = row.verdict === "growing" ? "regressed" : row.verdict === "flat" ? "improved" : "";
  return h(
    "span",
    { class: `badge ${look}` },
    h("span", { "aria-hidden": "true" }, signs[row.verdict]),
    ` ${row.verdict}`,
  );
}

function number(row: Growth, value: number | null | undefined): HTMLElement {
  return h(
    "td",
    { class: "number", title: metric_exact(row.metric, value) },
    h("data", { value: value ?? "" }, metric_value(row.metric, value)),
  );
}

function projection(row: Growth): string {
  const { projection: to } = row;
  if (to == null || to.round == null) return "";
  const range = to.ci_low == null || to.ci_high == null ? "" : ` (${Math.round(to.ci_low)}–${Math.round(to.ci_high)})`;
  return `meets ${mib(to.limit_bytes)} in round ${Math.round(to.round)}${range}`;
}

const columns = ["role", "arm", "growth", "interval from", "to", "verdict and reason", "projection"];

export function growth_section(model: ReportModel): HTMLElement[] {
  const rows = model.results.growth;
  if (rows.length === 0) return [];
  return [
    section(
      "growth",
      "Growth from round to round",
      h(
        "details",
        {},
        h("summary", {}, `Growth of ${rows.length} series, with interval, verdict and reason`),
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "Growth" },
          h(
            "table",
            { class: "metrics" },
            h("thead", {}, h("tr", {}, ...columns.map((name) => h("th", { scope: "col" }, name)))),
            h(
              "tbody",
              {},
              ...rows.map((row) =>
                h(
                  "tr",
                  {},
                  h("th", { scope: "row" }, row.role),
                  h("td", {}, row.arm),
                  number(row, row.slope),
                  number(row, row.ci_low),
                  number(row, row.ci_high),
                  h("td", { class: "reason" }, verdict(row), ` ${row.reason}`),
                  h("td", {}, projection(row)),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}
