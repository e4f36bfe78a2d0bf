#include "reports/tables/thinned_rounds.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/metric_catalogue.h"

namespace memduel {
namespace {

std::size_t values_in(const RoundData& round) {
  std::size_t values = round.metrics.size();
  for (const PhaseData& phase : round.phases) values += phase.metrics.size();
  return values;
}

template <class Visit>
void each_round(const Results& results, Visit visit) {
  for (const TrialData& trial : results.trials)
    for (const RoleData& role : trial.roles)
      for (const RoundData& round : role.rounds) visit(round);
}

/// Resident memory at its peak of all roles and trials together, by round.
std::map<int, double> peaks_by_round(const Results& results) {
  std::map<int, double> peaks;
  each_round(results, [&](const RoundData& round) {
    peaks[round.round] += round.metrics.value(kPeakRss).value_or(0);
  });
  return peaks;
}

std::set<int> largest_of_each(const std::map<int, double>& peaks, int step) {
  std::set<int> kept = {peaks.begin()->first, peaks.rbegin()->first};
  auto largest = peaks.begin();
  for (auto peak = peaks.begin(); peak != peaks.end(); ++peak) {
    if (peak->first / step != largest->first / step) {
      kept.insert(largest->first);
      largest = peak;
    } else if (peak->second > largest->second) {
      largest = peak;
    }
  }
  kept.insert(largest->first);
  return kept;
}

}  // namespace

int thin_rounds(Results& results, std::size_t most_values) {
  std::size_t values = 0;
  each_round(results, [&](const RoundData& round) { values += values_in(round); });
  if (values <= most_values) return 1;
  const auto step = static_cast<int>((values + most_values - 1) / most_values);
  const std::set<int> kept = largest_of_each(peaks_by_round(results), step);
  for (TrialData& trial : results.trials) {
    for (RoleData& role : trial.roles) {
      std::vector<RoundData> left;  // not by edit(), which would copy those that others share first
      std::ranges::copy_if(role.rounds, std::back_inserter(left),
                           [&](const RoundData& round) { return kept.contains(round.round); });
      role.rounds = std::move(left);
    }
  }
  return step;
}

}  // namespace memduel
