#include "analysis/verdicts/phase_peaks.h"

#include <algorithm>

#include "base/metric_catalogue.h"

namespace memduel {

std::string phase_metric(const std::string& phase, const std::string& metric) {
  return phase + "." + metric;
}

RunData phase_peaks(const RunData& run) {
  RunData peaks = run;
  for (TrialData& trial : peaks.trials) {
    for (RoleData& role : trial.roles) {
      const auto idle = role.metrics.value(kIdleRss);
      Metrics metrics;
      for (const RoundData& round : role.rounds) {
        for (const PhaseData& phase : round.phases) {
          const auto peak = phase.metrics.value(kPeakRss);
          if (!peak) continue;
          const double value = idle ? std::max(0.0, *peak - *idle) : *peak;
          double& highest =
              metrics.emplace(phase_metric(phase.phase, idle ? kPeakRssAboveIdle : kPeakRss), value)
                  .first->second;
          highest = std::max(highest, value);
        }
      }
      role.metrics = std::move(metrics);
      role.rounds.clear();
    }
  }
  return peaks;
}

}  // namespace memduel
