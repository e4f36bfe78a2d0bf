// The page's data: a JSON head and columns of numbers, as profilers/profile/include/profile/outputs.h has them.

import { packed_response } from "../packed";

export interface Total {
  bytes: number;
  blocks: number;
  /** Of the 95% interval of the bytes; 0 when every block was recorded. */
  half_width: number;
}

export type Kind = "peak" | "live" | "allocated" | "temporary" | "resident";

/** Amounts of one profile by site. */
export interface Amounts {
  site: Uint32Array;
  bytes: Float64Array;
  blocks: Float64Array;
  deviation: Float64Array;
}

/** What all amounts of a page are; fields named bytes hold them whatever it is. */
export type Unit = "bytes" | "nanoseconds" | "samples";

/** One question to the profiles: what was live at a peak, what was allocated, … */
export interface View {
  kind: Kind;
  heap: "malloc" | "mapped" | "heap_and_mapped";
  /** Of a round's peak. */
  round?: number;
  /** Of a retention cell: born in one round, live at the end of another. Without `born` all cells of one end together;
   *  `since` is then the first round that the page has. */
  born?: number;
  since?: number;
  end?: number;
  totals: Total[];
  amounts: Amounts[];
}

export interface ProfileFacts {
  name: string;
  facts: Record<string, string>;
  notes: string[];
  unit: Unit;
  /** Whether blocks (of time: samples) are known. */
  counted: boolean;
  sampled: boolean;
  /** Milliseconds and live bytes. */
  moments?: [number, number][];
  counters?: {
    peak_bytes: number;
    live_bytes: number;
    allocated_bytes: number;
    allocations: number;
    mapping_peak_bytes: number;
    /** Of both heaps; 0 where the recorder did not count it. */
    together_peak_bytes: number;
  };
}

/** Blocks of one stack that one thread (from 1; 0: not known) allocated in one round (0: outside rounds) and phase (0: none). */
export interface Sites {
  node: Uint32Array;
  round: Uint32Array;
  phase: Uint32Array;
  thread: Uint32Array;
}

export interface Frames {
  names: string[];
  /** As people say them; empty where that is the name. */
  shorts: string[];
  places: string[];
  kinds: number[];
  /** 1 of what every program has: allocators, standard libraries, interpreters, places of libraries without names. */
  everybodys: number[];
}

export interface FlameModel {
  profiles: ProfileFacts[];
  phases: string[];
  frames: Frames;
  views: View[];
  first: number;
  /** The tree in preorder; node 0 is the root and has no frame. */
  parent: Uint32Array;
  frame: Uint32Array;
  sites: Sites[];
  /** What weakens a comparison. */
  warnings: string[];
}

interface Head {
  warnings?: string[];
  profiles: ProfileFacts[];
  phases: string[];
  frames: Frames;
  views: Omit<View, "amounts">[];
  first?: number;
  nodes: number;
}

class Numbers {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  /** LEB128; beyond 32 bits by multiplication, because shifts end there. */
  next(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error("the page's data end early");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }

  signed(): number {
    const value = this.next();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    const size = this.next();
    const text = new TextDecoder().decode(this.bytes.subarray(this.at, this.at + size));
    this.at += size;
    return text;
  }
}

function read_nodes(numbers: Numbers, count: number): Pick<FlameModel, "parent" | "frame"> {
  const parent = new Uint32Array(count);
  const frame = new Uint32Array(count);
  for (let i = 1, last = 0; i < count; last = i++) {
    let above = last;
    for (let climb = numbers.next(); climb > 0; --climb) above = parent[above]!;
    parent[i] = above;
    frame[i] = numbers.next();
  }
  return { parent, frame };
}

function read_sites(numbers: Numbers): Sites {
  const count = numbers.next();
  const sites = { node: new Uint32Array(count), round: new Uint32Array(count), phase: new Uint32Array(count), thread: new Uint32Array(count) };
  for (let i = 0, node = 0; i < count; ++i) {
    node += numbers.signed();
    sites.node[i] = node;
    sites.round[i] = numbers.next();
    sites.phase[i] = numbers.next();
    sites.thread[i] = numbers.next();
  }
  return sites;
}

function read_amounts(numbers: Numbers): Amounts {
  const count = numbers.next();
  const amounts = {
    site: new Uint32Array(count),
    bytes: new Float64Array(count),
    blocks: new Float64Array(count),
    deviation: new Float64Array(count),
  };
  for (let i = 0, site = -1; i < count; ++i) {
    site += numbers.next();
    amounts.site[i] = site;
    amounts.bytes[i] = numbers.next();
    amounts.blocks[i] = numbers.next();
    amounts.deviation[i] = numbers.next();
  }
  return amounts;
}

/** What a view's total is by the counters that were kept beside the samples; undefined where there are none of it. */
export function counted_total(profile: ProfileFacts, view: View): number | undefined {
  const { counters } = profile;
  if (counters === undefined || view.round !== undefined || view.end !== undefined) return undefined;
  if (view.heap === "heap_and_mapped") return counters.together_peak_bytes || undefined;
  if (view.heap === "mapped") return view.kind === "peak" ? counters.mapping_peak_bytes : undefined;
  switch (view.kind) {
    case "peak":
      return counters.peak_bytes;
    case "live":
      return counters.live_bytes;
    case "allocated":
      return counters.allocated_bytes;
    case "temporary":
    case "resident":
      return undefined;
  }
}

/** All that is live at the end of the last round, whatever round it was born in: its retention cells together. */
function at_last_end(views: View[]): View[] {
  const last = views.reduce((most, view) => Math.max(most, view.end ?? 0), 0);
  const cells = views.filter((view) => view.end === last);
  const [first] = cells;
  if (first === undefined) return [];
  const sum = (values: number[]): number => values.reduce((all, value) => all + value, 0);
  const joined = (parts: Float64Array[]): Float64Array => Float64Array.from(parts.flatMap((part) => [...part]));
  // Those whose rounds were left out have no cell at any end.
  const rounds = views.map((view) => view.born ?? 0).filter((born) => born > 0);
  return [
    {
      kind: "live",
      heap: "malloc",
      end: last,
      ...(rounds.length > 0 ? { since: Math.min(...rounds) } : {}),
      totals: first.totals.map((_, i) => ({
        bytes: sum(cells.map(({ totals }) => totals[i]!.bytes)),
        blocks: sum(cells.map(({ totals }) => totals[i]!.blocks)),
        half_width: Math.hypot(...cells.map(({ totals }) => totals[i]!.half_width)),
      })),
      amounts: first.amounts.map((_, i) => {
        const all = cells.map(({ amounts }) => amounts[i]!);
        return {
          site: Uint32Array.from(all.flatMap(({ site }) => [...site])),
          bytes: joined(all.map(({ bytes }) => bytes)),
          blocks: joined(all.map(({ blocks }) => blocks)),
          deviation: joined(all.map(({ deviation }) => deviation)),
        };
      }),
    },
  ];
}

export function decode(bytes: Uint8Array): FlameModel {
  const numbers = new Numbers(bytes);
  const head = JSON.parse(numbers.text()) as Head;
  const nodes = read_nodes(numbers, head.nodes);
  const sites = head.profiles.map(() => read_sites(numbers));
  const views = head.views.map((view) => ({
    ...view,
    amounts: head.profiles.map(() => read_amounts(numbers)),
  }));
  return { ...head, ...nodes, sites, views: [...views, ...at_last_end(views)], first: head.first ?? 0, warnings: head.warnings ?? [] };
}

export async function load(element: string): Promise<FlameModel> {
  return decode(new Uint8Array(await packed_response(element).arrayBuffer()));
}
