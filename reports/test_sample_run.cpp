#include "test_sample_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "support/on_a_terminal.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kIdle = 150 * kMiB;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kStart = 400 * kMillisecond;
constexpr std::int64_t kRound = 700 * kMillisecond;

constexpr const char* kHostile =
    "\"'><script>window.hacked=1</script><img src=x onerror=window.hacked=1> \xE2\x80\xAE"
    "gnp.exe \xFF\xFE & `x` [a](javascript:alert(1)) | --> ]]> \x1B[31m @user";

/// A function's name, of a hostile run with ten kilobytes of template arguments.
std::string clone_name(bool hostile) {
  return hostile ? "clone<" + std::string(10'000, 'T') + ">(State)" : "clone(State)";
}

std::string arm_name(int k, bool hostile) {
  if (hostile && k == 2) return "ذاكرة أقل 🧠 " + std::string(300, 'x');
  if (hostile) return k == 0 ? "base<b>line" : fmt::format("cand\"{}\" & <i>", k);
  if (k == 0) return "original";
  return k == 1 ? "optimized" : fmt::format("candidate-{}", k);
}

/// Highest memory of a role in a round; a whole number of pages.
double peak_of(const std::string& role, int k, int round, int block) {
  const double noise = ((block * 5) % 3) * kMiB;
  const double base = role == "server" ? 600 * std::pow(0.6, k)
                      : role == "all"  ? 1500.0 - 240 * k
                                       : 420;
  return std::floor((base * kMiB + (round - 1) * kMiB + noise) / 4096) * 4096;
}

PhaseData phase(const char* name, std::int64_t begin, std::int64_t end, double peak) {
  return {name, begin, end, {{"peak_rss_bytes", peak}}};
}

RoundData make_round(const std::string& role, int k, int number, int block, std::int64_t begin) {
  const double peak = peak_of(role, k, number, block);
  RoundData round;
  round.round = number;
  round.begin_ns = begin;
  round.end_ns = begin + kRound - 20 * kMillisecond;
  round.metrics = {{"peak_rss_bytes", peak},
                   {"end_rss_bytes", kIdle + (peak - kIdle) / 2},
                   {"round_seconds", 0.68 + 0.01 * (block % 2)}};
  const auto at = [&](int share) { return begin + kRound * share / 100; };
  if (role == "server")
    round.phases = {phase("broadcast", at(0), at(15), peak * 0.8),
                    phase("aggregate", at(60), at(80), peak),
                    phase("validate", at(80), at(97), peak * 0.9)};
  else if (role != "all")
    round.phases = {phase("load", at(10), at(18), peak * 0.7), phase("train", at(18), at(60), peak),
                    phase("upload", at(60), at(75), peak * 0.9)};
  return round;
}

/// Idle, then a hill in each round that reaches the round's peak in the middle.
Series make_series(const RoleData& role, std::int64_t begin, std::int64_t end) {
  Series series{"rss_bytes", {}, {}};
  for (std::int64_t t = begin; t < end; t += 2 * kMillisecond) {
    double value = kIdle;
    for (const RoundData& round : role.rounds) {
      if (t < round.begin_ns || t >= round.end_ns) continue;
      const double place = static_cast<double>(t - round.begin_ns) /
                           static_cast<double>(round.end_ns - round.begin_ns);
      value = kIdle + (round.metrics.at("peak_rss_bytes") - kIdle) * (1 - std::abs(2 * place - 1));
    }
    series.t_ns.push_back(t);
    series.values.push_back(static_cast<std::int64_t>(value / 4096) * 4096);
  }
  return series;
}

/// Parameters of 40 MiB; activations of 20 MiB, in round 2 of 120, shared by k + 1; the baseline
/// alone has a teacher, of 25.
void add_parts(RoleData& role, int k) {
  for (RoundData& round : role.rounds.edit()) {
    const double activations = (round.round == 2 ? 120 : 20) * kMiB / (k + 1);
    round.metrics["parameter_bytes"] = 40 * kMiB;
    round.metrics["activation_bytes"] = activations;
    round.metrics["teacher_bytes"] = k == 0 ? 25 * kMiB : 0;
    round.metrics["peak_torch_cpu_bytes"] = 40 * kMiB + activations;
  }
}

void set_bytes_to_zero(RoleData& role) {
  for (const char* name :
       {"peak_rss_bytes", "idle_rss_bytes", "peak_rss_above_idle_bytes", "heap_free_bytes"})
    role.metrics[name] = 0;
  for (RoundData& round : role.rounds.edit()) {
    round.metrics["peak_rss_bytes"] = round.metrics["end_rss_bytes"] = 0;
    for (PhaseData& phase : round.phases) phase.metrics["peak_rss_bytes"] = 0;
  }
}

TrialData make_trial(const SampleOptions& options, int id, int block, int position, int k) {
  TrialData trial;
  trial.id = id;
  trial.block = block;
  trial.position = position;
  trial.arm = arm_name(k, options.hostile);
  trial.kind = block == 0 ? TrialKind::warmup : TrialKind::measure;
  trial.begin_ns = id * 10'000 * kMillisecond;
  trial.end_ns = trial.begin_ns + kStart + options.rounds * kRound + 100 * kMillisecond;
  trial.model_sha256 = std::string(64, 'a');
  for (const char* name : {"server", "client-1", "client-2", "all"}) {
    RoleData role;
    role.role = name;
    const double peak = peak_of(name, k, std::max(options.rounds, 1), block);
    role.metrics = {{"peak_rss_bytes", peak},
                    {"idle_rss_bytes", kIdle},
                    {"peak_rss_above_idle_bytes", peak - kIdle},
                    {"heap_free_bytes", (3.0 - k) * 10 * kMiB},
                    {"round_seconds", 0.68 + 0.01 * (block % 2)}};
    for (int r = 1; r <= options.rounds; ++r)
      role.rounds.push_back(
          make_round(name, k, r, block, trial.begin_ns + kStart + (r - 1) * kRound));
    if (options.parts && role.role == "server") add_parts(role, k);
    if (!options.phases)
      for (RoundData& round : role.rounds.edit()) round.phases.clear();
    if (options.series && !options.zeros)
      role.series.push_back(make_series(role, trial.begin_ns, trial.end_ns));
    if (options.zeros) set_bytes_to_zero(role);
    if (role.role != "all") role.exit_status = 0;
    trial.roles.push_back(std::move(role));
  }
  return trial;
}

double median_of(const RunData& run, const std::string& arm, const std::string& role,
                 const std::string& metric) {
  std::vector<double> values;
  for (const TrialData& trial : run.trials) {
    if (!trial.counts() || trial.arm != arm) continue;
    if (const auto value = trial.value(role, metric)) values.push_back(*value);
  }
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Comparison compare(const RunData& run, const SampleOptions& options, int k, const std::string& role,
                   const std::string& metric, double margin) {
  Comparison c;
  c.baseline = arm_name(0, options.hostile);
  c.candidate = arm_name(k, options.hostile);
  c.role = role;
  c.metric = metric;
  c.gate = metric == "peak_rss_bytes" && role != "all";
  c.baseline_median = median_of(run, c.baseline, role, metric);
  c.candidate_median = median_of(run, c.candidate, role, metric);
  c.difference = *c.candidate_median - *c.baseline_median;
  c.n_baseline = c.n_candidate = options.blocks;
  c.margin = margin;
  if (*c.baseline_median == 0) {
    c.ci_low = c.ci_high = 0;
    c.verdict = Verdict::unchanged;
    c.reason = "no difference in any block";
    return c;
  }
  c.ratio = *c.candidate_median / *c.baseline_median;
  if (options.blocks == 1) {
    c.verdict = Verdict::inconclusive;
    c.reason = "fewer than 5 blocks";
    return c;
  }
  c.ci_low = *c.ratio * 0.995;
  c.ci_high = *c.ratio * 1.005;
  c.p_value = 0.0078125;
  if (c.gate) c.p_adjusted = 0.015625;
  c.minimum_detectable = 0.004;
  const bool same = std::abs(*c.ratio - 1) < margin;
  c.verdict = same ? Verdict::unchanged : *c.ratio < 1 ? Verdict::improved : Verdict::regressed;
  c.tier = same ? Tier::plain : Tier::strong;
  c.reason = same ? "the 90% interval lies inside the margin"
                  : "the whole interval lies beyond the margin";
  if (options.next_look > 0) {
    c.verdict = Verdict::inconclusive;
    c.tier = Tier::plain;
    c.reason = fmt::format("no verdict before block {}", options.next_look);
  }
  return c;
}

GateResult gate_of(const Comparison& c) {
  GateResult gate;
  gate.gate = c.role + "." + c.metric + "<=+1%";
  gate.role = c.role;
  gate.metric = c.metric;
  gate.candidate = c.candidate;
  gate.outcome = c.verdict == Verdict::regressed      ? GateOutcome::failed
                 : c.verdict == Verdict::inconclusive ? GateOutcome::inconclusive
                                                      : GateOutcome::passed;
  gate.exit_code = gate.outcome == GateOutcome::failed ? 1 : 0;
  gate.reason = c.reason;
  return gate;
}

void add_results(Results& results, const RunData& run, const SampleOptions& options) {
  results.name = options.hostile ? kHostile : "sample";
  results.baseline = arm_name(0, options.hostile);
  results.config_sha256 = run.config_sha256;
  results.job = run.job;
  results.environment = run.environment;
  results.limitations = run.limitations;
  results.warnings = run.warnings;
  results.trials = run.trials;
  for (TrialData& trial : results.trials)
    for (RoleData& role : trial.roles) role.series.clear();
  for (int k = 0; k <= options.candidates; ++k) {
    ArmSummary arm;
    arm.name = arm_name(k, options.hostile);
    arm.optimizations = {{"aggregate", k == 0 ? "deep-copy" : "in-place"}, {"piece_bytes", 262144}};
    arm.model_sha256 = std::string(64, 'a');
    for (const TrialData& trial : run.trials)
      if (trial.arm == arm.name && trial.kind == TrialKind::measure)
        ++(trial.status == TrialStatus::ok ? arm.trials_ok : arm.trials_failed);
    results.arms.push_back(std::move(arm));
  }
  for (int k = 1; k <= options.candidates && !run.trials.empty() && !options.all_failed; ++k) {
    for (const char* role : {"server", "client-1", "all"}) {
      for (const auto& [metric, margin] :
           std::map<std::string, double>{{"peak_rss_above_idle_bytes", 0.01},
                                         {"peak_rss_bytes", 0.01},
                                         {"heap_free_bytes", 0.005},
                                         {"round_seconds", 0.03}}) {
        results.comparisons.push_back(compare(run, options, k, role, metric, margin));
        if (results.comparisons.back().gate)
          results.gates.push_back(gate_of(results.comparisons.back()));
      }
    }
    results.equivalence.push_back({arm_name(0, options.hostile),
                                   arm_name(k, options.hostile),
                                   true,
                                   0.0,
                                   {{"validation_accuracy_ratio", {0.9125, 0.9125}}}});
  }
  std::vector<std::string> candidates;
  for (int k = 1; k <= options.candidates; ++k) candidates.push_back(arm_name(k, options.hostile));
  results.overall = overall_of(results, candidates);
}

AblationCell ablation_cell(const std::string& arm, const std::string& reference, double from,
                           double to) {
  AblationCell cell;
  cell.arm = arm;
  cell.reference = reference;
  cell.reference_median = from * kMiB;
  cell.median = to * kMiB;
  cell.ratio = to / from;
  cell.difference = (to - from) * kMiB;
  cell.ci_low = *cell.ratio - 0.01;
  cell.ci_high = *cell.ratio + 0.01;
  cell.n = 6;
  cell.verdict = to == from  ? Verdict::unchanged
                 : to < from ? Verdict::improved
                             : Verdict::regressed;
  cell.reason = "the whole interval lies beyond the margin";
  return cell;
}

/// Three switches from 450 to 216 MiB, for the whole trial and in phase aggregate: framing saves
/// 100 alone and 60 beside the others, cleanup nothing, staging can act only beside the others
/// (84). The server's bound is 40 MiB.
void add_ablation(Results& results, bool hostile) {
  const std::string a = arm_name(0, hostile);
  const std::string b = arm_name(1, hostile);
  const std::string metric = "peak_rss_above_idle_bytes";
  const std::string odd = hostile ? kHostile : "staging";
  AblationCell not_run;
  not_run.idle = true;
  not_run.reference = a;
  not_run.reason = "changes nothing: needs aggregate=streaming_fold";
  using Phase = std::optional<std::string>;
  for (const Phase& phase : {Phase(), Phase("aggregate")}) {
    results.ablation.push_back({"framing", "server", metric, phase,
                                ablation_cell(a + "+framing", a, 450, 350),
                                ablation_cell(b + "-framing", b, 216, 276), SwitchEffect::saves});
    results.ablation.push_back({odd, "server", metric, phase, not_run,
                                ablation_cell(b + "-staging", b, 216, 300), SwitchEffect::saves});
    results.ablation.push_back({"cleanup", "server", metric, phase,
                                ablation_cell(a + "+cleanup", a, 450, 450),
                                ablation_cell(b + "-cleanup", b, 216, 216), SwitchEffect::nothing});
    results.ablation_totals.push_back(
        {"server", metric, phase, ablation_cell(b, a, 450, 216),
         AblationSum{-100 * kMiB, -134 * kMiB, -140 * kMiB, -130 * kMiB, 6, {}},
         AblationSum{-144 * kMiB, -90 * kMiB, -95 * kMiB, -85 * kMiB, 6, {}}});
  }
  for (const char* name : {"+framing", "+cleanup", "-framing", "-staging", "-cleanup"}) {
    ArmSummary arm;
    arm.name = (name[0] == '+' ? a : b) + name;
    arm.model_sha256 = std::string(64, 'a');
    arm.ablation = true;
    results.arms.push_back(arm);
    results.equivalence.push_back({a, arm.name, true, 0.0, {}});
  }
  results.lower_bounds.push_back(
      {"server", metric, 40 * kMiB, "M: its model, 40.0 MiB", {{a, 11.25}, {b, 5.4}}});
}

/// At its peak the candidate's server lacks 200 MiB of copies made in phase aggregate and has 20
/// MiB of staging that the baseline never has.
void add_differences(Results& results, bool hostile) {
  const std::string candidate = arm_name(1, hostile);
  const std::string odd = hostile ? kHostile : "stage(Path const&)";
  const std::vector<std::string> copy = {"main", "serve()", "aggregate(State&)",
                                         clone_name(hostile),
                                         "std::vector<float>::vector(unsigned long)"};
  results.differences.push_back({candidate, "server", "peak", "malloc", copy, -200 * kMiB,
                                 200.0 / 220, "aggregate", -2, 400 * kMiB, 200 * kMiB, 4 * kMiB});
  results.differences.push_back({candidate,
                                 "server",
                                 "peak",
                                 "malloc",
                                 {"main", "serve()", odd},
                                 20 * kMiB,
                                 20.0 / 220,
                                 std::nullopt,
                                 1,
                                 0,
                                 20 * kMiB,
                                 std::nullopt});
  results.difference_totals.push_back(
      {candidate, "server", "peak", "malloc", 440 * kMiB, 260 * kMiB, 20.0 / 700, 2});
}

/// The server's resident memory: 500 MiB with the baseline, 260 MiB with the candidate.
void add_resident(Results& results, bool hostile) {
  const std::string candidate = arm_name(1, hostile);
  const auto memory = [](const std::string& arm, std::vector<double> mib) {
    ResidentMemory of;
    of.arm = arm;
    of.role = "server";
    constexpr std::array kOwners = {"live", "fragmentation", "free", "file", "other"};
    for (std::size_t i = 0; i < kOwners.size(); ++i) {
      const std::string name = i == 2 ? kFurtherArenas : i == 3 ? "libx.so" : "";
      of.owners.push_back({kOwners[i], name, mib.at(i) * kMiB});
      of.bytes += mib[i] * kMiB;
    }
    of.recorder_bytes = 9 * kMiB;
    of.round = 3;
    of.phase = "aggregate";
    of.seconds = 0.04;
    return of;
  };
  results.resident = {memory(arm_name(0, hostile), {400, 20, 60, 18, 2}),
                      memory(candidate, {200, 5, 36, 18, 1})};
  const auto differs = [&](const std::vector<std::string>& stack, double mib) {
    Difference row;
    row.candidate = candidate;
    row.role = "server";
    row.kind = "resident";
    row.stack = stack;
    row.bytes = mib * kMiB;
    results.differences.push_back(std::move(row));
  };
  differs({"live", "main", "serve()", "aggregate(State&)", clone_name(hostile)}, -200);
  differs({"free", kFurtherArenas}, -24);
  differs({"fragmentation", "main", "serve()", hostile ? kHostile : "stage(Path const&)"}, -15);
}

Growth growth_row(const std::string& arm, const std::string& role, double per_round,
                  GrowthVerdict verdict, const std::string& reason) {
  Growth row;
  row.arm = arm;
  row.role = role;
  row.metric = "rss_growth_bytes_per_round";
  row.slope = per_round;
  row.ci_low = per_round * 0.9;
  row.ci_high = per_round * 1.1;
  row.verdict = verdict;
  row.reason = reason;
  return row;
}

/// The baseline's server grows 64 MiB per round, 60 of them through two stacks, and meets 24 GiB in
/// round 375; the candidate's is flat, of client-1 nothing can be told. Twice that per minute.
void add_growth(Results& results, bool hostile) {
  const std::string a = arm_name(0, hostile);
  const std::string b = arm_name(1, hostile);
  const std::string odd = hostile ? kHostile : "keep(Update const&)";
  Growth grows = growth_row(a, "server", 64 * kMiB, GrowthVerdict::growing,
                            "adds 64.0 MiB a round (58.0 MiB to 70.0 MiB)");
  grows.projection = Projection{24 * 1024 * kMiB, 375, 341, 416, 187.5};
  grows.model_multiples_per_round = 1.5;
  grows.stacks = {
      {{"main", "serve()", "aggregate(State&)", clone_name(hostile)},
       hostile ? kHostile : "aggregate",
       48 * kMiB,
       480 * kMiB},
      {{"main", "serve()", odd, "operator new(unsigned long)"}, "", 12 * kMiB, 120 * kMiB}};
  const std::string unknown = hostile ? kHostile : "cannot tell yet: 50 rounds would";
  results.growth = {grows,
                    growth_row(b, "server", 1024, GrowthVerdict::flat, "stays near 300.0 MiB"),
                    growth_row(a, "client-1", kMiB, GrowthVerdict::inconclusive, unknown),
                    growth_row(b, "client-1", kMiB, GrowthVerdict::inconclusive, unknown)};
  results.growth[1].level = 300 * kMiB;
  for (std::size_t i = 0, rows = results.growth.size(); i < rows; ++i) {
    Growth row = growth_row(results.growth[i].arm, results.growth[i].role,
                            *results.growth[i].slope * 2, results.growth[i].verdict, "per minute");
    row.metric = "rss_growth_bytes_per_minute";
    if (results.growth[i].projection)
      row.projection = Projection{24 * 1024 * kMiB, std::nullopt, 170, 208, 187.5};
    results.growth.push_back(std::move(row));
  }
}

}  // namespace

Sample make_sample(const SampleOptions& options) {
  Sample sample;
  RunData& run = sample.run;
  run.config =
      document_of_run({{"name", "sample"},
                       {"measure", {{"repeats", std::max(options.blocks, 8)}}},
                       {"workload", {{"kind", "federated"}, {"env", {{"TOKEN", "secret"}}}}}});
  run.job.roles = {"server", "client-1", "client-2"};
  run.job.groups = {{"client", 2}};
  run.job.reference = "server";
  run.config_sha256 = std::string(64, 'c');
  run.environment = {{"cpu", "Sample CPU"}, {"kernel", "6.1"}, {"fingerprint", "f00d"}};
  if (options.hostile) run.environment["cpu"] = kHostile;
  run.warnings = {{"load", options.hostile ? kHostile : "other programs used 12% of the CPU",
                   "run it on a quiet machine"}};
  run.limitations = {{"no_cgroup", "no cgroup could be made", "run as root"}};
  int id = 0;
  for (int block = 0; block <= options.blocks; ++block)
    for (int position = 0; position <= options.candidates; ++position) {
      const int k = (position + block) % (options.candidates + 1);
      run.trials.push_back(make_trial(options, ++id, block, position, k));
    }
  for (int k = 0; options.profiles && k <= options.candidates; ++k) {
    run.trials.push_back(make_trial(options, ++id, -1, k, k));
    run.trials.back().kind = TrialKind::profile;
    run.trials.back().tracer = "recorder";
    sample.results.perturbation.push_back({arm_name(k, options.hostile), "recorder", 1.04, 1.01});
  }
  for (TrialData& trial : run.trials) {
    const bool last = &trial == &run.trials.back();
    if (!options.all_failed && !(options.failed_trial && last)) continue;
    trial.status = TrialStatus::killed_for_memory;
    trial.failure = options.hostile
                        ? kHostile
                        : "server was killed by signal 9\nlast line of /srv/job/log: out of memory";
  }
  add_results(sample.results, run, options);
  if (options.growth) add_growth(sample.results, options.hostile);
  if (options.ablation) add_ablation(sample.results, options.hostile);
  if (options.differences) add_differences(sample.results, options.hostile);
  if (options.snapshots) add_resident(sample.results, options.hostile);
  return sample;
}

bool fits(const std::string& line, std::size_t width) {
  const std::size_t begin = line.find_first_not_of(' ');
  return count_characters(line) <= width || line.find(' ', begin) == std::string::npos;
}

std::vector<ProfileFile> sample_profiles(const Sample& sample) {
  std::vector<ProfileFile> files;
  for (const TrialData& trial : sample.run.trials) {
    if (trial.kind != TrialKind::profile) continue;
    files.push_back({fmt::format("{}-server.mdp", trial.id), 2'000});
    files.push_back({fmt::format("{}-server.2.mdp", trial.id), 90'000});
    files.push_back({fmt::format("{}-client-1.mdp", trial.id), 80'000});
  }
  return files;
}

ReportModel sample_model(const SampleOptions& options) {
  const Sample sample = make_sample(options);
  ReportOptions report;
  report.profiles = sample_profiles(sample);
  return build_report_model(sample.results, sample.run, report);
}

ReportDocument sample_document(const SampleOptions& options) {
  return document_of(sample_model(options));
}

}  // namespace memduel
