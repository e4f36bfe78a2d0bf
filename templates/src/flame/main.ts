// The flame graph page: reads its data, keeps what the reader chose, draws graph and tables.

import "../style.css";
import "./flame.css";

import { choice, h, section, select } from "../dom";
import { choose, chosen, chosen_text } from "../state";
import { type FlameModel, load, type ProfileFacts, type View } from "./data";
import { FlameGraph } from "./graph";
import { moments_chart } from "./moments";
import { functions_table, retention_table } from "./tables";
import { bottom_up, by_frame, type Filter, top_down } from "./tree";
import {
  amount_text,
  amount_word,
  bytes_text,
  difference_sentence,
  difference_text,
  exact_amount,
  half_width,
  percent,
  use_unit,
  view_key,
  view_label,
  with_interval,
} from "./words";

class FlamePage {
  private readonly look = h("p", { class: "look", role: "status" });
  private readonly found = h("span", { class: "muted found", role: "status" });
  private readonly total = h("p", { class: "sentence total" });
  private readonly functions = h("div", {});
  private readonly controls = h("div", { class: "controls" });
  private readonly graph: FlameGraph;
  private readonly field: HTMLInputElement;

  constructor(private readonly model: FlameModel) {
    this.graph = new FlameGraph(model, { on_look: (sentence) => (this.look.textContent = sentence) });
    this.field = h("input", {
      type: "search",
      placeholder: "regular expression",
      "aria-label": "Search functions by regular expression",
      input: () => this.search(this.field.value),
    });
    this.field.value = chosen_text("search");
  }

  build(): HTMLElement {
    const { model } = this;
    const two = model.profiles.length === 2;
    const moments = moments_chart(model.profiles);
    const retention = two ? null : retention_table(model.views, (view) => this.show_view(view));
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      this.field.focus();
    });
    const parts = [
      h("section", { "aria-label": "Graph" }, this.total, this.controls, two ? legend(model) : null, ...model.warnings.map((text) => h("p", { class: "notice" }, text)), this.graph.element, this.look),
      section("functions", two ? "Functions that changed most" : `Functions with most ${amount_word()} of their own`, this.functions),
      retention === null
        ? null
        : section(
            "retention",
            "Retention",
            h("p", { class: "muted" }, "Bytes born in a round and still live at the end of a round, of the last ten rounds. A constant row is a cache; rows that stay for every round are a leak. A cell shows its stacks above."),
            retention,
          ),
      moments === null ? null : section("moments", "Live over time", moments),
      section("recorded", "What was recorded", ...model.profiles.map(facts)),
    ];
    return h("main", {}, ...parts);
  }

  /** The view that the URL names, else the first. */
  private view(): View {
    const keys = this.model.views.map(view_key);
    const first = this.model.views[this.model.first];
    const key = chosen("view", keys, first === undefined ? "" : view_key(first));
    const view = this.model.views[keys.indexOf(key)];
    if (view === undefined) throw new Error("the profile has no allocations");
    return view;
  }

  private show_view(view: View): void {
    choose("view", view_key(view));
    this.reset();
    this.graph.element.scrollIntoView({ block: "center" });
    this.graph.element.focus({ preventScroll: true });
  }

  private label_of(view: View): string {
    return view_label(view, this.model.profiles[0]!.moment_unit);
  }

  private filter(): Filter {
    const number = (key: string): number | null => {
      const text = chosen_text(key);
      return /^\d+$/.test(text) ? Number(text) : null;
    };
    return { round: number("round"), phase: number("phase") };
  }

  private inverted(): boolean {
    return chosen("order", ["callers", "callees"], "callers") === "callees";
  }

  /** Shows what the URL says, in the controls as well. */
  reset(): void {
    this.controls.replaceChildren(...this.make_controls(this.view(), this.filter()), this.field, this.found);
    this.refresh();
  }

  private refresh(): void {
    const { model } = this;
    const view = this.view();
    const filter = this.filter();
    const tree = top_down(model, view, filter);
    this.graph.show(this.inverted() ? bottom_up(model, view, filter) : tree);
    this.functions.replaceChildren(
      functions_table(model, by_frame(tree, model.frames.names.length), tree.sides[0]!.total[0]!, (name) => {
        this.field.value = `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
        this.search(this.field.value);
        this.graph.element.scrollIntoView({ block: "center" });
      }),
    );
    this.say_total(view, filter, tree.sides.map((side) => side.total[0]!), tree.sides.map((side) => side.variance[0]!));
    this.search(this.field.value);
  }

  private say_total(view: View, filter: Filter, bytes: number[], variances: number[]): void {
    // Unfiltered totals come from the profile as they are, not from amounts rounded by site.
    const whole = filter.round === null && filter.phase === null;
    const half = (i: number): number => (whole ? view.totals[i]!.half_width : half_width(variances[i]!));
    const amount = (i: number): HTMLElement => {
      const value = whole ? view.totals[i]!.bytes : bytes[i]!;
      return h("data", { value, title: exact_amount(value) }, with_interval(value, half(i)));
    };
    const label = this.label_of(view);
    const start = label.charAt(0).toUpperCase() + label.slice(1);
    if (bytes.length === 1) {
      this.total.replaceChildren(`${start}: `, amount(0));
      return;
    }
    const [a, b] = this.model.profiles.map((profile) => profile.name);
    const difference_half = Math.hypot(half(0), half(1));
    const values = view.totals.map((total, i) => (whole ? total.bytes : bytes[i]!));
    this.total.replaceChildren(
      `${start}: `,
      h("strong", {}, difference_sentence(a!, b!, difference_text(values[0]!, values[1]!, difference_half))),
      " (",
      amount(0),
      " before, ",
      amount(1),
      " after)",
    );
  }

  private make_controls(view: View, filter: Filter): HTMLElement[] {
    const { model } = this;
    const set = (key: string) => (value: string): void => {
      choose(key, value);
      this.refresh();
    };
    const controls = [
      select("Show", model.views.map((v) => ({ value: view_key(v), label: this.label_of(v) })), view_key(view), set("view")),
      choice(
        "Top",
        [
          { value: "callers", label: "callers" },
          { value: "callees", label: amount_word() === "bytes" ? "allocating functions" : "innermost functions" },
        ],
        this.inverted() ? "callees" : "callers",
        set("order"),
      ),
    ];
    const numbers = (column: "round" | "phase"): number[] =>
      [...new Set(model.sites.flatMap((sites) => [...new Set(sites[column])]))].sort((x, y) => x - y);
    const any = { value: "", label: "any" };
    const rounds = numbers("round");
    if (rounds.some((round) => round > 0)) {
      const options = rounds.map((round) => ({ value: String(round), label: round === 0 ? "outside rounds" : String(round) }));
      controls.push(select("Born in round", [any, ...options], String(filter.round ?? ""), set("round")));
    }
    const phases = numbers("phase");
    if (phases.some((phase) => phase > 0)) {
      const options = phases.map((phase) => ({ value: String(phase), label: phase === 0 ? "no phase" : (model.phases[phase] ?? "?") }));
      controls.push(select("Born in phase", [any, ...options], String(filter.phase ?? ""), set("phase")));
    }
    return controls;
  }

  private search(text: string): void {
    choose("search", text);
    let pattern: RegExp | null = null;
    try {
      if (text !== "") pattern = new RegExp(text, "i");
    } catch {
      this.found.textContent = "not a regular expression";
      this.graph.search(null);
      return;
    }
    const found = this.graph.search(pattern);
    if (pattern === null) {
      this.found.textContent = "";
      return;
    }
    const [a, b] = found.bytes;
    const whole = this.view().totals[0]?.bytes ?? 0;
    const amount = b === undefined ? `${amount_text(a ?? 0)}, ${percent(a ?? 0, whole)}` : difference_text(a ?? 0, b, half_width(found.variance));
    this.found.textContent = `${found.boxes} box${found.boxes === 1 ? "" : "es"}: ${amount}`;
  }
}

function legend(model: FlameModel): HTMLElement {
  const sample = (color: string): HTMLElement => {
    const element = h("span", { class: "sample", "aria-hidden": "true" });
    element.style.background = `var(${color})`;
    return element;
  };
  const name = model.profiles[1]!.name;
  return h(
    "p",
    { class: "muted legend" },
    sample("--more-much"),
    `${name} has MORE `,
    sample("--less-much"),
    `${name} has LESS `,
    sample("--neutral-soft"),
    "the same, or within the sampling interval. A box is as wide as the larger side.",
  );
}

function facts(profile: ProfileFacts): HTMLElement {
  const rows: [string, string][] = Object.entries(profile.facts);
  const amounts = profile.facts["amounts"] ?? "requested bytes";
  const recorded = profile.sampled
    ? "Sampled: amounts are unbiased estimates with their 95 % interval."
    : `Every ${profile.unit === "bytes" ? "allocation" : "sample"} was recorded.`;
  const counters = profile.counters;
  if (counters !== undefined) {
    rows.push(
      ["exact peak", `${bytes_text(counters.peak_bytes)} in blocks`],
      ["exact live at end", `${bytes_text(counters.live_bytes)} in blocks`],
      ["exact allocated", `${bytes_text(counters.allocated_bytes)} requested in ${counters.allocations.toLocaleString("en")} allocations`],
      ["mapping peak", bytes_text(counters.mapping_peak_bytes)],
    );
  }
  return h(
    "div",
    {},
    h("h3", {}, profile.name),
    h("p", { class: "muted" }, `${recorded} ${amounts.charAt(0).toUpperCase()}${amounts.slice(1)}.`),
    h("dl", { class: "answers" }, ...rows.flatMap(([key, value]) => [h("dt", {}, key.replaceAll("_", " ")), h("dd", {}, value)])),
    ...profile.notes.map((note) => h("p", { class: "notice" }, note)),
  );
}

async function start(): Promise<void> {
  const model = await load();
  use_unit(model.profiles[0]?.unit ?? "bytes");
  const page = new FlamePage(model);
  const names = model.profiles.map((profile) => profile.name);
  const program = model.profiles[0]?.facts["command"] ?? "";
  document.body.replaceChildren(
    h(
      "div",
      { class: "page wide" },
      h("header", {}, h("div", {}, h("h1", {}, names.length === 2 ? `${names[1]} against ${names[0]}` : (names[0] ?? "")), h("p", { class: "muted" }, program === "" ? "memduel flame graph" : `${program} · memduel flame graph`))),
      page.build(),
    ),
  );
  page.reset();
  document.body.dataset["ready"] = "true";
  addEventListener("hashchange", () => page.reset());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.reset());
}

start().catch((error: unknown) => {
  document.body.replaceChildren(
    h("main", { class: "page" }, h("h1", {}, "This flame graph cannot be shown"), h("p", {}, String(error))),
  );
});
