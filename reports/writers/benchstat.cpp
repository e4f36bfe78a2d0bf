// The measured trials as Go's benchmarks print their results, for benchstat and other programs that
// read that format. Sources: golang.org/design/14313-benchmark-format, and the packages benchfmt
// and benchunit of golang.org/x/perf.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/metric_catalogue.h"
#include "reports/text_formats.h"
#include "verdict/comparison.h"
#include "words.h"

namespace memduel {
namespace {

/// "peak-RSS-bytes" of peak_rss_bytes: benchunit finds "bytes", "sec" and "ns" between hyphens, and
/// Go's own benchmarks have RSS in capitals. Wall time is ns/op, which every reader knows.
std::string go_unit_of(const std::string& metric) {
  if (metric == kRoundSeconds || metric == kRealTimeSeconds) return "ns/op";
  std::string unit = metric;
  std::ranges::replace(unit, '_', '-');
  const auto replace = [&](std::string_view word, std::string_view by) {
    if (const std::size_t at = unit.find(word); at != std::string::npos)
      unit.replace(at, word.size(), by);
  };
  replace("-rss-", "-RSS-");
  replace("-pss-", "-PSS-");
  if (unit.ends_with("-seconds")) replace("-seconds", "-sec");
  return unit;
}

double in_go_unit(const std::string& unit, double value) {
  constexpr double kNanoseconds = 1e9;
  return unit == "ns/op" ? value * kNanoseconds : value;
}

/// "BenchmarkQuick_start": a name has no spaces, and begins with an upper-case letter.
std::string go_name_of(std::string name) {
  std::ranges::replace_if(name, [](unsigned char c) { return std::isgraph(c) == 0; }, '_');
  if (!name.empty())
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  return "Benchmark" + name;
}

/// A role and metric that a report shows first.
using ShownMetrics = std::vector<std::pair<std::string, std::vector<std::string>>>;

ShownMetrics shown_metrics(const Results& results) {
  const bool is_one_process = results.job.roles.size() == 1;
  ShownMetrics shown;
  for (const Comparison& row : results.comparisons) {
    if (is_one_process && row.role != kTree && !row.is_asked()) continue;
    const MetricInfo info = metric_info(row.metric);
    if (!row.is_asked() && !info.is_key && row.metric != kCpuSeconds) continue;
    auto role = std::ranges::find(shown, row.role, &ShownMetrics::value_type::first);
    if (role == shown.end()) role = shown.insert(shown.end(), {row.role, {}});
    if (std::ranges::find(role->second, row.metric) == role->second.end())
      role->second.push_back(row.metric);
  }
  return shown;
}

std::string directions_of(const ShownMetrics& shown) {
  std::vector<std::string> lines;
  for (const auto& [role, metrics] : shown)
    for (const std::string& metric : metrics) {
      const Direction better = metric_info(metric).better;
      if (better != Direction::lower && better != Direction::higher) continue;
      std::string line = fmt::format("Unit {} better={}\n", go_unit_of(metric),
                                     better == Direction::lower ? "lower" : "higher");
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace

std::string render_benchstat(const ReportModel& model) {
  const Results& results = model.results;
  const ShownMetrics shown = shown_metrics(results);
  std::vector<std::string> variants;
  for (const ArmSummary* variant : judged_arms(results)) variants.push_back(variant->name);
  std::string out = directions_of(shown);
  for (const ArmObservations& variant :
       observe(results.trials, results.job, variants, results.warmup_rounds).arms) {
    out += fmt::format("\nvariant: {}\n", variant.arm);
    for (const Observation& trial : variant.trials) {
      if (trial.status != TrialStatus::ok) continue;
      for (const auto& [role, metrics] : shown) {
        std::string values;
        for (const std::string& metric : metrics) {
          const std::string unit = go_unit_of(metric);
          if (const auto value = value_of(trial, role, metric))
            values += fmt::format("\t{:.15g} {}", in_go_unit(unit, *value), unit);
        }
        if (!values.empty())
          out += fmt::format("{}/role={}\t1{}\n", go_name_of(results.name), role, values);
      }
    }
  }
  return out;
}

}  // namespace memduel
