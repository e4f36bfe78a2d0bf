// A flame graph with its controls and tables: keeps in the URL what the reader chose.

import { h } from "../dom";
import { bytes_text, count_text } from "../format";
import { choose, chosen_text } from "../state";
import { chosen_filter, chosen_frame, chosen_order, chosen_view } from "./chosen";
import { legend, make_controls } from "./controls";
import { counted_total, type FlameModel, type ProfileFacts, type View } from "./data";
import { type Found, FlameGraph } from "./graph";
import { moments_chart } from "./moments";
import { type Filter, shown_label, sides_of } from "./shown";
import { boxes_of, type TableStack } from "./stack";
import { functions_table, retention_table } from "./tables";
import { folded_frames } from "./fold";
import { bottom_up, by_frame, callees_of, callers_of, one_sided_share, top_down, type Tree } from "./tree";
import {
  amount_text,
  amount_word,
  describe,
  difference_text,
  exact_amount,
  half_width,
  percent,
  short_name,
  use_unit,
  view_key,
  view_label,
  with_interval,
} from "./words";

/** A part of the page below the graph. */
export interface Part {
  id: string;
  title: string;
  content: HTMLElement[];
}

/** Nodes from which on the table of functions waits until the graph is on the screen. */
const large = 100_000;

export class FlameView {
  private readonly look = h("p", { class: "look", role: "status" });
  private readonly found = h("span", { class: "muted found", role: "status" });
  private readonly steps: HTMLElement;
  private readonly total = h("p", { class: "total" });
  private readonly functions = h("div", {});
  private readonly functions_title: string;
  private readonly retention = h("div", {});
  private readonly legend = h("div", {});
  private readonly controls = h("div", { class: "controls" });
  private readonly graph: FlameGraph;
  /** Around one function: the graph has its callers, this what it calls. */
  private readonly below: FlameGraph;
  private readonly below_title = h("p", { class: "muted" });
  private readonly largest = h("div", {});
  private refreshed = 0;
  private readonly field: HTMLInputElement;

  /** `stack_of` knows the stacks that links name in the URL. */
  constructor(
    private readonly model: FlameModel,
    private readonly stack_of: (key: string) => TableStack | undefined = () => undefined,
  ) {
    use_unit(model.profiles[0]?.unit ?? "bytes");
    this.graph = new FlameGraph(model, {
      on_look: (sentence) => (this.look.textContent = sentence),
      on_zoom: (node) => choose("zoom", node === 0 ? "" : String(node)),
      on_step: (by) => this.step(by),
    });
    this.below = new FlameGraph(model, {
      on_look: (sentence) => (this.look.textContent = sentence),
      on_zoom: () => {},
      on_step: (by) => this.step(by),
    });
    this.field = h("input", {
      type: "search",
      placeholder: "search: regular expression",
      "aria-label": "Search functions by regular expression",
      input: () => this.type_search(this.field.value),
      keydown: (event) => {
        if (!(event instanceof KeyboardEvent) || event.key !== "Enter") return;
        event.preventDefault();
        this.step(event.shiftKey ? -1 : 1);
      },
    });
    this.field.value = chosen_text("search");
    const step = (text: string, label: string, by: number): HTMLElement =>
      h("button", { type: "button", "aria-label": label, click: () => this.step(by) }, text);
    this.steps = h("span", { class: "steps" }, step("↑", "Previous match", -1), step("↓", "Next match", 1));
    this.graph.element.addEventListener("keydown", (event) => {
      if (event.key === "/") this.focus_search(event);
    });
    this.functions_title =
      model.profiles.length === 2 ? "Functions that changed most" : `Functions with the most ${amount_word()} of their own`;
  }

  /** The graph with its controls. */
  graph_part(): HTMLElement {
    return h(
      "section",
      { "aria-label": "Flame graph" },
      this.total,
      this.controls,
      this.legend,
      ...this.model.warnings.map((text) => h("p", { class: "notice" }, text)),
      this.graph.element,
      this.below_title,
      this.below.element,
      this.look,
      h("details", { class: "long" }, h("summary", {}, "The ten largest boxes"), this.largest),
      h("p", { class: "muted" }, this.extent()),
    );
  }

  /** What stands below it. */
  other_parts(): Part[] {
    const { model } = this;
    const moments = moments_chart(model.profiles);
    const parts: Part[] = [{ id: "functions", title: this.functions_title, content: [this.functions] }];
    if (model.views.some((view) => view.end !== undefined))
      parts.push({
        id: "retention",
        title: "Retention",
        content: [
          h(
            "p",
            { class: "muted" },
            "Bytes allocated in a round (down) and live at the end of a round (across), of the last ten rounds. " +
              "A constant row is a cache. Rows that stay in every round are a leak. A cell shows its stacks above.",
          ),
          this.retention,
        ],
      });
    if (moments !== null) parts.push({ id: "moments", title: "Live over time", content: [moments] });
    parts.push({ id: "recorded", title: "Recording", content: model.profiles.map(facts) });
    return parts;
  }

  /** The key that led here is not typed. */
  focus_search(event: Event): void {
    event.preventDefault();
    this.field.focus();
  }

  /** Of somebody who followed a link to a stack. */
  arrive(): void {
    if (chosen_text("stack") === "") return;
    this.graph.element.scrollIntoView({ block: "center" });
    this.graph.element.focus({ preventScroll: true });
  }

  /** How much the graph holds, and what it leaves out. */
  private extent(): string {
    const born = new Uint8Array(this.model.parent.length);
    for (const { node } of this.model.sites) for (const at of node) born[at] = 1;
    const stacks = born.reduce((sum, one) => sum + one, 0);
    const rounds = this.model.views.some((view) => view.round !== undefined)
      ? " Peaks and retention are those of the last ten rounds."
      : "";
    return (
      `All ${stacks.toLocaleString("en")} stacks are shown, none is pruned. Boxes narrower than a pixel are merged in grey ` +
      `until you zoom in. Frames of allocators, standard libraries and interpreters are hidden unless you show all.${rounds} Keys: arrows move, Enter zooms in, Escape zooms out, / searches, n and N show the next and the previous match.`
    );
  }

  private show_view(view: View): void {
    choose("view", view_key(view));
    choose("zoom", "");
    this.reset();
    this.graph.element.scrollIntoView({ block: "center" });
    this.graph.element.focus({ preventScroll: true });
  }

  private label_of(view: View): string {
    return view_label(view);
  }

  /** Shows what the URL says, in the controls as well. */
  reset(): void {
    this.field.value = chosen_text("search");
    this.controls.replaceChildren(...make_controls(this.model, () => this.refresh()), this.field, this.steps, this.found);
    this.refresh();
  }

  private refresh(): void {
    const { model } = this;
    const view = chosen_view(this.model);
    const filter = chosen_filter();
    const tree = top_down(model, view, filter);
    const around = chosen_frame(model);
    const order = chosen_order(model);
    const drawn =
      order === "callees" ? bottom_up(model, view, filter) : order === "around" ? callers_of(model, view, filter, around) : tree;
    const zoomed = Number(chosen_text("zoom"));
    this.graph.show(drawn);
    this.below.element.hidden = this.below_title.hidden = order !== "around";
    if (order === "around") {
      this.below.show(callees_of(model, view, filter, around));
      this.below_title.textContent = `Above: callers of ${short_name(model, around)}. Below: functions that it calls.`;
    }
    this.show_largest(drawn);
    this.say_total(view, filter, tree);
    this.find(drawn);
    if (zoomed > 0 && drawn.width[zoomed]! > 0) this.graph.zoom(zoomed);
    const cells = retention_table(model.views, sides_of(model, filter.shown), (cell) => this.show_view(cell));
    this.retention.replaceChildren(...(cells === null ? [] : [cells]));
    this.legend.replaceChildren(...(tree.sides.length === 2 ? [legend(model)] : []));
    const current = ++this.refreshed;
    if (tree.parent.length < large) {
      this.show_functions(tree);
      return;
    }
    requestAnimationFrame(() =>
      setTimeout(() => {
        if (current === this.refreshed) this.show_functions(tree);
      }),
    );
  }

  /** The boxes that hold most themselves, not what they call, for those who do not see the graph. */
  private show_largest(tree: Tree): void {
    const own = (node: number): number => Math.max(...tree.sides.map((side) => side.own[node]!));
    const nodes = [...tree.parent.keys()].slice(1).filter((node) => own(node) > 0);
    const largest = nodes.sort((a, b) => own(b) - own(a)).slice(0, 10);
    this.largest.replaceChildren(
      h("ol", {}, ...largest.map((node) => h("li", {}, h("button", { type: "button", class: "link", click: () => this.graph.go_to(node) }, describe(this.model, tree, node))))),
    );
  }

  private show_functions(tree: Tree): void {
    const { model } = this;
    const rows = by_frame(tree, model.frames.names.length);
    this.functions.replaceChildren(
      functions_table(model, tree.profiles, rows, tree.sides[0]!.total[0]!, (name) => {
        this.field.value = `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
        this.type_search(this.field.value);
        this.graph.element.scrollIntoView({ block: "center" });
      }, (name) => {
        choose("around", name);
        choose("order", "around");
        choose("zoom", "");
        this.reset();
        this.graph.element.scrollIntoView({ block: "center" });
      }),
    );
  }

  private say_total(view: View, filter: Filter, tree: Tree): void {
    // Unfiltered totals come from the profile as they are, not from amounts rounded by site.
    const all_stacks = filter.focus === null && filter.ignore === null && !["removed", "added", "changed"].includes(filter.shown);
    const whole = filter.round === null && filter.phase === null && filter.thread === null && all_stacks;
    // A difference of samples is told by the exact counters beside them.
    const profiles = tree.profiles.map((profile) => this.model.profiles[profile]!);
    const counted = profiles.map((profile) => counted_total(profile, view));
    const exactly = whole && profiles.length === 2 && profiles.some(({ sampled }) => sampled) && !counted.includes(undefined);
    const totals = tree.profiles.map((profile, i) =>
      exactly
        ? { bytes: counted[i]!, half: 0 }
        : whole
          ? { bytes: view.totals[profile]!.bytes, half: view.totals[profile]!.half_width }
          : { bytes: tree.sides[i]!.total[0]!, half: half_width(tree.sides[i]!.variance[0]!) },
    );
    const amount = (i: number): HTMLElement => {
      const { bytes, half } = totals[i]!;
      return h("data", { value: bytes, title: exact_amount(bytes) }, with_interval(bytes, half));
    };
    const label = this.label_of(view);
    const start = label.charAt(0).toUpperCase() + label.slice(1);
    const names = tree.profiles.map((profile) => this.model.profiles[profile]!.name);
    if (totals.length === 1) {
      const of = this.model.profiles.length > 1 ? ` in ${names[0]}` : "";
      this.total.replaceChildren(`${start}${of}: `, amount(0));
      return;
    }
    const only = ["removed", "added", "changed"].includes(filter.shown) ? `, ${shown_label(filter.shown, names)}` : "";
    const [first, second] = totals;
    const difference = difference_text(first!.bytes, second!.bytes, Math.hypot(first!.half, second!.half));
    this.total.replaceChildren(
      `${start}${only}: `,
      h("strong", {}, difference),
      " (",
      amount(0),
      ` in ${names[0]}, `,
      amount(1),
      ` in ${names[1]}${exactly ? "; counted exactly, the stacks below are sampled" : ""}). ${matched_text(one_sided_share(tree))}`,
    );
  }

  /** What the URL names: a table's stack, or what was searched for. */
  private find(tree: Tree): void {
    const row = this.stack_of(chosen_text("stack"));
    if (row === undefined || chosen_order(this.model) !== "callers") {
      this.search(this.field.value);
      return;
    }
    const { nodes, depth, of } = boxes_of(this.model, tree, row.stack, folded_frames(this.model, chosen_filter()));
    const found = this.graph.mark(nodes);
    const whole = depth === of;
    const part = whole ? "the stack of the table" : `the outer ${depth} of the ${of} functions of the table`;
    const [a, b] = found.bytes;
    const here = a === undefined || b === undefined ? row.size : b - a;
    const joined = whole && row.size !== undefined && Math.abs((here ?? 0) - row.size) > Math.abs(row.size) * 0.01;
    const more = joined ? `; its row, ${row.amount}, also has stacks that match it without inlined calls and functions that only one side has` : "";
    this.say_found(found, nodes.length === 0 ? "the stack of the table is not in this view" : `${part}, ${this.words(found)}${more}`);
  }

  private type_search(text: string): void {
    choose("stack", "");
    this.search(text);
  }

  private search(text: string): void {
    choose("search", text);
    let pattern: RegExp | null = null;
    let wrong = "";
    try {
      if (text !== "") pattern = new RegExp(text, "i");
    } catch {
      wrong = "not a regular expression";
    }
    const found = this.graph.search(pattern);
    this.say_found(found, pattern === null ? wrong : this.words(found));
  }

  private step(by: number): void {
    const found = this.graph.step(by);
    if (found.boxes > 0) this.say_found(found, this.words(found));
  }

  private say_found(found: Found, text: string): void {
    this.found.textContent = text;
    this.steps.hidden = found.boxes < 2;
  }

  /** "3 boxes: −1.25 MiB · 2 of 3". */
  private words(found: Found): string {
    const [a, b] = found.bytes;
    const whole = this.graph.totals()[0] ?? 0;
    const amount = b === undefined ? `${amount_text(a ?? 0)}, ${percent(a ?? 0, whole)}` : difference_text(a ?? 0, b, half_width(found.variance));
    const at = found.boxes > 1 ? ` · ${found.at} of ${found.boxes}` : "";
    return `${found.boxes} box${found.boxes === 1 ? "" : "es"}: ${amount}${at}`;
  }
}

function matched_text(one_sided: number): string {
  return one_sided === 0 ? "Both have the same stacks." : `${percent(one_sided, 1)} of the bytes are in stacks that only one of the two has.`;
}

function facts(profile: ProfileFacts): HTMLElement {
  const rows: [string, string][] = Object.entries(profile.facts).filter(([key]) => !key.startsWith("heap_and_mapped_"));
  const amounts = profile.facts["amounts"] ?? "requested bytes";
  const recorded = profile.sampled
    ? "Sampled: amounts are unbiased estimates with their 95% interval."
    : `Every ${profile.unit === "bytes" ? "allocation" : "sample"} was recorded.`;
  const counters = profile.counters;
  if (counters !== undefined) {
    rows.push(
      ["peak of the heap, exact", bytes_text(counters.peak_bytes)],
      ["live at the end, exact", bytes_text(counters.live_bytes)],
      ["allocated, exact", `${bytes_text(counters.allocated_bytes)} in ${count_text(counters.allocations, "allocation")}`],
      ["peak of mapped memory", bytes_text(counters.mapping_peak_bytes)],
    );
    if (counters.together_peak_bytes > 0) rows.push(["peak of heap and mapped memory", bytes_text(counters.together_peak_bytes) + (profile.facts["heap_and_mapped_is_sampled"] === "yes" ? ", sampled" : "")]);
  }
  return h(
    "div",
    {},
    h("h3", {}, profile.name),
    h("p", { class: "muted" }, `${recorded} ${amounts.charAt(0).toUpperCase()}${amounts.slice(1)}.`),
    h("dl", { class: "facts" }, ...rows.flatMap(([key, value]) => [h("dt", {}, key.replaceAll("_", " ")), h("dd", {}, value)])),
    ...profile.notes.map((note) => h("p", { class: "notice" }, note)),
  );
}
