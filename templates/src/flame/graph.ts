// The flame graph: boxes on a canvas that is as large as its window, scrolled over all rows.

import { css_color } from "../variants";
import { fitting } from "../canvas_text";
import { h } from "../dom";
import type { FlameModel } from "./data";
import { drawing } from "./paper";
import { fill_of, row_height } from "./paint";
import type { Tree } from "./tree";
import { box_label, describe } from "./words";

const most_rows = 34;

export interface GraphEvents {
  /** The box that the pointer or the keyboard is at. */
  on_look: (sentence: string) => void;
  /** The box that is as wide as the graph. */
  on_zoom: (node: number) => void;
  /** To the next match, or the one before. */
  on_step: (by: number) => void;
}

/** Boxes get this many pixels before they count as visible. */
const visible_width = 40;

/** Bytes of the outermost boxes that match, per profile, and how many they are. */
export interface Found {
  boxes: number;
  /** Which of them is selected, from 1 for the widest; 0 of none. */
  at: number;
  bytes: number[];
  /** Of all bytes together. */
  variance: number;
}

export class FlameGraph {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly rows: HTMLElement;
  /** What the box under the pointer is, beside the pointer. */
  private readonly tip = h("div", { class: "flame-tip", hidden: true, "aria-hidden": "true" });
  private hovered: number | null = null;
  private tree: Tree | null = null;
  private zoomed = 0;
  private selected = 0;
  /** Per node; the outermost of those that match, and which of them is selected. */
  private matches: Uint8Array | null = null;
  private outermost: number[] = [];
  private in_order = false;
  private at = 0;

  constructor(
    private readonly model: FlameModel,
    private readonly events: GraphEvents,
  ) {
    this.canvas = h("canvas", {});
    this.rows = h("div", { class: "flame-rows" }, this.canvas, this.tip);
    this.element = h(
      "div",
      {
        class: "flame",
        tabindex: 0,
        role: "application",
        "aria-label":
          "Flame graph. Arrow keys move between boxes, Enter zooms in, Escape zooms out, slash searches, n is the next match.",
      },
      this.rows,
    );
    this.element.addEventListener("scroll", () => this.draw());
    this.element.addEventListener("keydown", (event) => this.on_key(event));
    this.canvas.addEventListener("click", (event) => this.on_click(event));
    this.canvas.addEventListener("mousemove", (event) => this.hover(this.node_at(event), event));
    this.canvas.addEventListener("mouseleave", () => this.hover(null));
    this.element.addEventListener("paper", () => this.print());
    new ResizeObserver(() => {
      if (this.tree !== null) this.bring_into_view(this.selected);
      this.draw();
    }).observe(this.element);
  }

  show(tree: Tree): void {
    this.tree = tree;
    this.selected = 0;
    this.matches = null;
    this.outermost = [];
    this.zoom(0);
  }

  /** Shows the widest box whose function matches; null ends the search. */
  search(pattern: RegExp | null): Found {
    const tree = this.tree;
    this.matches = null;
    this.outermost = [];
    if (pattern !== null && tree !== null) {
      const hit = Uint8Array.from(this.model.frames.names, (name) => (pattern.test(name) ? 1 : 0));
      const matches = new Uint8Array(tree.parent.length);
      for (let i = 1, inside = 0; i < matches.length; ++i) {
        if (hit[tree.frame[i]!] !== 1 || tree.width[i]! <= 0) continue;
        matches[i] = 1;
        if (i < inside) continue;
        this.outermost.push(i);
        inside = tree.end[i]!;
      }
      this.matches = matches;
    }
    return this.show_widest();
  }

  /** Shows these boxes as a search would. */
  mark(nodes: number[]): Found {
    this.matches = new Uint8Array(this.tree?.parent.length ?? 0);
    for (const node of nodes) this.matches[node] = 1;
    this.outermost = nodes;
    return this.show_widest();
  }

  private show_widest(): Found {
    const width = (node: number): number => this.tree?.width[node] ?? 0;
    let widest = 0;
    this.outermost.forEach((node, i) => {
      if (width(node) > width(this.outermost[widest]!)) widest = i;
    });
    this.in_order = false;
    this.at = 0;
    // The rest is put in order when somebody asks for the next one.
    const [first] = this.outermost.splice(widest, 1);
    if (first !== undefined) {
      this.outermost.unshift(first);
      this.reveal(first);
    }
    this.draw();
    return this.found();
  }

  /** The next of the matches, from the widest on, or the one before. */
  step(by: number): Found {
    const { tree, outermost } = this;
    if (tree !== null && outermost.length > 0) {
      if (!this.in_order) outermost.sort((a, b) => tree.width[b]! - tree.width[a]! || a - b);
      this.in_order = true;
      this.at = (this.at + by + outermost.length) % outermost.length;
      this.reveal(outermost[this.at]!);
    }
    return this.found();
  }

  private found(): Found {
    const { tree, outermost } = this;
    const found: Found = { boxes: outermost.length, at: outermost.length === 0 ? 0 : this.at + 1, bytes: [], variance: 0 };
    for (const side of tree?.sides ?? []) {
      found.bytes.push(outermost.reduce((sum, node) => sum + side.total[node]!, 0));
      found.variance += outermost.reduce((sum, node) => sum + side.variance[node]!, 0);
    }
    return found;
  }

  /** Selects a box, zoomed no further than it takes to see it. */
  private reveal(node: number): void {
    const tree = this.tree!;
    const room = Math.max(this.element.clientWidth, 300);
    const is_wide = (within: number): boolean => (tree.width[node]! / tree.width[within]!) * room >= visible_width;
    const inside = this.zoomed <= node && node < tree.end[this.zoomed]!;
    if (!inside || !is_wide(this.zoomed)) {
      let to = node;
      while (to !== 0 && is_wide(tree.parent[to]!)) to = tree.parent[to]!;
      this.zoom(to);
    }
    this.select(node);
  }

  /** Shows a box that something outside the graph names. */
  go_to(node: number): void {
    this.reveal(node);
    this.element.scrollIntoView({ block: "center" });
    this.element.focus({ preventScroll: true });
  }

  /** Amounts of all that is shown, per profile that is drawn. */
  totals(): number[] {
    return this.tree === null ? [] : this.tree.sides.map((side) => side.total[0]!);
  }

  zoom(node: number): void {
    const tree = this.tree;
    if (tree === null) return;
    this.zoomed = node;
    this.events.on_zoom(node);
    let deepest = tree.depth[node]!;
    for (let i = node; i < tree.end[node]!; ++i) {
      if (tree.width[i]! > 0) deepest = Math.max(deepest, tree.depth[i]!);
    }
    const rows = deepest + 1;
    this.element.style.height = `${Math.min(rows, most_rows) * row_height + 2}px`;
    this.rows.style.height = `${rows * row_height}px`;
    this.select(node);
  }

  private select(node: number): void {
    this.selected = node;
    this.bring_into_view(node);
    this.draw();
    this.look_at(node);
  }

  private hover(node: number | null, event?: MouseEvent): void {
    this.look_at(node ?? this.selected);
    if (node !== this.hovered) {
      this.hovered = node;
      this.draw();
    }
    const { tip, tree } = this;
    tip.hidden = node === null || tree === null || event === undefined;
    if (node === null || tree === null || event === undefined) return;
    const sentence = describe(this.model, tree, node);
    if (tip.textContent !== sentence) tip.textContent = sentence;
    // Beside the pointer, and inside the graph.
    const box = this.rows.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = tip;
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const below = event.clientY + 16 + height < innerHeight;
    tip.style.left = `${Math.max(0, Math.min(x + 12, box.width - width - 4))}px`;
    tip.style.top = `${below ? y + 16 : y - height - 8}px`;
  }

  /** A canvas inside a scrolled window prints as nothing: a drawing takes its place on paper. */
  private print(): void {
    const { tree } = this;
    if (tree === null) return;
    this.rows.querySelector("svg")?.remove();
    this.rows.append(drawing(this.model, tree, this.zoomed));
  }

  private look_at(node: number): void {
    if (this.tree !== null) this.events.on_look(describe(this.model, this.tree, node));
  }

  private bring_into_view(node: number): void {
    const top = this.tree!.depth[node]! * row_height;
    const { scrollTop: from, clientHeight: height } = this.element;
    if (top < from) this.element.scrollTop = top;
    else if (top + row_height > from + height) this.element.scrollTop = top + row_height - height;
  }

  private on_key(event: KeyboardEvent): void {
    const tree = this.tree;
    if (tree === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const node = this.selected;
    const actions: Record<string, () => void> = {
      ArrowUp: () => this.select(tree.parent[node]!),
      ArrowDown: () => this.select(widest_child(tree, node) ?? node),
      ArrowLeft: () => this.select(sibling(tree, node, -1)),
      ArrowRight: () => this.select(sibling(tree, node, 1)),
      Enter: () => this.zoom(node),
      " ": () => this.zoom(node),
      Escape: () => this.zoom(tree.parent[this.zoomed]!),
      Backspace: () => this.zoom(tree.parent[this.zoomed]!),
      Home: () => this.zoom(0),
      n: () => this.events.on_step(1),
      N: () => this.events.on_step(-1),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  private on_click(event: MouseEvent): void {
    const node = this.node_at(event);
    if (node !== null) this.zoom(node);
  }

  private node_at(event: MouseEvent): number | null {
    const tree = this.tree;
    if (tree === null) return null;
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top + this.element.scrollTop) / row_height);
    let node = this.zoomed;
    while (tree.depth[node]! > row) node = tree.parent[node]!;
    if (row <= tree.depth[this.zoomed]!) return node;
    const at = tree.left[node]! + ((event.clientX - box.left) / box.width) * tree.width[node]!;
    for (let i = node + 1; i < tree.end[node]!; ) {
      const inside = tree.left[i]! <= at && at < tree.left[i]! + tree.width[i]!;
      if (inside && tree.depth[i] === row) return i;
      i = inside ? i + 1 : tree.end[i]!;
    }
    return null;
  }

  draw(): void {
    const tree = this.tree;
    const context = this.canvas.getContext("2d");
    const { clientWidth: width, clientHeight: height } = this.element;
    if (tree === null || context === null || width === 0) return;
    const ratio = devicePixelRatio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    context.scale(ratio, ratio);
    new Painter(this.model, tree, context, width, this.element.scrollTop, height, this.matches).paint(
      this.zoomed,
      this.selected,
      this.hovered,
    );
  }
}

function widest_child(tree: Tree, node: number): number | null {
  let widest: number | null = null;
  for (let i = node + 1; i < tree.end[node]!; i = tree.end[i]!) {
    if (tree.width[i]! > (widest === null ? 0 : tree.width[widest]!)) widest = i;
  }
  return widest;
}

function sibling(tree: Tree, node: number, step: number): number {
  const siblings: number[] = [];
  const above = tree.parent[node]!;
  if (node === 0) return 0;
  for (let i = above + 1; i < tree.end[above]!; i = tree.end[i]!) {
    if (tree.width[i]! > 0) siblings.push(i);
  }
  return siblings[siblings.indexOf(node) + step] ?? node;
}

/** One drawing of the visible rows. */
class Painter {
  private readonly colors = new Map<string, string>();
  /** Per row, boxes too narrow to draw one by one: where their run begins and ends, in pixels. */
  private readonly runs = new Map<number, { from: number; to: number }>();

  constructor(
    private readonly model: FlameModel,
    private readonly tree: Tree,
    private readonly context: CanvasRenderingContext2D,
    private readonly width: number,
    private readonly scrolled: number,
    private readonly height: number,
    private readonly matches: Uint8Array | null,
  ) {}

  paint(zoomed: number, selected: number, hovered: number | null): void {
    const { context, tree } = this;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = this.color("--ground");
    context.fillRect(0, 0, this.width, this.height);
    for (let i = tree.parent[zoomed]!, row = tree.depth[zoomed]! - 1; row >= 0; --row) {
      this.box(i, 0, this.width, i === selected, i === hovered);
      i = tree.parent[i]!;
    }
    const scale = tree.width[zoomed]! > 0 ? this.width / tree.width[zoomed]! : 0;
    const first = tree.left[zoomed]!;
    for (let i = zoomed; i < tree.end[zoomed]!; ) {
      const from = (tree.left[i]! - first) * scale;
      const to = from + tree.width[i]! * scale;
      const below = (tree.depth[i]! + 1) * row_height - this.scrolled > this.height + row_height;
      if (to - from < 1) this.add_to_run(tree.depth[i]!, from, to);
      else this.box(i, from, to, i === selected, i === hovered);
      i = to - from < 1 || below ? tree.end[i]! : i + 1;
    }
    for (const row of this.runs.keys()) this.end_run(row);
  }

  private color(property: string): string {
    let color = this.colors.get(property);
    if (color === undefined) {
      color = css_color(property);
      this.colors.set(property, color);
    }
    return color;
  }

  private add_to_run(row: number, from: number, to: number): void {
    const run = this.runs.get(row);
    if (run !== undefined && from - run.to < 1) {
      run.to = to;
      return;
    }
    this.end_run(row);
    this.runs.set(row, { from, to });
  }

  private end_run(row: number): void {
    const run = this.runs.get(row);
    if (run === undefined || run.to - run.from < 0.5) return;
    this.context.fillStyle = this.color("--neutral-soft");
    this.context.fillRect(run.from, row * row_height - this.scrolled, run.to - run.from, row_height - 1);
  }

  private box(node: number, from: number, to: number, selected: boolean, hovered: boolean): void {
    const { context, tree } = this;
    const top = tree.depth[node]! * row_height - this.scrolled;
    if (top + row_height < 0 || top > this.height) return;
    const matched = node !== 0 && this.matches?.[node] === 1;
    const width = Math.max(to - from - 1, 1);
    const fill = fill_of(this.model, tree, node);
    context.fillStyle = this.color(matched ? "--flame-match" : fill);
    context.fillRect(from, top, width, row_height - 1);
    if (!matched && fill.startsWith("--less")) this.hatch(from, top, width);
    if (selected || matched || hovered) {
      context.strokeStyle = this.color(selected || hovered ? "--text" : "--flame-match-edge");
      context.lineWidth = selected ? 2 : 1;
      context.strokeRect(from + 1, top + 1, Math.max(width - 2, 1), row_height - 3);
    }
    if (width < 24) return;
    const text = this.label(node, width - 8);
    if (text === "") return;
    context.fillStyle = this.color(matched ? "--flame-match-text" : "--text");
    context.fillText(text, from + 4, top + row_height / 2);
  }

  /** Stripes tell LESS from MORE where colours do not. */
  private hatch(from: number, top: number, width: number): void {
    if (width < 4) return;
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(from, top, width, row_height - 1);
    context.clip();
    context.strokeStyle = this.color("--less-hatch");
    context.lineWidth = 1;
    context.beginPath();
    for (let x = from - row_height - (from % 8); x < from + width; x += 8) {
      context.moveTo(x, top + row_height);
      context.lineTo(x + row_height, top);
    }
    context.stroke();
    context.restore();
  }

  /** Name and amount; where both do not fit, the end of the name, which is the function's own. */
  private label(node: number, width: number): string {
    const { context } = this;
    const { name, amount } = box_label(this.model, this.tree, node);
    const fits = (text: string): boolean => context.measureText(text).width <= width;
    const scope = name.lastIndexOf("::");
    const own = scope < 0 ? name : name.slice(scope + 2);
    for (const text of [`${name}  ${amount}`, `…${own}  ${amount}`]) if (text.length <= width && fits(text)) return text;
    return fitting(context, own === name ? `${name}  ${amount}` : own, width);
  }
}
