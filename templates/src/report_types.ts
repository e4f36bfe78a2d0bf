// Made from the field lists of reports/model_json.h and
// bench/verdict/include/verdict/result_files.h, where units and meanings are said. Do not edit.

export interface RoleGroup {
  name: string;
  count: number;
}

export interface RoleMetric {
  role: string;
  metric: string;
}

export interface HeldModel {
  role: string;
  metric: string;
  copies: number;
  what: string;
}

export interface JobFacts {
  roles: string[];
  groups: RoleGroup[];
  reference: string;
  default_gates: RoleMetric[];
  held_models: HeldModel[];
  better?: Record<string, "undeclared" | "lower" | "higher">;
}

export interface Note {
  code: string;
  message: string;
  advice: string;
}

export interface ArmSummary {
  name: string;
  optimizations: Record<string, unknown>;
  model_sha256: string | null;
  trials_ok: number;
  trials_failed: number;
  ablation: boolean;
  allocator: string | null;
  allocator_libraries: string[];
}

export interface PhaseResult {
  phase: string;
  begin_ns: number;
  end_ns: number;
  metrics: Record<string, number>;
}

export interface RoundResult {
  round: number;
  begin_ns: number;
  end_ns: number;
  metrics: Record<string, number>;
  phases: PhaseResult[];
  peak_rss_is_sampled?: boolean;
}

export interface OutsideRounds {
  part: "start_up" | "between_rounds" | "after_rounds";
  begin_ns: number;
  end_ns: number;
  peak_rss_bytes: number;
  peak_rss_is_sampled?: boolean;
}

export interface RoleResult {
  role: string;
  metrics: Record<string, number>;
  rounds: RoundResult[];
  exit_status?: number | null;
  exit_signal?: number | null;
  outside_rounds?: OutsideRounds[];
  peak_rss_is_sampled?: boolean;
}

export interface Trial {
  id: number;
  block: number;
  position: number;
  arm: string;
  kind: "warmup" | "measure" | "profile";
  status: "ok" | "failed" | "killed_for_memory" | "dropped";
  begin_ns: number;
  end_ns: number;
  harness_cpu_seconds: number;
  roles: RoleResult[];
  failure?: string;
  harness_fault?: boolean;
  model_sha256?: string | null;
  tracer?: string;
  files?: Record<string, string>;
  allocators?: Record<string, string>;
}

export interface RemovedPlace {
  effect: number;
  p_value: number;
  estimate: number;
  everywhere: boolean;
}

export interface Comparison {
  baseline: string;
  candidate: string;
  role: string;
  metric: string;
  gate: boolean;
  advisory_gate: boolean;
  baseline_median: number | null;
  candidate_median: number | null;
  baseline_max: number | null;
  candidate_max: number | null;
  ratio: number | null;
  difference: number | null;
  ci_low: number | null;
  ci_high: number | null;
  confidence: number;
  p_value: number | null;
  p_adjusted: number | null;
  correction: string;
  p_mean: number | null;
  test: string;
  reference_orders?: number | null;
  removed_place?: RemovedPlace | null;
  apart: boolean;
  exact: boolean;
  n_baseline: number;
  n_candidate: number;
  verdict: "improved" | "regressed" | "changed" | "unchanged" | "inconclusive";
  tier: "strong" | "plain";
  reason: string;
  margin: number;
  blocks_needed: number | null;
  smallest_detectable: number | null;
}

export interface TrialSlope {
  block: number;
  slope: number;
}

export interface Projection {
  limit_bytes: number;
  round: number | null;
  ci_low: number | null;
  ci_high: number | null;
  minute: number | null;
}

export interface GrowingStack {
  stack: string[];
  phase: string | null;
  bytes_per_round: number;
  last_bytes: number;
}

export interface Growth {
  arm: string;
  role: string;
  metric: string;
  slope: number | null;
  ci_low: number | null;
  ci_high: number | null;
  confidence: number;
  method: string;
  resolution: number;
  trial_slopes: TrialSlope[];
  verdict: "flat" | "growing" | "stepped" | "settling" | "inconclusive";
  reason: string;
  of_files?: boolean;
  projection: Projection | null;
  model_multiples_per_round: number | null;
  level: number | null;
  rounds_needed: number | null;
  stacks: GrowingStack[];
}

export interface GateEvidence {
  quantity: "ratio" | "difference" | "value";
  method: string;
  limit: number | null;
  estimate: number | null;
  ci_low: number | null;
  ci_high: number | null;
  confidence: number | null;
  p_adjusted: number | null;
  n_baseline: number;
  n_candidate: number;
}

export interface GateResult {
  gate: string;
  role: string;
  metric: string;
  baseline?: string | null;
  candidate: string;
  outcome: "passed" | "failed" | "undecided";
  advisory: boolean;
  reason: string;
  failure?: "shown" | "estimated" | null;
  candidate_failed?: boolean;
  not_measured?: boolean;
  beyond_bound?: boolean;
  evidence: GateEvidence;
  exit_code: number;
}

export interface Overall {
  outcome: "passed" | "failed" | "inconclusive" | "not_measured" | "no_gates";
  exit_code: number;
  best: string | null;
  nothing?: string;
}

export interface LineDifference {
  line: number;
  baseline: string;
  candidate: string;
}

export interface Variation {
  lines: number;
  varying_lines: number;
  first_varying: number[];
  differing_lines: number;
}

export interface FileEquivalence {
  file: string;
  blocks: number;
  identical_blocks: number;
  max_difference: number | null;
  max_within_baseline: number | null;
  first_difference?: LineDifference | null;
  variation?: Variation | null;
}

export interface Equivalence {
  baseline: string;
  candidate: string;
  bit_identical: boolean | null;
  max_abs_diff: number | null;
  metrics: Record<string, [number, number]>;
  files: FileEquivalence[];
}

export interface LowerBound {
  role: string;
  metric: string;
  bytes: number;
  formula: string;
  multiples: Record<string, number>;
}

export interface Perturbation {
  arm: string;
  tracer: string;
  wall_ratio: number | null;
  peak_rss_ratio: number | null;
}

export interface AblationCell {
  arm: string | null;
  idle: boolean;
  reference: string;
  reference_median: number | null;
  median: number | null;
  ratio: number | null;
  difference: number | null;
  ci_low: number | null;
  ci_high: number | null;
  p_adjusted: number | null;
  n: number;
  verdict: "improved" | "regressed" | "changed" | "unchanged" | "inconclusive";
  reason: string;
}

export interface AblationRow {
  optimization: string;
  role: string;
  metric: string;
  phase: string | null;
  added_alone: AblationCell;
  left_out: AblationCell;
  effect: "saves" | "costs" | "mixed" | "changes" | "nothing" | "cannot_tell";
}

export interface AblationSum {
  sum: number | null;
  remainder: number | null;
  ci_low: number | null;
  ci_high: number | null;
  n: number;
  missing: string[];
}

export interface AblationTotal {
  role: string;
  metric: string;
  phase: string | null;
  whole: AblationCell;
  added_alone: AblationSum;
  left_out: AblationSum;
}

export interface Difference {
  candidate: string;
  role: string;
  kind: string;
  heap: string;
  stack: string[];
  bytes: number;
  share: number;
  phase: string | null;
  blocks: number;
  baseline_bytes: number;
  candidate_bytes: number;
  half_width_bytes: number | null;
}

export interface DifferenceTotal {
  candidate: string;
  role: string;
  kind: string;
  heap: string;
  baseline_bytes: number;
  candidate_bytes: number;
  unmatched_share: number;
  guessed_share: number;
  stacks: number;
}

export interface ResidentOwner {
  owner: string;
  name: string;
  bytes: number;
}

export interface ResidentMemory {
  arm: string;
  role: string;
  bytes: number;
  processes: number;
  counted_again_bytes: number;
  page_cache_bytes: number;
  owners: ResidentOwner[];
  recorder_bytes: number;
  untouched_bytes: number;
  swapped_bytes: number;
  round: number;
  phase: string | null;
  seconds: number;
}

export interface ShownCause {
  name: string;
  memory: string;
  function: string;
  caller: string;
  size: number;
}

export interface ShownRow {
  candidate: string;
  role: string;
  metric: string;
  why: "failed_gate" | "gate" | "largest_change" | "change" | "other";
  change: number | null;
  causes: ShownCause[];
}

export interface NextStep {
  sentence: string;
  command: string;
}

export interface FirstScreen {
  rows: ShownRow[];
  next_step: NextStep | null;
}

export interface ResultLists {
  warmup_rounds: number;
  job: JobFacts;
  environment: Record<string, unknown>;
  order: string;
  limitations: Note[];
  warnings: Note[];
  arms: ArmSummary[];
  trials: Trial[];
  comparisons: Comparison[];
  growth: Growth[];
  gates: GateResult[];
  overall: Overall;
  equivalence: Equivalence[];
  lower_bounds: LowerBound[];
  perturbation: Perturbation[];
  ablation: AblationRow[];
  ablation_totals: AblationTotal[];
  differences: Difference[];
  difference_totals: DifferenceTotal[];
  resident: ResidentMemory[];
  first_screen: FirstScreen;
}

export interface ComparedArm {
  name: string;
  words: string;
}

export interface Cause {
  amount: string;
  name: string;
  more: boolean;
  of: string;
  resident: boolean;
}

export interface SentencePart {
  text: string;
  mark: "plain" | "strong" | "verdict";
}

export interface GrowingRow {
  amount: string;
  bytes_per_round: number;
  function: string;
  caller: string;
  stack: string[];
  phase: string;
}

export interface GrowthLine {
  outlook: string;
  stacks: GrowingRow[];
}

export interface Headline {
  sentence: SentencePart[];
  role: string;
  metric: string;
  candidate: string;
  verdict: "improved" | "regressed" | "changed" | "unchanged" | "inconclusive";
  tier: "strong" | "plain";
  more: boolean;
  outcome: "passed" | "failed" | "undecided" | null;
  gate: string;
  fails: boolean;
  reason: string;
  why: "failed_gate" | "gate" | "largest_change" | "change" | "other";
}

export interface SideEffect {
  topic: "gate" | "allocator" | "model" | "file" | "accuracy" | "time" | "growth";
  sentence: string;
  verdict: "improved" | "regressed" | "changed" | "unchanged" | "inconclusive";
}

export interface DifferenceRow {
  amount: string;
  size: number;
  share: string;
  function: string;
  caller: string;
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

export interface MemoryPart {
  name: string;
  profiled: boolean;
  baseline_bytes: number;
  candidate_bytes: number;
}

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

export interface OwnerRow {
  owner: string;
  words: string;
  baseline_bytes: number;
  candidate_bytes: number;
}

export interface WaterfallStep {
  owner: string;
  function: string;
  words: string;
  stack: string[];
  size: number;
  amount: string;
}

export interface ResidentTable {
  candidate: string;
  role: string;
  title: string;
  baseline_bytes: number;
  candidate_bytes: number;
  owners: OwnerRow[];
  told: OwnerRow[];
  steps: WaterfallStep[];
  remarks: string[];
}

export interface PartPeak {
  name: string;
  bytes: (number | null)[];
}

export interface PartPeaks {
  role: string;
  arms: string[];
  parts: PartPeak[];
}

export interface Envelope {
  first: number;
  high: number[];
  depth: number[];
}

export interface TrialTimeline {
  trial: number;
  by_time: Envelope;
  by_round: Envelope;
}

export interface PhaseSpan {
  seconds: [number, number];
  position: [number, number];
  phase: string;
}

export interface RoundSpan {
  seconds: [number, number];
  position: [number, number];
  round: number;
  phases: PhaseSpan[];
}

export interface ArmRounds {
  arm: string;
  rounds: RoundSpan[];
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
  trials: TrialTimeline[];
  arms: ArmRounds[];
}

export interface ReportLists {
  title: string;
  confidential: boolean;
  round_step: number;
  blocks_done: number;
  progress: string;
  reproduce: string;
  compared: ComparedArm[];
  setting: string;
  overall: string;
  causes: Cause[];
  next_step: NextStep | null;
  best: SentencePart[];
  growth: SentencePart[][];
  growth_lines: GrowthLine[];
  lower_bounds: string[];
  ablation: string[];
  headlines: Headline[];
  side_effects: SideEffect[];
  differences: DifferenceTable[];
  memory_balances: MemoryBalance[];
  resident: ResidentTable[];
  part_peaks: PartPeaks[];
  timelines: RoleTimeline[];
}

export interface ListedProfile {
  file: string;
  arm: string;
  role: string;
  trial: number;
  tracer: string;
  round: number | null;
}

export interface FlamePair {
  id: string;
  tracer: string;
  role: string;
  arms: string[];
  files: string[];
  why: string;
}

export interface TrialNote {
  trial: number;
  seconds: number;
  failure: string;
}

export interface ReportExtras {
  profiles: ListedProfile[];
  profile_commands: string[];
  profile_sentences: string[];
  flames: FlamePair[];
  trial_notes: TrialNote[];
  part_peaks_remark: string;
}
