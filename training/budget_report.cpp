#include "training/budget_report.h"

namespace memduel {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchPeak, batch, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FoundBatch, batch, fits, estimated_bytes, fixed_bytes,
                                   sample_bytes, peaks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BudgetParts, data_bytes, parameter_bytes, gradient_bytes,
                                   optimizer_bytes, sample_bytes, other_weight_bytes)

namespace {

template <class Value>
std::optional<Value> value_or_none(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? std::nullopt : std::optional(found->get<Value>());
}

}  // namespace

void to_json(nlohmann::json& json, const BudgetRequest& request) {
  json = {{"least_batch", request.bounds.least},
          {"most_batch", request.bounds.most},
          {"verify", request.verify}};
  if (request.device_bytes) json["device_bytes"] = *request.device_bytes;
  if (request.target_utilization) json["target_utilization"] = *request.target_utilization;
  if (request.network) json["network"] = *request.network;
}

void from_json(const nlohmann::json& json, BudgetRequest& request) {
  request.device_bytes = value_or_none<double>(json, "device_bytes");
  request.target_utilization = value_or_none<double>(json, "target_utilization");
  json.at("least_batch").get_to(request.bounds.least);
  json.at("most_batch").get_to(request.bounds.most);
  json.at("verify").get_to(request.verify);
  request.network = value_or_none<std::string>(json, "network");
}

void to_json(nlohmann::json& json, const BudgetReport& report) {
  json = {{"device", report.device},
          {"device_bytes", report.device_bytes},
          {"context_bytes", report.context_bytes},
          {"usable_bytes", report.usable_bytes},
          {"target_utilization", report.target_utilization},
          {"from_shapes", report.from_shapes},
          {"measured", report.measured},
          {"found", report.found}};
  if (report.true_peak_bytes) json["true_peak_bytes"] = *report.true_peak_bytes;
}

void from_json(const nlohmann::json& json, BudgetReport& report) {
  json.at("device").get_to(report.device);
  json.at("device_bytes").get_to(report.device_bytes);
  json.at("context_bytes").get_to(report.context_bytes);
  json.at("usable_bytes").get_to(report.usable_bytes);
  json.at("target_utilization").get_to(report.target_utilization);
  json.at("from_shapes").get_to(report.from_shapes);
  json.at("measured").get_to(report.measured);
  json.at("found").get_to(report.found);
  report.true_peak_bytes = value_or_none<double>(json, "true_peak_bytes");
}

}  // namespace memduel
