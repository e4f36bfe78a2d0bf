// Where a stack of the report's tables lies in the tree. Tables name stacks as profilers/profile/names/stack_names.h does: without lines,
// one frame where a function calls itself.

import type { FlameModel } from "./data";
import type { Tree } from "./tree";

const python_kind = 1;

function file_of(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function in_library(file: string): string {
  return `[${file.replace(/(\.so)\..*$/, "$1")}]`;
}

/** A frame's name in the tables. */
function table_name(model: FlameModel, frame: number): string {
  const name = model.frames.names[frame] ?? "";
  const place = file_of(model.frames.places[frame] ?? "");
  if (model.frames.kinds[frame] === python_kind) return `${name} (${place})`;
  if (name.startsWith("[") && name.endsWith("]")) return in_library(name.slice(1, -1));
  return name;
}

export interface TableStack {
  /** Outermost first. */
  stack: readonly string[];
  amount: string;
  /** Of a difference: candidate minus baseline. The row may join stacks, see profilers/profile/names/stack_names.h. */
  size?: number;
}

export interface StackBoxes {
  /** The outermost boxes, several where a library's addresses differ; empty where nothing of the stack is here. */
  nodes: number[];
  /** How many of the stack's functions they have, from the outermost, of how many that are not folded. */
  depth: number;
  of: number;
}

/** `stack` is outermost first, `tree` top down; `folded` says which frames the tree leaves out. */
export function boxes_of(model: FlameModel, tree: Tree, whole_stack: readonly string[], folded: Uint8Array): StackBoxes {
  const names = model.frames.names.map((_, frame) => table_name(model, frame));
  const left_out = new Set(names.filter((_, frame) => folded[frame] === 1));
  const stack = whole_stack.filter((name) => !left_out.has(name));
  // Of each node how many functions of the stack lead to it; -1: others do.
  const reached = new Int32Array(tree.parent.length).fill(-1);
  reached[0] = 0;
  let depth = 0;
  for (let i = 1; i < reached.length; ++i) {
    const above = reached[tree.parent[i]!]!;
    if (above < 0 || tree.width[i]! <= 0) continue;
    const name = names[tree.frame[i]!];
    if (name === stack[above]) reached[i] = above + 1;
    else if (above > 0 && name === stack[above - 1]) reached[i] = above;
    depth = Math.max(depth, reached[i]!);
  }
  const nodes: number[] = [];
  for (let i = 1; i < reached.length && depth > 0; ++i) {
    if (reached[i] === depth && reached[tree.parent[i]!] !== depth) nodes.push(i);
  }
  return { nodes, depth, of: stack.length };
}
