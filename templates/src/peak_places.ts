// In which round and phase a role peaks: where the medians over a variant's trials are highest.

import { metric_value } from "./format";
import type { Metrics, ReportModel, RoundResult } from "./model";
import { median } from "./timeline_data";

const metric = "peak_rss_bytes";

interface Place {
  name: string;
  value: number;
  /** Groups whose medians are as high, within `alike`; the one itself among them. */
  tied: string[];
  groups: number;
}

/** Medians so near the highest are one peak. */
const alike = 0.01;

/** The one of the named groups of metrics whose median is highest. */
function highest(named: [string, Metrics][]): Place | null {
  const groups = new Map<string, number[]>();
  for (const [name, metrics] of named) {
    const value = metrics[metric];
    if (value === undefined) continue;
    const values = groups.get(name);
    if (values === undefined) groups.set(name, [value]);
    else values.push(value);
  }
  const medians = [...groups].map(([name, values]) => ({ name, value: median(values.sort((a, b) => a - b)) ?? 0 }));
  const [first, ...others] = medians;
  if (first === undefined) return null;
  const best = others.reduce((most, one) => (one.value > most.value ? one : most), first);
  const tied = medians.filter(({ value }) => value >= best.value * (1 - alike)).map(({ name }) => name);
  return { ...best, tied, groups: medians.length };
}

const most_runs = 4;

/** "round 4", "rounds 1, 3–5 alike", "every round alike", "80 rounds from 12 to 960 alike". */
function rounds_words({ name, tied, groups }: Place): string {
  if (tied.length === 1) return `round ${name}`;
  if (tied.length === groups) return "every round alike";
  const runs: [number, number][] = [];
  for (const number of tied.map(Number).sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  const [first, last] = [runs[0]?.[0] ?? 0, runs.at(-1)?.[1] ?? 0];
  if (runs.length > most_runs) return `${tied.length} rounds from ${first} to ${last} alike`;
  return `rounds ${runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ")} alike`;
}

function rounds_of(model: ReportModel, role: string, variant: string): RoundResult[] {
  return model.results.trials
    .filter((trial) => trial.kind === "measure" && trial.status === "ok" && trial.variant === variant)
    .flatMap((trial) => trial.roles.find((r) => r.role === role)?.rounds ?? []);
}

/** "original 604.0 MiB in round 5, phase aggregate; optimized …"; nothing where no round has a peak. */
export function peak_places(model: ReportModel, role: string, variants: Iterable<string>): string | null {
  const found: string[] = [];
  for (const variant of variants) {
    const rounds = rounds_of(model, role, variant);
    const round = highest(rounds.map(({ round: number, metrics }) => [String(number), metrics]));
    if (round === null) continue;
    const inside = rounds.filter(({ round: number }) => round.tied.includes(String(number)));
    const phase = highest(inside.flatMap(({ phases }) => (phases ?? []).map((p): [string, Metrics] => [p.phase, p.metrics])));
    const where = phase === null ? "" : `, phase ${phase.name}`;
    found.push(`${variant} ${metric_value(metric, round.value)} in ${rounds_words(round)}${where}`);
  }
  return found.length === 0 ? null : `Peak of ${role}, by the medians of its rounds: ${found.join("; ")}.`;
}
