// What the reader chose of the graph, as the URL keeps it.

import { chosen, chosen_text } from "../state";
import type { FlameModel, View } from "./data";
import { all_shown, type Filter, type Shown } from "./shown";
import { view_key } from "./words";

export type Order = "callers" | "callees" | "around";

function chosen_number(key: string): number | null {
  const text = chosen_text(key);
  return /^\d+$/.test(text) ? Number(text) : null;
}

function chosen_pattern(key: string): RegExp | null {
  try {
    return chosen_text(key) === "" ? null : new RegExp(chosen_text(key), "i");
  } catch {
    return null; // its field says so
  }
}

export function chosen_filter(): Filter {
  return {
    round: chosen_number("round"),
    phase: chosen_number("phase"),
    thread: chosen_number("thread"),
    shown: chosen<Shown>("side", all_shown, "difference"),
    own_code: chosen("frames", ["own", "all"], "own") === "own",
    focus: chosen_pattern("focus"),
    ignore: chosen_pattern("ignore"),
    hide: chosen_pattern("hide"),
  };
}

/** The frame whose callers and callees are shown, -1 of none. */
export function chosen_frame(model: FlameModel): number {
  return model.frames.names.indexOf(chosen_text("around"));
}

export function chosen_order(model: FlameModel): Order {
  const order = chosen("order", ["callers", "callees", "around"], "callers");
  return order === "around" && chosen_frame(model) < 0 ? "callers" : order;
}

/** The view that the URL names, else the first. */
export function chosen_view(model: FlameModel): View {
  const keys = model.views.map(view_key);
  const first = model.views[model.first];
  const wanted = chosen_text("view");
  // A link to what lives at the end of the last round does not know its number.
  const last = wanted === "live-any" ? keys.find((key) => key.startsWith("live-any-")) : undefined;
  const key = last ?? chosen("view", keys, first === undefined ? "" : view_key(first));
  const view = model.views[keys.indexOf(key)];
  if (view === undefined) throw new Error("the profile has no allocations");
  return view;
}
