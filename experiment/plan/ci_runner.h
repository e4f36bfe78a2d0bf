// What a CI runner lets memduel measure, said as metrics and gates: `memduel doctor --ci`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profilers/meters/capabilities.h"

namespace memduel {

/// Metrics that this runner does not give.
struct RunnerLoss {
  std::string metrics;
  std::string why;
  std::string remains;  ///< what answers the question instead
};

struct RunnerReport {
  std::string machine;  ///< one line
  std::vector<RunnerLoss> lost;
  std::vector<std::string> noisy;  ///< what can be measured here but hardly decided
  std::vector<std::string> gates;  ///< that hold on this runner, as --gate takes them
};

/// `capabilities` as `memduel doctor` shows them; `environment` as describe_environment gives it.
RunnerReport describe_runner(const std::vector<Capability>& capabilities,
                             const nlohmann::json& environment);

/// At most 80 columns.
std::string runner_text(const RunnerReport& report);

}  // namespace memduel
