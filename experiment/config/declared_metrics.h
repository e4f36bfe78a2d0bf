// Which values of a job's own metrics are better, as its config declares it: the key `metrics`, and
// the groups of the patterns for its logs.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/metric_catalogue.h"

namespace memduel {

/// Of every metric that `metrics` names or a pattern reads; undeclared where only a `metric_NAME`
/// reads it.
/// @param workload of kind command; its patterns are valid.
std::map<std::string, Direction> declared_metrics(const nlohmann::json& workload);

/// Throws Error(usage) at the place of a declaration that contradicts another one, or the table of
/// metrics.
void check_declared_metrics(const nlohmann::json& workload, const std::string& origin);

}  // namespace memduel
