#include "analysis/questions/round_peaks.h"

#include <map>
#include <utility>

#include "analysis/statistics/hodges_lehmann.h"
#include "base/metric_catalogue.h"

namespace memduel {

std::vector<double> round_peaks(const Results& results, const std::string& arm,
                                const std::string& role) {
  std::map<int, std::vector<double>> by_round;
  for (const TrialData& trial : results.trials) {
    if (trial.arm != arm || !trial.counts()) continue;
    for (const RoleData& data : trial.roles) {
      if (data.role != role) continue;
      for (const RoundData& round : data.rounds)
        if (const auto peak = round.metrics.value(kPeakRss)) by_round[round.round].push_back(*peak);
    }
  }
  std::vector<double> medians;
  for (auto& [round, values] : by_round) medians.push_back(median(std::move(values)));
  return medians;
}

}  // namespace memduel
