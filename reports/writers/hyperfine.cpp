// The measured trials as hyperfine 2 exports runs, for programs that read its files.
// Sources: the README and src/export/ of hyperfine 2.0.0, JSON schema 2.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arm_words.h"
#include "escape.h"
#include "model/metric_catalogue.h"
#include "reports/text_formats.h"
#include "stats/estimates.h"
#include "util/text.h"
#include "verdict/hyperfine_json.h"
#include "words.h"

namespace memduel {
namespace {

using nlohmann::json;

using Quantity = HyperfineQuantity;
constexpr auto& kQuantities = kHyperfineQuantities;

/// Of a job that ends no round, which is one round as a whole; else of the whole trial.
std::optional<double> wall_seconds_of(const TrialData& trial) {
  const auto all = std::ranges::find(trial.roles, std::string_view(kTree), &RoleData::role);
  if (all != trial.roles.end() && all->rounds.items().size() == 1)
    return all->rounds.items().front().metrics.value(kRoundSeconds);
  return trial.end_ns > trial.begin_ns ? std::optional(trial.seconds()) : std::nullopt;
}

std::optional<double> value_of(const TrialData& trial, const Quantity& quantity) {
  const auto value = trial.value(kTree, quantity.metric);
  if (!value && quantity.metric == kRoundSeconds) return wall_seconds_of(trial);
  return value || quantity.or_else.empty() ? value : trial.value(kTree, quantity.or_else);
}

/// A variant with its measured trials.
struct Benchmark {
  const ArmSummary* variant;
  std::string command;
  std::map<std::string, std::string> parameters;
  std::vector<const TrialData*> trials;

  [[nodiscard]] std::vector<double> values(const Quantity& quantity) const {
    std::vector<double> all;
    for (const TrialData* trial : trials)
      if (const auto value = value_of(*trial, quantity)) all.push_back(*value);
    return all;
  }
};

std::vector<Benchmark> benchmarks_of(const ReportModel& model) {
  std::vector<Benchmark> benchmarks;
  for (const ArmSummary* variant : judged_arms(model.results)) {
    Benchmark benchmark{variant, variant->name, {}, {}};
    if (const Variant* config = model.config.variant(variant->name);
        config != nullptr && !model.confidential) {
      benchmark.command = arm_words(model.config, *config, LeftOut::directory);
      if (benchmark.command.empty())
        benchmark.command = unchanged_words(model.config, LeftOut::directory);
      if (benchmark.command.empty()) benchmark.command = variant->name;
      benchmark.parameters = config->parameters;
    }
    for (const TrialData& trial : model.results.trials)
      if (trial.counts() && trial.arm == variant->name) benchmark.trials.push_back(&trial);
    benchmarks.push_back(std::move(benchmark));
  }
  return benchmarks;
}

json written(const SampleSummary& summary, const char* unit) {
  json stddev = nullptr;
  if (summary.stddev) stddev = *summary.stddev;
  return {{"unit", unit},      {"count", summary.count},   {"mean", summary.mean},
          {"stddev", stddev},  {"median", summary.median}, {"min", summary.min},
          {"max", summary.max}};
}

json written(const Benchmark& benchmark) {
  json measurements = json::array();
  for (const TrialData* trial : benchmark.trials) {
    json measurement = json::object();
    for (const Quantity& quantity : kQuantities)
      if (const auto value = value_of(*trial, quantity))
        measurement[quantity.name] = {{"value", *value}, {"unit", quantity.unit}};
    if (!trial->roles.empty() && trial->roles.front().exit_status)
      measurement["exit_code"] = *trial->roles.front().exit_status;
    measurements.push_back(std::move(measurement));
  }
  json summaries = json::object();
  for (const Quantity& quantity : kQuantities)
    if (const auto summary = summarized(benchmark.values(quantity)))
      summaries[quantity.name] = written(*summary, quantity.unit);
  json result = {{"command", valid_utf8(benchmark.command)},
                 {"name", valid_utf8(benchmark.variant->name)},
                 {"measurements", std::move(measurements)},
                 {"summary", std::move(summaries)}};
  for (const auto& [name, value] : benchmark.parameters)
    result["parameters"][valid_utf8(name)] = {{"value", valid_utf8(value)}};
  return result;
}

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

/// "-37.3%" and "(1.6x faster)"; empty of the baseline.
std::pair<std::string, std::string> change_words(double mean, double of_baseline) {
  if (of_baseline <= 0 || mean <= 0) return {};
  const double ratio = mean / of_baseline;
  const bool is_faster = ratio < 1;
  return {
      fmt::format("{:+.1f}%", 100 * (ratio - 1)),
      fmt::format("({:.1f}x {})", is_faster ? 1 / ratio : ratio, is_faster ? "faster" : "slower")};
}

}  // namespace

std::string render_hyperfine_json(const ReportModel& model) {
  json results = json::array();
  for (const Benchmark& benchmark : benchmarks_of(model)) results.push_back(written(benchmark));
  const json document = {{"schema_version", 2},
                         {"primary_metric", kQuantities.front().name},
                         {"metadata",
                          {{"generator", kHyperfineGenerator},
                           {"platform", {{"os", "Linux"}, {"architecture", "x86_64"}}}}},
                         {"results", std::move(results)}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string render_hyperfine_csv(const ReportModel& model) {
  std::string out = "command";
  for (const Quantity& quantity : kQuantities)
    for (const char* field : {"unit", "mean", "stddev", "median", "min", "max"})
      out += fmt::format(",{}_{}", quantity.name, field);
  const std::vector<Benchmark> benchmarks = benchmarks_of(model);
  const auto parameters =
      benchmarks.empty() ? std::map<std::string, std::string>() : benchmarks.front().parameters;
  for (const auto& [name, value] : parameters) out += "," + escape_csv("parameter_" + name);
  out += "\n";
  for (const Benchmark& benchmark : benchmarks) {
    out += escape_csv(benchmark.command);
    for (const Quantity& quantity : kQuantities) {
      const auto summary = summarized(benchmark.values(quantity));
      const char* unit = std::string_view(quantity.unit) == "second" ? "s" : "B";
      if (!summary)
        out += fmt::format(",{},,,,,", unit);
      else
        out += fmt::format(",{},{},{},{},{},{}", unit, summary->mean, cell(summary->stddev),
                           summary->median, summary->min, summary->max);
    }
    for (const auto& [name, of_first] : parameters) {
      const auto value = benchmark.parameters.find(name);
      out += "," + (value == benchmark.parameters.end() ? "" : escape_csv(value->second));
    }
    out += "\n";
  }
  return out;
}

std::string render_hyperfine_markdown(const ReportModel& model) {
  const std::vector<Benchmark> benchmarks = benchmarks_of(model);
  const bool are_short = std::ranges::all_of(benchmarks, [](const Benchmark& benchmark) {
    const auto summary = summarized(benchmark.values(kQuantities.front()));
    return !summary || summary->mean < 1;
  });
  const auto time_text = [&](double seconds) {
    return are_short ? fmt::format("{:.1f}", 1e3 * seconds) : fmt::format("{:.3f}", seconds);
  };
  std::string out = fmt::format(
      "| Command | Mean Wall Time [{}] | Change | Factor | Median Peak RSS [MiB] |\n"
      "|:---|---:|---:|:---|---:|\n",
      are_short ? "ms" : "s");
  std::optional<double> of_baseline;
  for (const Benchmark& benchmark : benchmarks) {
    const auto summary = summarized(benchmark.values(kQuantities.front()));
    if (!summary) continue;
    const auto [change, factor] = of_baseline ? change_words(summary->mean, *of_baseline)
                                              : std::pair<std::string, std::string>();
    if (!of_baseline) of_baseline = summary->mean;
    const auto memory = summarized(benchmark.values(kQuantities.back()));
    out += fmt::format("| `{}` | {}{} | {} | {} | {} |\n", escape_terminal(benchmark.command),
                       time_text(summary->mean),
                       summary->stddev ? " ± " + time_text(*summary->stddev) : "", change, factor,
                       memory ? fmt::format("{:.1f}", memory->median / (1 << 20)) : "");
  }
  return out;
}

}  // namespace memduel
