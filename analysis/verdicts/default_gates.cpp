#include "analysis/verdicts/default_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/statistics/hodges_lehmann.h"
#include "base/metric_catalogue.h"

namespace memduel {
namespace {

/// A part of a sum.
struct CountedAgain {
  double bytes = 0;
  double sum = 0;
};

/// From how much on a sum misleads.
struct Much {
  double share = 0;
  double bytes = 0;
};

constexpr Much kMuchOfCgroup = {0.1, 0};
/// A proportional set is smaller than a resident one for libraries that other programs have, too.
constexpr Much kMuchOfPss = {0.25, 64 << 20};

std::optional<CountedAgain> by_cgroup(const TrialData& trial) {
  const auto bytes = trial.value(kTree, kRssCountedAgain);
  const auto sum = trial.value(kTree, kPeakRss);
  if (!bytes || !sum) return std::nullopt;
  return CountedAgain{*bytes, *sum};
}

std::optional<CountedAgain> by_pss(const TrialData& trial, std::string_view role) {
  const auto once = trial.value(role, kPeakPss);
  const auto sum = trial.value(role, kPeakRss);
  if (!once || !sum) return std::nullopt;
  return CountedAgain{*sum - *once, *sum};
}

/// The most of any arm, in the median of its trials; 0 where no arm's is much, absent where a trial
/// does not tell.
std::optional<double> most_counted_again(
    const RunData& run, const Much& much,
    const std::function<std::optional<CountedAgain>(const TrialData&)>& counted_in) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> arms;
  for (const TrialData& trial : run.trials) {
    if (!trial.counts()) continue;
    const auto counted = counted_in(trial);
    if (!counted) return std::nullopt;
    arms[trial.arm].first.push_back(counted->bytes);
    arms[trial.arm].second.push_back(counted->sum);
  }
  if (arms.empty()) return std::nullopt;
  double most = 0;
  for (auto& [arm, values] : arms) {
    const double bytes = median(std::move(values.first));
    const double sum = median(std::move(values.second));
    if (bytes > much.bytes && bytes > much.share * sum) most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

std::vector<Gate> default_gates(const JobFacts& job) {
  std::vector<Gate> gates;
  for (const RoleMetric& row : job.default_gates) {
    const MetricInfo info = metric_info(row.metric);
    std::string bound = info.absolute_margin >= 1048576
                            ? fmt::format("+{:g}MiB", info.absolute_margin / 1048576)
                            : fmt::format("+{:g}KiB", info.absolute_margin / 1024);
    if (info.relative_margin > 0)
      bound = fmt::format("+{:g}%|{}", info.relative_margin * 100, bound);
    gates.push_back({fmt::format("{}.{}<={}", row.role, row.metric, bound),
                     row.role,
                     row.metric,
                     {},
                     false,
                     true});
  }
  return gates;
}

std::optional<SharedPages> shared_pages(const RunData& run) {
  const RoleMetric sum = {kTree, kPeakRss};
  if (std::ranges::find(run.job.default_gates, sum) == run.job.default_gates.end()) return {};
  if (const auto again = most_counted_again(run, kMuchOfCgroup, by_cgroup))
    return *again > 0 ? std::optional(SharedPages{{kTree, kPeakSharedOnce}, *again}) : std::nullopt;
  std::vector<std::string> roles = {kTree};
  roles.insert(roles.end(), run.job.roles.begin(), run.job.roles.end());
  std::optional<SharedPages> most;
  for (const std::string& role : roles) {
    const auto again = most_counted_again(
        run, kMuchOfPss, [&](const TrialData& trial) { return by_pss(trial, role); });
    if (again > 0 && (!most || *again > most->counted_again))
      most = SharedPages{{role, kPeakPss}, *again};
  }
  return most;
}

std::vector<Gate> default_gates(const RunData& run) {
  JobFacts job = run.job;
  if (const auto shared = shared_pages(run))
    std::ranges::replace(job.default_gates, RoleMetric{kTree, kPeakRss}, shared->asked);
  return default_gates(job);
}

}  // namespace memduel
