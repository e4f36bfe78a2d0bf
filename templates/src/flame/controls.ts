// The choices above the graph.

import { choice, h, select } from "../dom";
import { choose, chosen_text } from "../state";
import { chosen_filter, chosen_frame, chosen_order, chosen_view } from "./chosen";
import type { FlameModel } from "./data";
import { all_shown, shown_label } from "./shown";
import { amount_word, short_name, view_key, view_label } from "./words";

/** `refresh` shows what was chosen. */
export function make_controls(model: FlameModel, refresh: () => void): HTMLElement[] {
  const filter = chosen_filter();
  const set = (key: string) => (value: string): void => {
    choose(key, value);
    choose("zoom", "");
    refresh();
  };
  const names = model.profiles.map((profile) => profile.name);
  const around = chosen_frame(model);
  const controls = [
    names.length < 2
      ? null
      : select("Compare", all_shown.map((value) => ({ value, label: shown_label(value, names) })), filter.shown, set("side")),
    select("Show", model.views.map((view) => ({ value: view_key(view), label: view_label(view) })), view_key(chosen_view(model)), set("view")),
    choice(
      "Top",
      [
        { value: "callers", label: "callers" },
        { value: "callees", label: amount_word() === "bytes" ? "allocating functions" : "innermost functions" },
        ...(around < 0 ? [] : [{ value: "around" as const, label: `around ${short_name(model, around)}` }]),
      ],
      chosen_order(model),
      set("order"),
    ),
    choice(
      "Frames",
      [
        { value: "own", label: "my code" },
        { value: "all", label: "all" },
      ],
      filter.own_code ? "own" : "all",
      set("frames"),
    ),
    expression("Focus", "focus", "only stacks with a function that matches", refresh),
    expression("Ignore", "ignore", "without stacks with a function that matches", refresh),
    expression("Hide", "hide", "without frames that match", refresh),
  ].filter((control) => control !== null);
  const numbers = (column: "round" | "phase" | "thread"): number[] =>
    [...new Set(model.sites.flatMap((sites) => [...new Set(sites[column])]))].sort((x, y) => x - y);
  const any = { value: "", label: "any" };
  const rounds = numbers("round");
  if (rounds.some((round) => round > 0)) {
    const options = rounds.map((round) => ({ value: String(round), label: round === 0 ? "outside rounds" : String(round) }));
    controls.push(select("Allocated in round", [any, ...options], String(filter.round ?? ""), set("round")));
  }
  const phases = numbers("phase");
  if (phases.some((phase) => phase > 0)) {
    const options = phases.map((phase) => ({ value: String(phase), label: phase === 0 ? "no phase" : (model.phases[phase] ?? "?") }));
    controls.push(select("Allocated in phase", [any, ...options], String(filter.phase ?? ""), set("phase")));
  }
  const threads = numbers("thread");
  if (threads.length > 1) {
    const options = threads.map((thread) => ({ value: String(thread), label: thread === 0 ? "unknown" : thread === 1 ? "1 (the first)" : String(thread) }));
    controls.push(select("Allocated by thread", [any, ...options], String(filter.thread ?? ""), set("thread")));
  }
  return controls;
}

/** A field for a regular expression that the filter has. */
function expression(label: string, key: string, hint: string, refresh: () => void): HTMLElement {
  const field = h("input", {
    type: "text",
    placeholder: hint,
    "aria-label": `${label}: ${hint}, as a regular expression`,
    change: () => {
      let known = true;
      try {
        new RegExp(field.value);
      } catch {
        known = false;
      }
      field.setAttribute("aria-invalid", String(!known));
      field.title = known ? "" : "not a regular expression";
      if (!known) return;
      choose(key, field.value);
      choose("zoom", "");
      refresh();
    },
  });
  field.value = chosen_text(key);
  return h("label", { class: "select" }, h("span", {}, label), field);
}

/** What the colours of a difference mean. */
export function legend(model: FlameModel): HTMLElement {
  const entry = (color: string, text: string): HTMLElement => {
    const sample = h("span", { class: "sample", "aria-hidden": "true" });
    sample.style.background = `var(${color})`;
    return h("span", { class: "entry" }, sample, text);
  };
  const name = model.profiles[1]!.name;
  return h(
    "p",
    { class: "muted legend" },
    entry("--more-much", `${name} has more`),
    entry("--less-much", `${name} has less (striped)`),
    entry("--neutral-soft", "unchanged, or within the sampling error"),
    h("span", {}, "A box is as wide as the larger side."),
  );
}
