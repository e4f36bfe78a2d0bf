// The report model as reports/formats/model_json.cpp writes it.

import { packed_response } from "./packed";

export type Verdict = "improved" | "regressed" | "unchanged" | "inconclusive";
export type Outcome = "passed" | "failed" | "undecided";
export type Metrics = Record<string, number>;

export interface Headline {
  sentence: string;
  role: string;
  metric: string;
  candidate: string;
  verdict: Verdict;
  tier: string;
  outcome: Outcome | null;
  advisory: boolean;
  reason: string;
}

export interface SideEffect {
  topic: "gate" | "allocator" | "model" | "file" | "accuracy" | "counter" | "time" | "growth";
  sentence: string;
  verdict: Verdict;
}

export interface MemoryPart {
  name: string;
  profiled: boolean;
  baseline_bytes: number;
  candidate_bytes: number;
}

/** The parts' differences and `rest_bytes` sum up to that of `total`. */
export interface MemoryBalance {
  role: string;
  candidate: string;
  metric: string;
  total: MemoryPart;
  parts: MemoryPart[];
  rest_bytes: number;
  rest: string;
  at_marks: MemoryPart[];
}

export interface PartPeak {
  name: string;
  /** One per arm. */
  bytes: (number | null)[];
}

export interface PartPeaks {
  role: string;
  /** The baseline first. */
  arms: string[];
  parts: PartPeak[];
}

export interface DifferenceRow {
  amount: string;
  /** Candidate minus baseline, bytes; of allocations blocks. */
  size: number;
  share: string;
  function: string;
  /** For whom the function works; may be empty. */
  caller: string;
  /** Outermost first. */
  stack: string[];
  phase: string;
  more: boolean;
}

export interface DifferenceTable {
  candidate: string;
  role: string;
  kind: string;
  title: string;
  remark: string;
  rows: DifferenceRow[];
}

export interface GrowingRow {
  amount: string;
  bytes_per_round: number;
  function: string;
  caller: string;
  /** Outermost first. */
  stack: string[];
  phase: string;
}

/** Of a row of results.growth. */
export interface GrowthLine {
  outlook: string;
  stacks: GrowingRow[];
}

export interface AgreementRow {
  tracer: string;
  tool: string;
  counts: string;
  /** Peak, allocated, live. */
  amounts: { amount: string; change: string; outcome: string }[];
  stacks: string;
  why: string[];
}

export interface AgreementStackRow {
  question: string;
  function: string;
  /** Outermost first. */
  stack: string[];
  /** In the order of the table's rows. */
  amounts: string[];
}

export interface AgreementTable {
  title: string;
  reference: string;
  rows: AgreementRow[];
  stacks: AgreementStackRow[];
}

/** Profiles that stand side by side in a flame graph; `id` is the element with their data, or empty
 *  where the page says `why` it has none. */
export interface FlamePair {
  id: string;
  tracer: string;
  role: string;
  arms: string[];
  files: string[];
  why: string;
}

export interface Envelope {
  first: number;
  /** Successive differences of the bucket maxima; the first is the value itself. */
  high: number[];
  /** Bucket maximum minus bucket minimum. */
  depth: number[];
}

export interface Span {
  seconds: [number, number];
  position: [number, number];
}

export interface PhaseSpan extends Span {
  phase: string;
}

export interface RoundSpan extends Span {
  round: number;
  phases: PhaseSpan[];
}

export interface RoleTimeline {
  role: string;
  metric: string;
  seconds_per_bucket: number;
  rounds_per_bucket: number;
  first_position: number;
  time_buckets: number;
  round_buckets: number;
  rounds_of: string;
  trials: { trial: number; by_time: Envelope; by_round: Envelope }[];
  arms: { arm: string; rounds: RoundSpan[] }[];
}

export interface Note {
  code: string;
  message: string;
  advice: string;
}

export interface Comparison {
  baseline: string;
  candidate: string;
  role: string;
  metric: string;
  gate: boolean;
  baseline_median?: number | null;
  candidate_median?: number | null;
  ratio?: number | null;
  difference?: number | null;
  ci_low?: number | null;
  ci_high?: number | null;
  p_value?: number | null;
  p_adjusted?: number | null;
  n_baseline: number;
  n_candidate: number;
  verdict: Verdict;
  tier: string;
  reason: string;
  exact?: boolean;
  margin: number;
  blocks_needed?: number | null;
  smallest_detectable?: number | null;
}

export interface Growth {
  arm: string;
  role: string;
  metric: string;
  slope?: number | null;
  ci_low?: number | null;
  ci_high?: number | null;
  verdict: "flat" | "growing" | "stepped" | "settling" | "inconclusive";
  reason: string;
  projection?: {
    limit_bytes: number;
    round?: number | null;
    ci_low?: number | null;
    ci_high?: number | null;
    minute?: number | null;
  } | null;
  model_multiples_per_round?: number | null;
}

export interface AblationCell {
  arm: string | null;
  reference: string;
  reference_median?: number | null;
  median?: number | null;
  ratio?: number | null;
  difference?: number | null;
  ci_low?: number | null;
  ci_high?: number | null;
  n: number;
  verdict: Verdict;
  reason: string;
}

export interface AblationRow {
  optimization: string;
  role: string;
  metric: string;
  phase: string | null;
  added_alone: AblationCell;
  left_out: AblationCell;
  effect: "saves" | "costs" | "mixed" | "nothing" | "cannot_tell";
}

export interface AblationSum {
  sum?: number | null;
  remainder?: number | null;
}

export interface AblationTotal {
  role: string;
  metric: string;
  phase: string | null;
  whole: AblationCell;
  added_alone: AblationSum;
  left_out: AblationSum;
}

export interface PhaseResult {
  phase: string;
  metrics: Metrics;
}

export interface RoundResult {
  round: number;
  metrics: Metrics;
  phases?: PhaseResult[];
}

export interface RoleResult {
  role: string;
  metrics: Metrics;
  rounds?: RoundResult[];
}

export interface Trial {
  id: number;
  block: number;
  position?: number;
  arm: string;
  kind: "measure" | "profile" | "warmup";
  tracer?: string;
  status: "ok" | "failed" | "killed_for_memory" | "dropped";
  failure?: string;
  roles: RoleResult[];
}

export interface LowerBound {
  role: string;
  metric: string;
  bytes: number;
  formula: string;
  multiples: Record<string, number>;
}

export interface Results {
  schema: string;
  experiment: { name: string; baseline: string; config_sha256?: string };
  job: { groups: { name: string; count: number }[]; reference: string };
  environment: Record<string, unknown>;
  limitations: Note[];
  warnings: Note[];
  arms: {
    name: string;
    optimizations: Record<string, unknown>;
    model_sha256?: string | null;
    trials_ok: number;
    trials_failed: number;
    ablation?: boolean;
    allocator?: string | null;
    allocator_libraries?: string[];
  }[];
  trials: Trial[];
  comparisons: Comparison[];
  growth: Growth[];
  lower_bounds: LowerBound[];
  ablation: AblationRow[];
  ablation_totals: AblationTotal[];
}

export interface TrialNote {
  trial: number;
  seconds: number;
  failure: string;
}

export interface ReportModel {
  schema: string;
  title: string;
  confidential: boolean;
  blocks_done: number;
  progress: string;
  reproduce: string;
  /** Of several candidates; else empty. */
  best: string;
  growth: string[];
  /** One per row of results.growth. */
  growth_lines: GrowthLine[];
  lower_bounds: string[];
  ablation: string[];
  headlines: Headline[];
  side_effects: SideEffect[];
  differences: DifferenceTable[];
  agreement: AgreementTable[];
  memory_balances: MemoryBalance[];
  part_peaks: PartPeaks[];
  part_peaks_remark: string;
  timelines: RoleTimeline[];
  profiles: { file: string; arm: string; role: string; trial: number; tracer: string; round: number | null }[];
  flames: FlamePair[];
  profile_commands: string[];
  profile_sentences: string[];
  trial_notes: TrialNote[];
  config: unknown;
  results: Results;
}

export async function load_model(): Promise<ReportModel> {
  return (await packed_response("memduel-data").json()) as ReportModel;
}
