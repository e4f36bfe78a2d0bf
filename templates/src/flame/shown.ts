// Which side of two profiles is shown, and which frames and stacks stay out.

import type { FlameModel } from "./data";

/** Of two profiles: what they differ in, one of them, the stacks that differ, or those that only one of them has. */
export type Shown = "difference" | "first" | "second" | "changed" | "removed" | "added";

export const all_shown = ["difference", "first", "second", "changed", "removed", "added"] as const;

export interface Filter {
  /** Born in this round, in this phase, by this thread. */
  round: number | null;
  phase: number | null;
  thread: number | null;
  shown: Shown;
  /** Without the frames that every program has, and one box where a function calls itself. */
  own_code: boolean;
  /** Only stacks with a function that matches, none with one, and frames that are left out. */
  focus: RegExp | null;
  ignore: RegExp | null;
  hide: RegExp | null;
}

export function shown_label(shown: Shown, [first = "", second = ""]: string[]): string {
  switch (shown) {
    case "difference":
      return "difference";
    case "first":
      return first;
    case "second":
      return second;
    case "changed":
      return "only what differs";
    case "removed":
      return `removed: only in ${first}`;
    case "added":
      return `added: only in ${second}`;
  }
}

/** The profiles whose amounts are drawn. */
export function sides_of(model: FlameModel, shown: Shown): number[] {
  if (model.profiles.length < 2 || shown === "first") return [0];
  return shown === "second" ? [1] : [0, 1];
}

/** Per frame whether an expression finds its name. */
export function frames_matching(model: FlameModel, pattern: RegExp | null): Uint8Array | null {
  return pattern === null ? null : Uint8Array.from(model.frames.names, (name) => (pattern.test(name) ? 1 : 0));
}
