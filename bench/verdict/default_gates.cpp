#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analysis_steps.h"
#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "util/text.h"
#include "verdict/gates.h"

namespace memduel {
namespace {

/// What a sum of resident sets has too much or too little, beside a whole.
struct Apart {
  double bytes = 0;
  double whole = 0;

  [[nodiscard]] double share() const { return whole > 0 ? bytes / whole : 0; }
};

std::optional<Apart> counted_again(const TrialData& trial) {
  const auto bytes = trial.value(kTree, kRssCountedAgain);
  const auto held = trial.value(kTree, kPeakSharedOnce);
  if (!bytes || !held) return std::nullopt;
  return Apart{*bytes, *held};
}

std::optional<Apart> left_out(const TrialData& trial) {
  const auto held = trial.value(kTree, kPeakSharedOnce);
  const auto sum = trial.value(kTree, kPeakRss);
  if (!held || !sum) return std::nullopt;
  return Apart{*held - *sum, *sum};
}

std::optional<Apart> by_pss(const TrialData& trial, std::string_view role, const char* of) {
  const auto once = trial.value(role, kPeakPss);
  const auto sum = trial.value(role, of);
  if (!once || !sum) return std::nullopt;
  return Apart{*sum - *once, *sum};
}

/// Of each arm, in the median of its trials; nothing where one of them does not tell.
std::vector<Apart> of_arms(const RunData& run,
                           const std::function<std::optional<Apart>(const TrialData&)>& told_by) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> arms;
  for (const TrialData& trial : run.trials) {
    if (!trial.counts()) continue;
    const auto apart = told_by(trial);
    if (!apart) return {};
    arms[trial.arm].first.push_back(apart->bytes);
    arms[trial.arm].second.push_back(apart->whole);
  }
  std::vector<Apart> medians;
  for (auto& [arm, values] : arms)
    medians.push_back({median(std::move(values.first)), median(std::move(values.second))});
  return medians;
}

double most_bytes(const std::vector<Apart>& arms) {
  return std::ranges::max_element(arms, {}, &Apart::bytes)->bytes;
}

bool is_much(const std::vector<Apart>& arms) {
  constexpr double kMuch = 0.1;
  constexpr double kBytes = 4 << 20;
  return std::ranges::any_of(
      arms, [](const Apart& arm) { return arm.share() > kMuch && arm.bytes > kBytes; });
}

/// Proportional sets are smaller than resident ones for libraries, too, in all arms alike: it takes
/// more than they are, or another share in another arm.
bool is_much_by_pss(const std::vector<Apart>& arms) {
  constexpr double kMoreThanLibraries = 0.6;
  constexpr double kUnlike = 0.25;
  constexpr double kBytes = 64 << 20;
  if (arms.empty() || most_bytes(arms) <= kBytes) return false;
  const auto [least, most] = std::ranges::minmax(arms, {}, &Apart::share);
  return most.share() > kMoreThanLibraries || most.share() - least.share() > kUnlike;
}

}  // namespace

std::vector<Gate> default_gates(const JobFacts& job) {
  std::vector<Gate> gates;
  for (const RoleMetric& row : job.default_gates) {
    gates.push_back({fmt::format("{}.{}<={}", row.role, row.metric, kMarginBound),
                     row.role,
                     row.metric,
                     {},
                     false,
                     true});
  }
  return gates;
}

std::optional<MisleadingSum> misleading_sum(const RunData& run) {
  using How = MisleadingSum::How;
  const RoleMetric held = {kTree, kPeakSharedOnce};
  if (const auto arms = of_arms(run, counted_again); is_much(arms))
    return MisleadingSum{How::counts_again, most_bytes(arms), held};
  if (const auto arms = of_arms(run, left_out); is_much(arms))
    return MisleadingSum{How::leaves_out, most_bytes(arms), held};
  std::vector<std::string> roles = {kTree};
  roles.insert(roles.end(), run.job.roles.begin(), run.job.roles.end());
  std::optional<MisleadingSum> most;
  for (const std::string& role : roles) {
    const auto arms =
        of_arms(run, [&](const TrialData& trial) { return by_pss(trial, role, kPeakRss); });
    // What several processes map of one file is no reason where the gate leaves files out.
    const auto without_files =
        of_arms(run, [&](const TrialData& trial) { return by_pss(trial, role, kPeakRssNoFiles); });
    if (is_much_by_pss(arms) && (without_files.empty() || is_much(without_files)) &&
        (!most || most_bytes(arms) > most->bytes))
      most = MisleadingSum{How::counts_again, most_bytes(arms), {role, kPeakPss}};
  }
  return most;
}

namespace {

bool ask_for_the_sum(const std::vector<Gate>& gates) {
  return std::ranges::any_of(gates, [](const Gate& gate) {
    return asks_about(gate, kTree, kPeakRss) || asks_about(gate, kTree, kPeakRssNoFiles);
  });
}

std::vector<Gate> default_gates(const RunData& run, const std::optional<MisleadingSum>& sum) {
  JobFacts job = run.job;
  const RoleMetric rss = {kTree, kPeakRss};
  const RoleMetric without_files = {kTree, kPeakRssNoFiles};
  // A trial in which nothing sampled the resident set has the kernel's peak alone.
  const bool is_known = std::ranges::all_of(run.trials, [](const TrialData& trial) {
    return !trial.counts() || trial.value(kTree, kPeakRssNoFiles);
  });
  if (!is_known) std::ranges::replace(job.default_gates, without_files, rss);
  if (sum) {
    std::ranges::replace(job.default_gates, rss, sum->asked);
    std::ranges::replace(job.default_gates, without_files, sum->asked);
  }
  return default_gates(job);
}

std::string describe(const MisleadingSum& sum) {
  const std::string bytes = format_bytes(sum.bytes);
  return sum.how == MisleadingSum::How::counts_again
             ? "all.peak_rss_bytes counts " + bytes + " of shared memory more than once"
             : "all.peak_rss_bytes omits " + bytes +
                   " that no process maps, such as files in a tmpfs";
}

}  // namespace

std::vector<Gate> default_gates(const RunData& run) {
  return default_gates(run, misleading_sum(run));
}

AskedGates gates_to_judge(const RunData& run, const AnalysisSettings& settings) {
  const bool by_default = asks_for_default_gates(settings);
  const bool of_sum = ask_for_the_sum(by_default ? default_gates(run.job) : settings.gates);
  const auto sum = by_default || of_sum ? misleading_sum(run) : std::nullopt;
  AskedGates asked;
  if (by_default) asked.gates = default_gates(run, sum);
  asked.gates.insert(asked.gates.end(), settings.gates.begin(), settings.gates.end());
  if (!sum || !of_sum) return asked;
  const std::string better = sum->asked.role + "." + sum->asked.metric;
  if (by_default)
    asked.limitations.push_back(
        {"misleading_sum", describe(*sum), "the default gate uses " + better + " instead"});
  else
    asked.warnings.push_back({"misleading_sum", describe(*sum), "use " + better + " instead"});
  return asked;
}

}  // namespace memduel
