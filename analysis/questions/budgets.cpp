#include "analysis/questions/budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/byte_units.h"
#include "base/error.h"
#include "base/json/json_reader.h"

namespace memduel {
namespace {

constexpr const char* kBudgetsSchema = "memduel.budgets/1";
constexpr double kHeadroom = 1.02;

/// As a gate's bound, rounded up to 1/16 MiB, to a KiB for growth, or to four digits.
std::string write_ceiling(const MetricInfo& info, double value) {
  switch (info.unit) {
    case Unit::bytes:
      return fmt::format("{:.10g}MiB", std::ceil(value / (kMiB / 16)) / 16);
    case Unit::bytes_per_round:
    case Unit::bytes_per_minute:
      return fmt::format("{:.10g}KiB", std::max(1.0, std::ceil(value / kKiB)));
    case Unit::seconds:
      return fmt::format("{:.10g}ms", std::ceil(value * 1e3));
    case Unit::count:
      return fmt::format("{:.0f}", std::ceil(value));
    case Unit::ratio:
    case Unit::number:
      break;
  }
  const double step = std::pow(10, std::floor(std::log10(std::max(value, 1e-300))) - 3);
  return fmt::format("{:.10g}", std::ceil(value / step) * step);
}

std::optional<double> needed(const Results& results, const std::string& candidate,
                             const RoleMetric& row) {
  if (is_growth_metric(row.metric)) {
    for (const Growth& growth : results.growth) {
      if (growth.arm == candidate && growth.role == row.role && growth.metric == row.metric) {
        return growth.ci_high;
      }
    }
    return std::nullopt;
  }
  const Comparison* measured = results.row(candidate, row.role, row.metric);
  if (measured == nullptr || !measured->candidate_max) return std::nullopt;
  return *measured->candidate_max * kHeadroom;
}

}  // namespace

std::vector<Gate> budgets_from_json(const nlohmann::json& value, const std::string& where) {
  const JsonReader in(value, where);
  if (in.maybe_text("schema") != kBudgetsSchema)
    in.refuse(fmt::format("schema '{}'", kBudgetsSchema));
  std::vector<Gate> gates;
  for (const auto& [name, ceiling] : in.at("ceilings").members()) {
    Gate gate = parse_gate(fmt::format("{}<={}", name, ceiling.text()));
    const bool ceilings = std::ranges::all_of(
        gate.bounds, [](const Bound& bound) { return bound.kind == Bound::Kind::ceiling; });
    if (!ceilings) ceiling.refuse("a ceiling without a plus sign, for example 900MiB");
    gates.push_back(std::move(gate));
  }
  return gates;
}

nlohmann::json updated_budgets(const std::vector<Gate>& budgets, const Results& results,
                               const std::string& candidate) {
  std::map<std::string, std::string> ceilings;
  const auto update = [&](const RoleMetric& row) {
    const MetricInfo info = metric_info(row.metric);
    const std::optional<double> value = needed(results, candidate, row);
    if (!info.lower_is_better || !value) return;
    ceilings[row.role + "." + row.metric] = write_ceiling(info, *value);
  };
  for (const Gate& gate : budgets) {
    ceilings[gate.role + "." + gate.metric] = gate.text.substr(gate.text.find("<=") + 2);
    update({gate.role, gate.metric});
  }
  for (const Comparison& row : results.comparisons) {
    if (row.gate && row.candidate == candidate) update({row.role, row.metric});
  }
  return {{"schema", kBudgetsSchema}, {"ceilings", ceilings}};
}

}  // namespace memduel
