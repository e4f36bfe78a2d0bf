// From the envelopes of all trials to what a chart draws: a band and a median line per variant.

import type { Envelope, ReportModel, RoleTimeline } from "./model";

export type Axis = "round" | "time";

export interface Curve {
  variant: string;
  trial: number;
  low: (number | null)[];
  high: (number | null)[];
}

export interface Band {
  variant: string;
  trials: number;
  low: (number | null)[];
  high: (number | null)[];
  median: (number | null)[];
}

/** Whether there is more than the one round that a plain command has. */
export function has_rounds(timeline: RoleTimeline): boolean {
  return timeline.variants.some((variant) => variant.rounds.length > 1);
}

/** Centres of the buckets: seconds since the trial's start, or rounds. */
export function positions(timeline: RoleTimeline, axis: Axis): number[] {
  const [count, width, first] =
    axis === "time"
      ? [timeline.time_buckets, timeline.seconds_per_bucket, 0]
      : [timeline.round_buckets, timeline.rounds_per_bucket, timeline.first_position];
  return Array.from({ length: count }, (_, i) => first + (i + 0.5) * width);
}

function decode(envelope: Envelope, buckets: number): Pick<Curve, "low" | "high"> {
  const low = new Array<number | null>(buckets).fill(null);
  const high = new Array<number | null>(buckets).fill(null);
  let value = 0;
  envelope.high.forEach((difference, i) => {
    value += difference;
    high[envelope.first + i] = value;
    low[envelope.first + i] = value - (envelope.depth[i] ?? 0);
  });
  return { low, high };
}

/** One curve per trial that has this series, failed ones included. */
export function curves(model: ReportModel, timeline: RoleTimeline, axis: Axis): Curve[] {
  const trials = new Map(model.results.trials.map((trial) => [trial.id, trial]));
  const buckets = axis === "time" ? timeline.time_buckets : timeline.round_buckets;
  return timeline.trials.flatMap((entry) => {
    const trial = trials.get(entry.trial);
    if (trial === undefined) return [];
    const envelope = axis === "time" ? entry.by_time : entry.by_round;
    return [{ variant: trial.variant, trial: entry.trial, ...decode(envelope, buckets) }];
  });
}

export function median(sorted: number[]): number | null {
  const half = sorted.length >> 1;
  const upper = sorted[half];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2;
}

/** Lowest and highest value of any trial, and the median of the trials' maxima, bucket by bucket. */
export function bands(of: Curve[], variants: Iterable<string>): Band[] {
  const result: Band[] = [];
  for (const variant of variants) {
    const own = of.filter((curve) => curve.variant === variant);
    const first = own[0];
    if (first === undefined) continue;
    const band: Band = { variant, trials: own.length, low: [], high: [], median: [] };
    for (let i = 0; i < first.high.length; ++i) {
      const highs = own.map((curve) => curve.high[i]).filter((v): v is number => v != null);
      const lows = own.map((curve) => curve.low[i]).filter((v): v is number => v != null);
      highs.sort((a, b) => a - b);
      band.median.push(median(highs));
      band.high.push(highs.at(-1) ?? null);
      band.low.push(lows.length === 0 ? null : Math.min(...lows));
    }
    result.push(band);
  }
  return result;
}
