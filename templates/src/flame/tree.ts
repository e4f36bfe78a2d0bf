// A tree of frames with the amounts of one view: what the graph and the table draw.

import type { FlameModel, View } from "./data";
import { fold, Growing, stacks_kept } from "./fold";
import { type Filter, sides_of } from "./shown";
import { half_width } from "./words";

/** Amounts per node; `total` includes the nodes below. */
export interface Side {
  own: Float64Array;
  total: Float64Array;
  blocks: Float64Array;
  own_variance: Float64Array;
  /** Of `total`. */
  variance: Float64Array;
}

export interface Tree {
  /** Preorder: a parent comes before its children, a subtree is [i, end[i]). */
  parent: Uint32Array;
  frame: Uint32Array;
  depth: Uint32Array;
  end: Uint32Array;
  /** One per profile that is drawn, and which profile each is. */
  sides: Side[];
  profiles: number[];
  /** Of each node: what its leaves have in the profile where they have more, so that boxes nest. */
  width: Float64Array;
  /** Where each box begins, in units of `width`. */
  left: Float64Array;
  deepest: number;
}

function new_side(count: number): Side {
  return {
    own: new Float64Array(count),
    total: new Float64Array(count),
    blocks: new Float64Array(count),
    own_variance: new Float64Array(count),
    variance: new Float64Array(count),
  };
}

/** The nodes without what is folded, and the amounts at those where they were born, for the sites that the filter lets through. */
interface Births {
  parent: Uint32Array;
  frame: Uint32Array;
  sides: Side[];
}

function births(model: FlameModel, view: View, filter: Filter): Births {
  const plain = !filter.own_code && filter.hide === null;
  const { parent, frame, home } = plain ? { ...model, home: null } : fold(model, filter);
  const kept = stacks_kept(model, filter);
  const sides = view.amounts.map((amounts, profile) => {
    const side = new_side(parent.length);
    const sites = model.sites[profile]!;
    for (let i = 0; i < amounts.site.length; ++i) {
      const site = amounts.site[i]!;
      if (filter.round !== null && sites.round[site] !== filter.round) continue;
      if (filter.phase !== null && sites.phase[site] !== filter.phase) continue;
      if (filter.thread !== null && sites.thread[site] !== filter.thread) continue;
      const born = sites.node[site]!;
      if (kept !== null && kept[born] !== 1) continue;
      const node = home === null ? born : home[born]!;
      side.own[node]! += amounts.bytes[i]!;
      side.blocks[node]! += amounts.blocks[i]!;
      side.own_variance[node]! += amounts.deviation[i]! ** 2;
    }
    return side;
  });
  const [first, second] = sides;
  if (first !== undefined && second !== undefined) {
    if (filter.shown === "removed") keep_where_absent(first, second);
    if (filter.shown === "added") keep_where_absent(second, first);
    if (filter.shown === "changed") keep_where_changed(first, second);
  }
  return { parent, frame, sides: sides_of(model, filter.shown).map((profile) => sides[profile]!) };
}

/** Stacks whose difference their samples do not tell from none are taken out of both. */
function keep_where_changed(first: Side, second: Side): void {
  for (let i = 0; i < first.own.length; ++i) {
    const half = half_width(first.own_variance[i]! + second.own_variance[i]!);
    if (Math.abs(second.own[i]! - first.own[i]!) > half) continue;
    for (const { own, blocks, own_variance } of [first, second]) own[i] = blocks[i] = own_variance[i] = 0;
  }
}

/** Of two profiles' bytes those in stacks that only one of them has, by more than sampling could have missed. */
export function one_sided_share({ sides: [a, b] }: Tree): number {
  if (a === undefined || b === undefined) return 0;
  let alone = 0;
  const add = (side: Side, other: Side): void => {
    for (let i = 0; i < side.own.length; ++i) if (is_alone(side, other, i)) alone += side.own[i]!;
  };
  add(a, b);
  add(b, a);
  const all = a.total[0]! + b.total[0]!;
  return all > 0 ? alone / all : 0;
}

function is_alone(side: Side, other: Side, node: number): boolean {
  return other.own[node] === 0 && side.own[node]! > surely_there * Math.sqrt(side.own_variance[node]!);
}

/** In standard deviations: what sampling could have missed on the other side by chance is in neither profile alone. */
const surely_there = 3.29;

/** Stacks that `other` has as well are taken out of both, and those of which `side` has too few samples to tell. */
function keep_where_absent(side: Side, other: Side): void {
  for (let i = 0; i < side.own.length; ++i) {
    if (is_alone(side, other, i)) continue;
    for (const { own, blocks, own_variance } of [side, other]) own[i] = blocks[i] = own_variance[i] = 0;
  }
}

/** Sums up the tree and places the boxes. `sides` hold own amounts only. */
function finish(parent: Uint32Array, frame: Uint32Array, sides: Side[], profiles: number[]): Tree {
  const count = parent.length;
  const depth = new Uint32Array(count);
  const end = new Uint32Array(count);
  const width = new Float64Array(count);
  const left = new Float64Array(count);
  let deepest = 0;
  for (const side of sides) {
    side.total.set(side.own);
    side.variance.set(side.own_variance);
  }
  for (let i = 0; i < count; ++i) {
    end[i] = i + 1;
    for (const side of sides) width[i] = Math.max(width[i]!, side.own[i]!);
  }
  for (let i = count - 1; i > 0; --i) {
    const above = parent[i]!;
    for (const side of sides) {
      side.total[above]! += side.total[i]!;
      side.blocks[above]! += side.blocks[i]!;
      side.variance[above]! += side.variance[i]!;
    }
    width[above]! += width[i]!;
    end[above] = Math.max(end[above]!, end[i]!);
  }
  const next = new Float64Array(count);
  for (let i = 1; i < count; ++i) {
    const above = parent[i]!;
    depth[i] = depth[above]! + 1;
    if (width[i]! > 0) deepest = Math.max(deepest, depth[i]!);
    left[i] = next[above]!;
    next[above]! += width[i]!;
    next[i] = left[i]!;
  }
  return { parent, frame, depth, end, sides, profiles, width, left, deepest };
}

/** Callers on top, what they call below. */
export function top_down(model: FlameModel, view: View, filter: Filter): Tree {
  const { parent, frame, sides } = births(model, view, filter);
  return finish(parent, frame, sides, sides_of(model, filter.shown));
}

/** Builds a tree from the paths that stacks become: of each node with own amounts the frames from the top. */
function from_paths(model: FlameModel, filter: Filter, born: Births, path_of: (node: number) => number[] | null): Tree {
  const tree = new Growing(model);
  const leaves: { node: number; at: number }[] = [];
  for (let node = 1; node < born.parent.length; ++node) {
    if (!born.sides.some((side) => side.own[node]! > 0)) continue;
    const path = path_of(node);
    if (path === null) continue;
    let at = 0;
    for (const frame of path) at = tree.child(at, frame);
    leaves.push({ node, at });
  }
  const { parent, frame, number } = tree.in_preorder();
  const sides = born.sides.map((side) => {
    const turned = new_side(parent.length);
    for (const { node, at } of leaves) {
      const place = number[at]!;
      turned.own[place]! += side.own[node]!;
      turned.blocks[place]! += side.blocks[node]!;
      turned.own_variance[place]! += side.own_variance[node]!;
    }
    return turned;
  });
  return finish(parent, frame, sides, sides_of(model, filter.shown));
}

/** The frames of a stack, innermost first. */
function frames_up({ parent, frame }: Births, node: number): number[] {
  const frames: number[] = [];
  for (let up = node; up !== 0; up = parent[up]!) frames.push(frame[up]!);
  return frames;
}

/** Allocating functions on top, their callers below. */
export function bottom_up(model: FlameModel, view: View, filter: Filter): Tree {
  const born = births(model, view, filter);
  return from_paths(model, filter, born, (node) => frames_up(born, node));
}

/** One function on top, below it who calls it: of each stack from its innermost call on. */
export function callers_of(model: FlameModel, view: View, filter: Filter, wanted: number): Tree {
  const born = births(model, view, filter);
  return from_paths(model, filter, born, (node) => {
    const up = frames_up(born, node);
    const at = up.indexOf(wanted);
    return at < 0 ? null : up.slice(at);
  });
}

/** One function on top, below it what it calls: of each stack from its outermost call on. */
export function callees_of(model: FlameModel, view: View, filter: Filter, wanted: number): Tree {
  const born = births(model, view, filter);
  return from_paths(model, filter, born, (node) => {
    const down = frames_up(born, node).reverse();
    const at = down.indexOf(wanted);
    return at < 0 ? null : down.slice(at);
  });
}

/** Bytes by frame: its own blocks, and all under it, each counted once however often it recurs. */
export interface FrameAmounts {
  frame: number;
  own: number[];
  total: number[];
  /** Of the own bytes, all profiles together. */
  variance: number;
}

/** `tree` is top down. */
export function by_frame(tree: Tree, frames: number): FrameAmounts[] {
  const open = new Uint32Array(frames);
  const rows = new Map<number, FrameAmounts>();
  const path: number[] = [];
  for (let i = 1; i < tree.parent.length; ++i) {
    while (path.length > 0 && tree.end[path[path.length - 1]!]! <= i) {
      open[tree.frame[path.pop()!]!]!--;
    }
    const frame = tree.frame[i]!;
    let row = rows.get(frame);
    if (row === undefined) {
      row = { frame, own: tree.sides.map(() => 0), total: tree.sides.map(() => 0), variance: 0 };
      rows.set(frame, row);
    }
    const outermost = open[frame] === 0;
    tree.sides.forEach((side, s) => {
      row.own[s]! += side.own[i]!;
      row.variance += side.own_variance[i]!;
      if (outermost) row.total[s]! += side.total[i]!;
    });
    path.push(i);
    open[frame]!++;
  }
  return [...rows.values()];
}
