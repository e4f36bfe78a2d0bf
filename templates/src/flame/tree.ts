// A tree of frames with the amounts of one view: what the graph and the table draw.

import type { FlameModel, View } from "./data";
import { allocator_frames, type Filter, sides_of } from "./shown";

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

/** For each node the one that its amounts go to: the nearest caller that is no allocator. */
function callers_of_allocators(model: FlameModel): Uint32Array {
  const home = new Uint32Array(model.parent.length);
  const hidden = allocator_frames(model);
  for (let i = 1; i < home.length; ++i) {
    home[i] = hidden[model.frame[i]!] === 1 ? home[model.parent[i]!]! : i;
  }
  return home;
}

/** Amounts at the nodes where they were born, for the sites that the filter lets through. */
function births(model: FlameModel, view: View, filter: Filter): Side[] {
  const home = filter.hide_allocators ? callers_of_allocators(model) : null;
  const sides = view.amounts.map((amounts, profile) => {
    const side = new_side(model.parent.length);
    const sites = model.sites[profile]!;
    for (let i = 0; i < amounts.site.length; ++i) {
      const site = amounts.site[i]!;
      if (filter.round !== null && sites.round[site] !== filter.round) continue;
      if (filter.phase !== null && sites.phase[site] !== filter.phase) continue;
      const born = sites.node[site]!;
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
  }
  return sides_of(model, filter.shown).map((profile) => sides[profile]!);
}

/** In standard deviations: what sampling could have missed on the other side by chance is in neither profile alone. */
const surely_there = 3.29;

/** Stacks that `other` has as well are taken out of both, and those of which `side` has too few samples to tell. */
function keep_where_absent(side: Side, other: Side): void {
  for (let i = 0; i < side.own.length; ++i) {
    if (other.own[i] === 0 && side.own[i]! > surely_there * Math.sqrt(side.own_variance[i]!)) continue;
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
  return finish(model.parent, model.frame, births(model, view, filter), sides_of(model, filter.shown));
}

/** Allocating functions on top, their callers below. */
export function bottom_up(model: FlameModel, view: View, filter: Filter): Tree {
  const born = births(model, view, filter);
  const parents = [0];
  const frames = [0];
  const leaves: { node: number; at: number }[] = [];
  const known = new Map<number, number>();
  for (let node = 1; node < model.parent.length; ++node) {
    if (!born.some((side) => side.own[node]! > 0)) continue;
    let at = 0;
    for (let up = node; up !== 0; up = model.parent[up]!) {
      const frame = model.frame[up]!;
      const key = at * model.frames.names.length + frame;
      let child = known.get(key);
      if (child === undefined) {
        child = parents.length;
        known.set(key, child);
        parents.push(at);
        frames.push(frame);
      }
      at = child;
    }
    leaves.push({ node, at });
  }
  const { parent, frame, number } = in_preorder(parents, frames);
  const sides = born.map((side) => {
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

/** Children of a node in the order of their frames, which is that of their names. */
function in_preorder(
  parents: number[],
  frames: number[],
): { parent: Uint32Array; frame: Uint32Array; number: Uint32Array } {
  const count = parents.length;
  const children: number[][] = Array.from({ length: count }, () => []);
  for (let i = 1; i < count; ++i) children[parents[i]!]!.push(i);
  const parent = new Uint32Array(count);
  const frame = new Uint32Array(count);
  const number = new Uint32Array(count);
  const open = [0];
  for (let next = 0; open.length > 0; ++next) {
    const node = open.pop()!;
    number[node] = next;
    parent[next] = number[parents[node]!]!;
    frame[next] = frames[node]!;
    open.push(...children[node]!.sort((a, b) => frames[b]! - frames[a]!));
  }
  return { parent, frame, number };
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
