#include <fmt/format.h>

#include "analysis_steps.h"
#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr double kFloatBytes = 4;

std::optional<double> positive_at(const json& object, const char* path) {
  const json::json_pointer pointer(path);
  if (!object.is_object() || !object.contains(pointer)) return std::nullopt;
  const json& value = object.at(pointer);
  if (!value.is_number() || value.get<double>() <= 0) return std::nullopt;
  return value.get<double>();
}

LowerBound bound_of(const HeldModel& held, const ModelSizes& model) {
  // Without the count of parameters only the model itself is known.
  if (held.copies == 0 || model.parameters <= 0)
    return {held.role,
            held.metric,
            model.state,
            fmt::format("M: the model, {}", format_bytes(model.state)),
            {}};
  const std::string copies = held.copies == 1 ? "" : fmt::format("{} ", held.copies);
  return {held.role,
          held.metric,
          model.state + held.copies * model.parameters,
          fmt::format("M + {}P: the model, {}; {}, {} each", copies, format_bytes(model.state),
                      held.what, format_bytes(model.parameters)),
          {}};
}

std::optional<double> arm_median(const ArmObservations& arm, const LowerBound& bound) {
  std::vector<double> values = values_of(arm, bound.role, bound.metric);
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

}  // namespace

std::optional<ModelSizes> model_sizes(const json& environment) {
  const auto state = positive_at(environment, "/model/state_bytes");
  const auto parameters = positive_at(environment, "/model/parameters");
  if (!state) return std::nullopt;
  return ModelSizes{*state, parameters.value_or(0) * kFloatBytes};
}

std::vector<LowerBound> bounds_of(const JobFacts& job, const ModelSizes& model) {
  std::vector<LowerBound> bounds;
  for (const HeldModel& held : job.held_models) bounds.push_back(bound_of(held, model));
  return bounds;
}

std::vector<LowerBound> lower_bounds(const RunData& run, const Observations& observations) {
  const auto model = model_sizes(run.environment);
  if (!model) return {};
  std::vector<LowerBound> bounds = bounds_of(run.job, *model);
  for (LowerBound& bound : bounds)
    for (const ArmObservations& arm : observations.arms)
      if (const auto middle = arm_median(arm, bound))
        bound.multiples[arm.arm] = *middle / bound.bytes;
  std::erase_if(bounds, [](const LowerBound& bound) { return bound.multiples.empty(); });
  return bounds;
}

std::vector<Note> doubts_of_bounds(const std::vector<LowerBound>& bounds) {
  std::vector<Note> notes;
  for (const LowerBound& bound : bounds) {
    for (const auto& [arm, multiple] : bound.multiples) {
      if (multiple >= 1) continue;
      notes.push_back(
          {"below_lower_bound",
           fmt::format("{}.{} of {} is {:.2f} times the theoretical minimum ({})", bound.role,
                       bound.metric, arm, multiple, format_bytes(bound.bytes)),
           "RSS after start-up includes free memory that the model used later: call malloc_trim "
           "before "
           "idle()"});
    }
  }
  return notes;
}

}  // namespace memduel
