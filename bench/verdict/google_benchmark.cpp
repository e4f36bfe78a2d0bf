#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "stats/hypothesis_tests.h"
#include "util/json.h"
#include "util/text.h"
#include "verdict/result_files.h"

namespace memduel {
namespace {

/// The one variant, and what its trials are called by.
constexpr const char* kBenchmarks = "benchmarks";

using nlohmann::json;

constexpr std::array<std::pair<const char*, const char*>, 4> kMemoryFields = {
    {{"max_bytes_used", kPeakHeap},
     {"total_allocated_bytes", kAllocatedBytes},
     {"allocs_per_iter", kAllocationCount},
     {"net_heap_growth", kNetHeapGrowth}}};

constexpr double kAddressSpace = 281474976710656;  // 48 bits

double seconds_per_unit(const JsonReader& benchmark) {
  const std::optional<std::string> unit = benchmark.maybe_text("time_unit");
  if (!unit || *unit == "ns") return 1e-9;
  if (*unit == "us") return 1e-6;
  if (*unit == "ms") return 1e-3;
  if (*unit == "s") return 1;
  benchmark.at("time_unit").refuse("ns, us, ms or s");
}

/// Google Benchmark before 1.8 prints freed memory as byte counts of all repetitions but the last.
bool has_impossible_bytes(const std::vector<JsonReader>& benchmarks) {
  return std::ranges::any_of(benchmarks, [](const JsonReader& benchmark) {
    return std::ranges::any_of(kMemoryFields, [&](const auto& field) {
      const auto value = benchmark.maybe_number(field.first);
      return value && std::abs(*value) > kAddressSpace;
    });
  });
}

void keep_bytes_of_last_repetitions(RunData& run, const std::string& where) {
  std::set<std::string> seen;
  for (auto trial = run.trials.rbegin(); trial != run.trials.rend(); ++trial) {
    for (RoleData& role : trial->roles) {
      if (seen.insert(role.role).second) continue;
      erase_if(role.metrics, [](const auto& metric) { return metric.first.ends_with("_bytes"); });
    }
  }
  run.limitations.push_back(
      {"impossible_bytes",
       fmt::format("{} has impossible byte counts, so only those of the last repetition are used",
                   where),
       "use Google Benchmark 1.8 or later, or interleave the programs with memduel compare --a CMD "
       "--b CMD"});
}

Metrics metrics_of(const JsonReader& benchmark) {
  Metrics metrics;
  const double unit = seconds_per_unit(benchmark);
  if (const auto time = benchmark.maybe_number("real_time")) {
    metrics[kRealTimeSeconds] = *time * unit;
  }
  if (const auto time = benchmark.maybe_number("cpu_time")) {
    metrics[kCpuTimeSeconds] = *time * unit;
  }
  for (const auto& [field, metric] : kMemoryFields) {
    if (const auto value = benchmark.maybe_number(field)) metrics[metric] = *value;
  }
  return metrics;
}

TrialData& trial_of_repetition(RunData& run, size_t repetition) {
  while (run.trials.size() <= repetition) {
    TrialData trial;
    trial.id = static_cast<std::int64_t>(run.trials.size()) + 1;
    trial.block = static_cast<int>(trial.id);
    trial.arm = kBenchmarks;
    run.trials.push_back(std::move(trial));
  }
  return run.trials[repetition];
}

void note_errors(RunData& run, const std::vector<std::string>& failed) {
  for (const std::string& name : failed) {
    run.warnings.push_back({"benchmark_failed",
                            fmt::format("{} reported an error and is omitted", name),
                            "run only this benchmark and read its error message"});
  }
}

/// Fewest repetitions over the benchmarks.
size_t repetitions(const RunData& run) {
  std::map<std::string, size_t> count;
  for (const TrialData& trial : run.trials) {
    for (const RoleData& role : trial.roles) ++count[role.role];
  }
  size_t least = run.trials.size();
  for (const auto& [role, n] : count) least = std::min(least, n);
  return least;
}

void note_repetitions(RunData& run, const std::string& where) {
  const size_t least = repetitions(run);
  if (least >= static_cast<size_t>(kMinimumBlocks)) return;
  run.limitations.push_back(
      {"too_few_repetitions",
       fmt::format(
           "{} has only {} of some benchmarks; a verdict needs {} (with 2 each, no test can give "
           "less than p = 0.33)",
           where, format_count(least, "repetition"), kMinimumBlocks),
       "rerun with --benchmark_repetitions=12 --benchmark_enable_random_interleaving=true"});
}

}  // namespace

bool is_google_benchmark(const json& document) {
  return document.is_object() && document.contains("benchmarks") && document.contains("context");
}

RunData run_from_google_benchmark(const json& document, const std::string& where) {
  const JsonReader in(document, where);
  RunData run;
  run.config = document_of_run(nullptr);
  run.config.name = where;
  run.config.workload.own = {{"kind", "google-benchmark"}};
  run.config.baseline = kBenchmarks;
  run.config.variants.emplace_back().name = kBenchmarks;
  run.job.default_gates = {{"*", kPeakHeap}};
  if (const auto context = in.find("context")) {
    const auto host = context->maybe_text("host_name");
    run.environment = {{"fingerprint", host.value_or("")}, {"context", context->raw()}};
  }
  std::map<std::string, size_t> next;
  std::vector<std::string> failed;
  size_t aggregates = 0;
  const std::vector<JsonReader> benchmarks = in.at("benchmarks").elements();
  for (const JsonReader& benchmark : benchmarks) {
    const std::string name = benchmark.at("name").text();
    if (benchmark.maybe_text("run_type") == "aggregate") {
      ++aggregates;
      continue;
    }
    if (benchmark.maybe_boolean("error_occurred") == true) {
      failed.push_back(name);
      continue;
    }
    RoleData role;
    role.role = benchmark.maybe_text("run_name").value_or(name);
    role.metrics = metrics_of(benchmark);
    const size_t repetition = next[role.role]++;
    trial_of_repetition(run, repetition).roles.push_back(std::move(role));
  }
  if (run.trials.empty()) {
    in.at("benchmarks")
        .refuse(aggregates > 0 ? "single repetitions, not only aggregates (omit "
                                 "--benchmark_report_aggregates_only)"
                               : "at least one benchmark");
  }
  if (has_impossible_bytes(benchmarks)) keep_bytes_of_last_repetitions(run, where);
  note_errors(run, failed);
  note_repetitions(run, where);
  run.limitations.push_back(
      {"repetitions_share_a_process",
       fmt::format(
           "repetitions of {} share one process and its memory layout, so they vary less than "
           "separate processes",
           where),
       "to compare memory, run the program in separate processes: memduel compare --a CMD --b "
       "CMD"});
  return run;
}

std::vector<RoleData> benchmarks_of_process(const json& document, const std::string& where) {
  const RunData run = run_from_google_benchmark(document, where);
  std::vector<RoleData> benchmarks;
  std::map<std::pair<std::string, std::string>, std::vector<double>> values;
  for (const TrialData& repetition : run.trials) {
    for (const RoleData& role : repetition.roles) {
      if (repetition.id == 1) benchmarks.emplace_back().role = role.role;
      for (const auto& [metric, value] : role.metrics) values[{role.role, metric}].push_back(value);
    }
  }
  for (RoleData& benchmark : benchmarks) {
    for (const auto& [field, metric] : kMemoryFields) {
      const auto found = values.find({benchmark.role, metric});
      if (found != values.end()) benchmark.metrics[metric] = found->second.back();
    }
    for (const char* const time : {kRealTimeSeconds, kCpuTimeSeconds}) {
      const auto found = values.find({benchmark.role, time});
      if (found != values.end()) benchmark.metrics[time] = median(found->second);
    }
  }
  return benchmarks;
}

}  // namespace memduel
