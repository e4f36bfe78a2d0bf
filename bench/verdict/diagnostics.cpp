// What weakens a run's claims, found in its own numbers, and what tracers changed.

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/statistics/ljung_box.hpp>
#include <boost/math/statistics/runs_test.hpp>
#include <cmath>
#include <optional>
#include <set>

#include "analysis_steps.h"
#include "model/experiment_view.h"
#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "util/text.h"

namespace memduel {
namespace {

constexpr double kDriftLevel = 0.01;
constexpr double kOutlierZ = 3.5;
constexpr double kMostSteal = 0.01;
constexpr double kMostLoad = 0.25;  ///< per core

struct TimedValue {
  std::int64_t trial_id;
  double value;
};

std::vector<TimedValue> values_in_order(const ArmObservations& arm, const std::string& role,
                                        const std::string& metric) {
  std::vector<TimedValue> values;
  for (const Observation& trial : arm.trials) {
    if (trial.status != TrialStatus::ok) continue;
    if (const auto value = value_of(trial, role, metric))
      values.push_back({trial.trial_id, *value});
  }
  std::ranges::sort(values, {}, &TimedValue::trial_id);
  return values;
}

std::vector<double> plain(const std::vector<TimedValue>& timed) {
  std::vector<double> values;
  for (const TimedValue& value : timed) values.push_back(value.value);
  return values;
}

/// "server peak RSS"; of all processes "peak RSS".
std::string words_of(const JobFacts& job, const DecidedRow& row) {
  const std::string_view display = metric_info(row.comparison.metric).display;
  const std::string metric = display.empty() ? row.comparison.metric : std::string(display);
  const std::string& role = row.comparison.role;
  return role == kTree ? metric : role_words(job, role) + " " + metric;
}

/// Both arms' values without their medians, in the order in which the trials ran.
std::vector<double> residuals(const std::vector<TimedValue>& a, const std::vector<TimedValue>& b) {
  std::vector<TimedValue> all;
  for (const auto* arm : {&a, &b}) {
    if (arm->empty()) continue;
    const double center = median(plain(*arm));
    for (const TimedValue& value : *arm) all.push_back({value.trial_id, value.value - center});
  }
  std::ranges::sort(all, {}, &TimedValue::trial_id);
  return plain(all);
}

void note_drift(std::vector<Note>& notes, const JobFacts& job, const DecidedRow& row,
                const std::vector<TimedValue>& a, const std::vector<TimedValue>& b) {
  const double p = order_p(residuals(a, b));
  if (p >= kDriftLevel) return;
  notes.push_back(
      {"drift",
       fmt::format("{} drifted during the run (p = {:.4f}); the verdict stays valid, because the "
                   "trials were interleaved, but is less precise",
                   words_of(job, row), p),
       "let the machine cool down first, close other programs, and fix the CPU frequency"});
}

void note_modes(std::vector<Note>& notes, const JobFacts& job, const DecidedRow& row,
                const std::string& arm, const std::vector<TimedValue>& values) {
  const std::vector<Mode> modes = find_modes(plain(values));
  if (modes.empty()) return;
  std::string groups;
  int grouped = 0;
  for (const Mode& mode : modes) {
    grouped += mode.count;
    groups += fmt::format("{}{} near {}", groups.empty() ? "" : ", ", mode.count,
                          format_metric(row.comparison.metric, mode.median));
  }
  if (const int rest = static_cast<int>(values.size()) - grouped; rest > 0)
    groups += fmt::format(", {} elsewhere", rest);
  const bool held = row.measured.question.metric.unit == Unit::bytes &&
                    !row.measured.question.metric.exact;  // an allocator's part
  notes.push_back(
      {"several_modes",
       fmt::format("{} of {} has {} clusters (of {} trials, {})", words_of(job, row), arm,
                   modes.size(), values.size(), groups),
       held ? "an extra malloc arena, or another number of processes at the peak, can cause this: "
              "set MALLOC_ARENA_MAX in both variants, or use --repeats 12 or more"
            : "different thread timing can cause this: use --repeats 12 or more"});
}

void note_first_trial(std::vector<Note>& notes, const JobFacts& job, const DecidedRow& row,
                      const std::string& arm, const std::vector<TimedValue>& timed) {
  if (timed.size() < 5) return;
  const std::vector<double> values = plain(timed);
  const double center = median(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - center));
  const double spread = sigma_of_deviations(deviations);
  if (spread <= 0 || deviations.front() <= kOutlierZ * spread) return;
  const std::vector<double> pair = row.measured.scale.of({values.front(), center});
  // The row's margin is of the baseline, which may be of another size than this arm.
  RowValues alone;
  alone.baseline = values;
  const MetricInfo& metric = row.measured.question.metric;
  const double margin =
      std::max(row.measured.claim_margin, margin_of(metric, scale_of(metric, alone)));
  if (std::abs(pair[0] - pair[1]) <= margin) return;
  if (*std::max_element(deviations.begin() + 1, deviations.end()) > kOutlierZ * spread) return;
  notes.push_back(
      {"first_trial_outlier",
       fmt::format("the first trial of variant {} is an outlier in {}: {}, the median "
                   "is {}; it counts",
                   arm, words_of(job, row), format_metric(row.comparison.metric, values.front()),
                   format_metric(row.comparison.metric, center)),
       "raise --warmup"});
}

/// What a trial's place among its neighbours does to it is taken out of the test, and told.
void note_position(std::vector<Note>& notes, const JobFacts& job, const DecidedRow& row) {
  const std::optional<ShiftTest>& test = row.measured.test;
  if (!test || test->swaps() == nullptr) return;
  const PlaceRule& places = test->swaps()->places();
  const double effect = row.measured.effect;
  const double p = places.p_value(effect);
  if (p >= kDriftLevel) return;
  notes.push_back({"position_effect",
                   fmt::format("the second of two consecutive trials has {} {} (p = {:.4f}), "
                               "whichever variant it is; the test corrects for this",
                               row.measured.scale.describe_effect(places.effect().at(effect)),
                               words_of(job, row), p),
                   "find out what one trial changes for the next: caches, files, or the CPU "
                   "frequency"});
}

/// Ranks tell how the typical trial moved. What memory runs out in is the largest.
void note_tail(std::vector<Note>& notes, const JobFacts& job, const DecidedRow& row) {
  const Comparison& out = row.comparison;
  if (!out.is_change() || !out.baseline_max || !out.candidate_max) return;
  const double of_candidate = *out.candidate_max;
  const double of_baseline = *out.baseline_max;
  const double largest = of_candidate - of_baseline;
  if (largest * row.measured.effect >= 0) return;
  notes.push_back(
      {"tail_differs",
       fmt::format("the typical trial of {} has {} {} than that of {}, but the largest one has {}: "
                   "{} vs. {}",
                   out.candidate, row.measured.effect < 0 ? "less" : "more", words_of(job, row),
                   out.baseline, largest < 0 ? "less" : "more",
                   format_metric(row.comparison.metric, of_candidate),
                   format_metric(row.comparison.metric, of_baseline)),
       "add a gate on the largest trial, such as ROLE.METRIC<=900MiB"});
}

void note_swap(std::vector<Note>& notes, const Observations& observations) {
  int swapping = 0;
  for (const ArmObservations& arm : observations.arms) {
    for (const Observation& trial : arm.trials) {
      const bool swapped = std::ranges::any_of(trial.roles, [](const auto& role) {
        const auto at = role.second.find(kSwapped);
        return at != role.second.end() && at->second > 0;
      });
      swapping += static_cast<int>(swapped);
    }
  }
  if (swapping == 0) return;
  notes.push_back({"swapping",
                   fmt::format("{} partly swapped out, which lowers the measured RSS",
                               format_count(swapping, "trial was", "trials were")),
                   "free memory or turn swap off, then rerun"});
}

std::optional<double> number_in(const nlohmann::json& environment, const char* field) {
  if (!environment.is_object()) return std::nullopt;
  const auto at = environment.find(field);
  if (at == environment.end() || !at->is_number()) return std::nullopt;
  return at->get<double>();
}

void note_machine(std::vector<Note>& notes, const Observations& observations,
                  const nlohmann::json& environment) {
  const double steal = number_in(environment, "cpu_steal_ratio").value_or(0);
  if (steal > kMostSteal) {
    notes.push_back({"cpu_steal",
                     fmt::format("the hypervisor took {:.0f}% of the CPU time", 100 * steal),
                     "do not trust the times; rerun later"});
  }
  // The load of a single arm, as of a job that is watched, is its own.
  if (observations.arms.size() < 2) return;
  const double load = number_in(environment, "load").value_or(0);
  const double cores = number_in(environment, "cores").value_or(1);
  const auto busy = number_in(environment, "cpu_busy_ratio");  // absent in older runs
  if (busy.value_or(load / cores) <= kMostLoad) return;
  notes.push_back(
      {"other_load",
       busy ? fmt::format("other programs used {:.0f}% of the {:.0f} cores when the run began",
                          100 * *busy, cores)
            : fmt::format("the load was {:.2f} on {:.0f} cores when the run began", load, cores),
       "close other programs, then rerun"});
}

}  // namespace

double order_p(const std::vector<double>& in_order) {
  const std::set<double> distinct(in_order.begin(), in_order.end());
  if (in_order.size() < 10 || distinct.size() < 3) return 1;
  const double runs = boost::math::statistics::runs_above_and_below_median(in_order).second;
  const double correlated = boost::math::statistics::ljung_box(in_order).second;
  double smaller = 1;
  if (!std::isnan(runs)) smaller = std::min(smaller, runs);
  if (!std::isnan(correlated)) smaller = std::min(smaller, correlated);
  return std::min(1.0, 2 * smaller);
}

std::vector<Note> diagnose(const Observations& observations, const std::vector<DecidedRow>& rows,
                           const JobFacts& job, const nlohmann::json& environment) {
  std::vector<Note> notes;
  std::set<RoleMetric> baseline_done;
  for (const DecidedRow& row : rows) {
    const Comparison& out = row.comparison;
    const ArmObservations* baseline = find_arm(observations, out.baseline);
    const ArmObservations* candidate = find_arm(observations, out.candidate);
    if (!out.gate || out.exact || baseline == nullptr || candidate == nullptr) continue;
    const auto a = values_in_order(*baseline, out.role, out.metric);
    const auto b = values_in_order(*candidate, out.role, out.metric);
    note_drift(notes, job, row, a, b);
    note_position(notes, job, row);
    note_tail(notes, job, row);
    if (baseline_done.insert({out.role, out.metric}).second) {
      note_modes(notes, job, row, out.baseline, a);
      note_first_trial(notes, job, row, out.baseline, a);
    }
    note_modes(notes, job, row, out.candidate, b);
    note_first_trial(notes, job, row, out.candidate, b);
  }
  note_swap(notes, observations);
  note_machine(notes, observations, environment);
  return notes;
}

namespace {

/// Of trials of one kind that lived.
struct Costs {
  std::vector<double> seconds;
  std::vector<double> peaks;  ///< of the tree
};

Costs costs_of(const RunData& run, const std::string& arm, TrialKind kind,
               const std::string& tracer) {
  Costs costs;
  for (const TrialData& trial : run.trials) {
    if (trial.arm != arm || trial.kind != kind || trial.tracer != tracer ||
        trial.status != TrialStatus::ok)
      continue;
    costs.seconds.push_back(trial.seconds());
    if (const auto peak = trial.value(kTree, kPeakRss)) costs.peaks.push_back(*peak);
  }
  return costs;
}

std::optional<double> ratio_of_medians(const std::vector<double>& over,
                                       const std::vector<double>& under) {
  if (over.empty() || under.empty() || median(under) == 0) return std::nullopt;
  return median(over) / median(under);
}

}  // namespace

std::vector<Perturbation> perturbations(const RunData& run) {
  std::vector<Perturbation> found;
  for (const std::string& tracer : tracers_of(run.trials)) {
    for (const std::string& name : run.config.variant_names()) {
      const Costs traced = costs_of(run, name, TrialKind::profile, tracer);
      const Costs plain = costs_of(run, name, TrialKind::measure, {});
      if (traced.seconds.empty() || plain.seconds.empty()) continue;
      found.push_back({name, tracer, ratio_of_medians(traced.seconds, plain.seconds),
                       ratio_of_medians(traced.peaks, plain.peaks)});
    }
  }
  return found;
}

}  // namespace memduel
