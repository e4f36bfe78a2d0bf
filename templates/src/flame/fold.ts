// The tree without frames that the reader does not want to see: their amounts go to their callers, and what they call moves up.

import type { FlameModel } from "./data";
import { type Filter, frames_matching } from "./shown";

export interface Folded {
  /** Preorder, as in the model. */
  parent: Uint32Array;
  frame: Uint32Array;
  /** Of each node of the model the node that has its amounts. */
  home: Uint32Array;
}

/** Per frame whether it is left out. */
export function folded_frames(model: FlameModel, filter: Filter): Uint8Array {
  const hidden = frames_matching(model, filter.hide);
  return Uint8Array.from(model.frames.names, (_, frame) =>
    (filter.own_code && model.frames.everybodys[frame] === 1) || hidden?.[frame] === 1 ? 1 : 0,
  );
}

/** A tree that grows by stacks, its nodes in the order in which they come. */
export class Growing {
  readonly parents = [0];
  readonly frames = [0];
  private readonly known = new Map<number, number>();

  constructor(private readonly model: FlameModel) {}

  child(parent: number, frame: number): number {
    const key = parent * this.model.frames.names.length + frame;
    let node = this.known.get(key);
    if (node === undefined) {
      node = this.parents.length;
      this.known.set(key, node);
      this.parents.push(parent);
      this.frames.push(frame);
    }
    return node;
  }

  /** Children of a node in the order of their frames, which is that of their names. */
  in_preorder(): { parent: Uint32Array; frame: Uint32Array; number: Uint32Array } {
    const { parents, frames } = this;
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
}

/** A stack of nothing but such frames keeps its outermost. */
export function fold(model: FlameModel, filter: Filter): Folded {
  const out = folded_frames(model, filter);
  const tree = new Growing(model);
  const at = new Uint32Array(model.parent.length);
  for (let i = 1; i < at.length; ++i) {
    const above = at[model.parent[i]!]!;
    const frame = model.frame[i]!;
    const recursive = filter.own_code && above !== 0 && tree.frames[above] === frame;
    at[i] = out[frame] === 1 || recursive ? above : tree.child(above, frame);
  }
  for (const { node } of model.sites) {
    for (const born of node) {
      if (at[born] !== 0 || born === 0) continue;
      let outermost = born;
      while (model.parent[outermost] !== 0) outermost = model.parent[outermost]!;
      at[born] = tree.child(0, model.frame[outermost]!);
    }
  }
  const { parent, frame, number } = tree.in_preorder();
  return { parent, frame, home: at.map((node) => number[node]!) };
}

/** Of each node of the model whether the stack that ends there stays: it has what is in focus and nothing that is ignored. */
export function stacks_kept(model: FlameModel, filter: Filter): Uint8Array | null {
  const focus = frames_matching(model, filter.focus);
  const ignore = frames_matching(model, filter.ignore);
  if (focus === null && ignore === null) return null;
  const found = new Uint8Array(model.parent.length);
  const kept = new Uint8Array(model.parent.length).fill(1);
  for (let i = 1; i < found.length; ++i) {
    const frame = model.frame[i]!;
    found[i] = found[model.parent[i]!]! | (focus?.[frame] ?? 1);
    kept[i] = kept[model.parent[i]!]! & (ignore?.[frame] === 1 ? 0 : 1);
  }
  return kept.map((keep, i) => keep & found[i]!);
}
