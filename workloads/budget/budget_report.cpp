#include "budget/budget_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>
#include <vector>

#include "util/text.h"

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

namespace {

constexpr const char* kTooMuch = ": more than the usable memory";

constexpr std::size_t kNameColumn = 24;
constexpr std::size_t kValueColumn = 12;

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

std::string utilization_remark(double target_utilization) {
  return fmt::format("{:.0f}% of it, less {:.0f}% for fragmentation", target_utilization * 100,
                     kFragmentation * 100);
}

std::string row(const std::string& name, double bytes, const std::string& remark = {}) {
  const std::string value = format_bytes(bytes);
  return padded(name, kNameColumn) +
         (remark.empty() ? value : padded(value, kValueColumn) + remark) + "\n";
}

std::string batch_row(const std::string& name, std::int64_t batch, const MemoryBudget& budget) {
  const double bytes = estimated_bytes(budget, batch);
  return padded(name, kNameColumn) + padded(fmt::format("{}", batch), kValueColumn) +
         fmt::format("takes {}{}\n", format_bytes(bytes),
                     bytes > budget.usable_bytes ? kTooMuch : "");
}

/// An estimate from shapes, where there is one, beside what was measured.
std::string two_column_row(const std::string& name, std::optional<double> from_shapes,
                           std::optional<double> measured, const std::string& remark = {}) {
  const auto shown = [](std::optional<double> bytes) { return bytes ? format_bytes(*bytes) : "-"; };
  std::string text = padded(name, kNameColumn) + padded(shown(from_shapes), kValueColumn);
  return text +
         (remark.empty() ? shown(measured) : padded(shown(measured), kValueColumn) + remark) + "\n";
}

std::string tried_batches(const FoundBatch& found) {
  std::vector<std::int64_t> batches;
  for (const BatchPeak& peak : found.peaks) batches.push_back(peak.batch);
  return fmt::format("from steps of {}", fmt::join(batches, ", "));
}

/// How far the batch's true peak is from its estimate and from the budget.
std::string peak_rows(const BudgetReport& report) {
  const FoundBatch& found = report.found;
  const bool estimated = !found.peaks.empty();
  const std::optional<double> estimate =
      estimated ? std::optional(found.estimated_bytes) : std::nullopt;
  if (!report.true_peak_bytes)
    return estimated ? row("estimated peak", *estimate, tried_batches(found))
                     : two_column_row("estimated peak", std::nullopt, estimate, "no step fitted");
  const double truth = *report.true_peak_bytes;
  const double budget = report.tensor_budget_bytes();
  std::string text = two_column_row("estimated, true peak", estimate, truth,
                                    estimated ? tried_batches(found) : "no step fitted");
  text += "true peak: ";
  if (estimated) text += fmt::format("{:+.1f}% of the estimate, ", 100 * (truth / *estimate - 1));
  return text + fmt::format("{:+.1f}% of the budget of {}{}\n", 100 * (truth / budget - 1),
                            format_bytes(budget), report.is_exceeded() ? kTooMuch : "");
}

}  // namespace

std::string describe_budget(const BudgetInput& input, const MemoryBudget& budget) {
  std::string text;
  text += row("device", budget.device_bytes);
  text += row("usable", budget.usable_bytes, utilization_remark(input.target_utilization));
  text += row("  context", budget.context_bytes);
  text += row("  parameters", budget.model_bytes, "without embeddings");
  text += row("  embeddings", budget.embedding_bytes);
  text += row("  optimizer", budget.optimizer_bytes);
  text += row("  gradients", budget.gradient_bytes);
  text += row("  teacher", budget.teacher_bytes);
  text += row("static", budget.static_bytes, "sum of these six");
  text += row("available for data", budget.available_bytes);
  text += row("one sample", budget.sample_bytes);
  text += row("its activations", budget.activation_bytes);
  text += batch_row("batch", budget.batch, budget);
  text += batch_row("batch as KD-GAT's code", budget.batch_as_implemented, budget);
  for (const std::string& warning : budget.warnings) text += "warning: " + warning + "\n";
  return text;
}

std::string describe_measured_budget(const BudgetReport& report) {
  const BudgetParts& shapes = report.from_shapes;
  const BudgetParts& measured = report.measured;
  std::string text = padded("", kNameColumn) + padded("from shapes", kValueColumn) + "measured\n";
  text += two_column_row("device (" + report.device + ")", std::nullopt, report.device_bytes);
  text += two_column_row("usable", std::nullopt, report.usable_bytes,
                         utilization_remark(report.target_utilization));
  text += two_column_row("  context", std::nullopt, report.context_bytes);
  text += two_column_row("  data", std::nullopt, measured.data_bytes);
  text += two_column_row("  parameters", shapes.parameter_bytes, measured.parameter_bytes);
  const bool ran = !report.found.peaks.empty();
  const auto of_step = [&](double bytes) { return ran ? std::optional(bytes) : std::nullopt; };
  text += two_column_row("  gradients", shapes.gradient_bytes, of_step(measured.gradient_bytes));
  text += two_column_row("  optimizer", shapes.optimizer_bytes, of_step(measured.optimizer_bytes));
  if (measured.other_weight_bytes > 0)
    text += two_column_row("  other weights", shapes.other_weight_bytes,
                           measured.other_weight_bytes, "teacher, or copy of the best model");
  text += two_column_row("independent of batch", std::nullopt, of_step(report.found.fixed_bytes),
                         "intercept of the line through the peaks");
  text += two_column_row("one sample", shapes.sample_bytes, of_step(measured.sample_bytes),
                         "measured: including activations");
  text += padded("batch", kNameColumn) + fmt::format("{}\n", report.found.batch);
  text += peak_rows(report);
  if (!report.found.fits)
    text += fmt::format("warning: the smallest batch, {}, does not fit\n", report.found.batch);
  return text;
}

std::string describe_parallel_clients(const std::vector<ParallelClients>& rows) {
  std::string text = "parallel clients        device      published  as implemented  estimated\n";
  std::string guide = "\nguide, any model        clients     per round  parallel  safe rounds\n";
  std::set<double> devices;
  for (const ParallelClients& one : rows) {
    text += padded(one.model, kNameColumn) + padded(format_bytes(one.device_bytes), kValueColumn) +
            padded(fmt::format("{}", one.published), 11) +
            padded(fmt::format("{}", one.as_implemented), 16) + fmt::format("{}\n", one.estimated);
    if (!devices.insert(one.device_bytes).second) continue;
    guide += padded(format_bytes(one.device_bytes), kNameColumn) +
             padded(one.settings.total_clients, kValueColumn) +
             padded(one.settings.clients_per_round, 11) +
             padded(fmt::format("{}", one.published), 10) + one.settings.safe_rounds + "\n";
  }
  return text + guide;
}

}  // namespace memduel
