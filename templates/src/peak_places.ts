// In which round and phase a role peaks: where the medians over an arm's trials are highest.

import { metric_value } from "./format";
import type { Metrics, ReportModel, RoundResult } from "./model";
import { median } from "./timeline_data";

const metric = "peak_rss_bytes";

interface Place {
  name: string;
  value: number;
}

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
  let best: Place | null = null;
  for (const [name, values] of groups) {
    const value = median(values.sort((a, b) => a - b));
    if (value !== null && (best === null || value > best.value)) best = { name, value };
  }
  return best;
}

function rounds_of(model: ReportModel, role: string, arm: string): RoundResult[] {
  return model.results.trials
    .filter((trial) => trial.kind === "measure" && trial.status === "ok" && trial.arm === arm)
    .flatMap((trial) => trial.roles.find((r) => r.role === role)?.rounds ?? []);
}

/** "original 604.0 MiB in round 5, phase aggregate; optimized …"; nothing where no round has a peak. */
export function peak_places(model: ReportModel, role: string, arms: Iterable<string>): string | null {
  const told: string[] = [];
  for (const arm of arms) {
    const rounds = rounds_of(model, role, arm);
    const round = highest(rounds.map(({ round: number, metrics }) => [String(number), metrics]));
    if (round === null) continue;
    const inside = rounds.filter(({ round: number }) => String(number) === round.name);
    const phase = highest(inside.flatMap(({ phases }) => (phases ?? []).map((p): [string, Metrics] => [p.phase, p.metrics])));
    const where = phase === null ? "" : `, phase ${phase.name}`;
    told.push(`${arm} ${metric_value(metric, round.value)} in round ${round.name}${where}`);
  }
  return told.length === 0 ? null : `Where ${role} peaks, by the medians of its rounds: ${told.join("; ")}.`;
}
