#include "reports/run_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "arm_words.h"
#include "focus.h"
#include "model/metric_catalogue.h"
#include "util/command_line.h"
#include "words.h"

namespace memduel {
namespace {

/// One program whose command line is what the variants change.
bool compares_commands(const Document& config) {
  const auto changes_command = [](const Variant& variant) { return !variant.argv.empty(); };
  return config.workload.own.is_null() && config.workload.job.processes.size() == 1 &&
         (config.variants.size() == 1 || std::ranges::any_of(config.variants, changes_command));
}

std::string command_of(const Document& config, const Variant& variant) {
  std::string words = arm_words(config, variant, LeftOut::directory);
  if (words.empty()) words = quoted_command_line(config.workload.job.processes.front().argv);
  return words;
}

}  // namespace

Answer answer_of(const Results& results) {
  switch (results.overall.outcome) {
    case OverallOutcome::passed:
      return Answer::pass;
    case OverallOutcome::failed:
      return Answer::fail;
    case OverallOutcome::inconclusive:
      return Answer::inconclusive;
    case OverallOutcome::not_measured:
      return Answer::not_measured;
    case OverallOutcome::no_gates:
      break;
  }
  return Answer::no_gates;
}

std::string compared_words(const Document& config) {
  const bool are_commands = compares_commands(config);
  std::vector<std::string> words;
  for (const Variant& variant : config.variants)
    words.push_back(are_commands ? command_of(config, variant) : variant.name);
  return fmt::format("{}", fmt::join(words, " vs. "));
}

std::string peak_rss_change(const Results& results) {
  const std::string candidate = candidate_in_focus(results);
  const auto row = std::ranges::find_if(results.comparisons, [&](const Comparison& one) {
    return one.candidate == candidate && one.metric == kPeakRss && one.has_values();
  });
  if (row == results.comparisons.end()) return {};
  return fmt::format("{} {}", quantity(results.job, row->role, row->metric), change_text(*row));
}

}  // namespace memduel
