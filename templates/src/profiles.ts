// Which profiles the run kept, how to open them, what recording them cost.

import { h, section } from "./dom";
import type { ReportModel } from "./model";

export function profiles_section(model: ReportModel): HTMLElement[] {
  const { profiles, profile_commands: commands, profile_sentences: sentences } = model;
  if (profiles.length === 0 && sentences.length === 0) return [];
  return [
    section(
      "profiles",
      "Profiles, and what recording cost",
      h("ul", { class: "growth" }, ...sentences.map((text) => h("li", {}, text))),
      h("p", { class: "muted" }, "Profile trials enter no statistic. These commands show them:"),
      ...commands.map((text) => h("p", { class: "command" }, h("code", {}, text))),
      h(
        "details",
        { class: "raw" },
        h("summary", {}, `All ${profiles.length} profiles`),
        h(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": "All profiles" },
          h(
            "table",
            {},
            h("thead", {}, h("tr", {}, ...["role", "variant", "profiler", "round", "file"].map((name) => h("th", { scope: "col" }, name)))),
            h(
              "tbody",
              {},
              ...profiles.map((one) =>
                h(
                  "tr",
                  {},
                  h("td", {}, one.role),
                  h("td", {}, one.variant),
                  h("td", {}, one.profiler),
                  h("td", {}, one.round === null ? "whole run" : `end of ${one.round}`),
                  h("td", {}, h("code", {}, one.file)),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}
