#include "analysis/verdicts/lower_bounds.h"

#include <fmt/format.h>

#include "analysis/statistics/hodges_lehmann.h"
#include "analysis/values/metrics.h"
#include "base/text.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr const char* kPeakGpuAllocated = "peak_gpu_allocated_bytes";
constexpr double kFloatBytes = 4;

std::optional<double> positive_at(const json& object, const char* path) {
  const json::json_pointer pointer(path);
  if (!object.is_object() || !object.contains(pointer)) return std::nullopt;
  const json& value = object.at(pointer);
  if (!value.is_number() || value.get<double>() <= 0) return std::nullopt;
  return value.get<double>();
}

std::string text_at(const json& object, const char* path) {
  const json::json_pointer pointer(path);
  if (!object.is_object() || !object.contains(pointer)) return {};
  const json& value = object.at(pointer);
  return value.is_string() ? value.get<std::string>() : std::string();
}

LowerBound holds_its_model(const std::string& role, const ModelSizes& model) {
  return {role,
          kPeakRssAboveIdle,
          model.state,
          fmt::format("M: its model, {}", format_bytes(model.state)),
          {}};
}

LowerBound trains(const ModelSizes& model, bool adam) {
  const int copies = adam ? 3 : 1;
  return {"client_max",
          kPeakRssAboveIdle,
          model.state + copies * model.parameters,
          fmt::format("M + {}P: its model, {}; gradients{}, {} each", adam ? "3 " : "",
                      format_bytes(model.state), adam ? " and Adam's two moments" : "",
                      format_bytes(model.parameters)),
          {}};
}

std::optional<double> arm_median(const ArmObservations& arm, const LowerBound& bound) {
  std::vector<double> values;
  for (const Observation& trial : arm.trials) {
    const auto role = trial.roles.find(bound.role);
    if (trial.status != TrialStatus::ok || role == trial.roles.end()) continue;
    const auto at = role->second.find(bound.metric);
    if (at != role->second.end()) values.push_back(at->second);
  }
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

std::vector<LowerBound> bounds_in_main_memory(const json& workload, const ModelSizes& model) {
  const std::string kind = text_at(workload, "/kind");
  if (kind == "state-dict")
    return {holds_its_model("server", model), holds_its_model("client_max", model)};
  if (kind != "federated") return {};
  // Without the count of parameters only the model itself is known.
  if (model.parameters <= 0)
    return {holds_its_model("server", model), holds_its_model("client_max", model)};
  return {holds_its_model("server", model),
          trains(model, text_at(workload, "/optimizer/name") != "sgd")};
}

}  // namespace

std::optional<ModelSizes> model_sizes(const json& environment) {
  const auto state = positive_at(environment, "/model/state_bytes");
  const auto parameters = positive_at(environment, "/model/parameters");
  if (!state) return std::nullopt;
  return ModelSizes{*state, parameters.value_or(0) * kFloatBytes};
}

std::vector<LowerBound> bounds_of(const json& workload, const ModelSizes& model) {
  std::vector<LowerBound> bounds = bounds_in_main_memory(workload, model);
  // The same must be alive at once, on the device.
  if (text_at(workload, "/device") == "cuda")
    for (LowerBound& bound : bounds) bound.metric = kPeakGpuAllocated;
  return bounds;
}

std::vector<LowerBound> lower_bounds(const json& config, const json& environment,
                                     const Observations& observations) {
  const auto model = model_sizes(environment);
  if (!model || !config.is_object() || !config.contains("workload")) return {};
  std::vector<LowerBound> bounds = bounds_of(config.at("workload"), *model);
  for (LowerBound& bound : bounds)
    for (const ArmObservations& arm : observations.arms)
      if (const auto middle = arm_median(arm, bound))
        bound.multiples[arm.arm] = *middle / bound.bytes;
  std::erase_if(bounds, [](const LowerBound& bound) { return bound.multiples.empty(); });
  return bounds;
}

}  // namespace memduel
