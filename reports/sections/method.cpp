// What the verdict rests on: the method, trials, variants, environment and config.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "confidential.h"
#include "model/metric_catalogue.h"
#include "sections/cells.h"
#include "sections/sections.h"
#include "util/text.h"
#include "words.h"

namespace memduel {
namespace {

constexpr std::size_t kMostTrials = 500;

/// How one gate row came to its verdict, with its numbers.
std::string decision_of(const JobFacts& job, const Comparison& row, std::size_t gate_rows) {
  const std::string margin = row.ratio ? format_size(row.metric, row.margin, row.baseline_median)
                                       : value_text(row.metric, row.margin);
  std::string text = effect_text(job, row) + fmt::format(", margin ±{}", margin);
  if (row.p_value) text += fmt::format(", p = {:.2g}", *row.p_value);
  if (row.p_adjusted)
    text += fmt::format(", adjusted for {} {:.2g}", format_count(gate_rows, "gate row"),
                        *row.p_adjusted);
  return fmt::format("{} vs. {}: {}: {}{}, because {}.", row.candidate, row.baseline, text,
                     to_name(row.verdict), row.tier == Tier::strong ? ", strong" : "",
                     with_minus(row.reason));
}

Fold method_of(const Results& results) {
  Fold fold{"How this was decided", {}};
  fold.parts.push_back({Paragraph{Text(
      "Every block runs each variant once, in random order, so that a slow drift of the machine "
      "affects all variants alike. One trial gives one number per role and metric. The 95% CI is "
      "that of the Hodges–Lehmann estimate; where interim analyses share the error rate of 5%, "
      "each "
      "has a higher level. “Improved” and “regressed” need an interval that "
      "excludes no change, after adjustment for the number of gate rows; “strong” means that the "
      "whole interval is beyond the margin. “Changed” is such a change of a metric for which "
      "nothing "
      "declares whether higher or lower is better. “Unchanged” needs an interval inside the "
      "margin. "
      "Everything else is inconclusive, with the reason. Warm-up trials and profiled trials are no "
      "part of the numbers.")}});
  List decisions;
  const auto gate_rows =
      static_cast<std::size_t>(std::ranges::count_if(results.comparisons, &Comparison::gate));
  for (const Comparison& row : results.comparisons)
    if (row.gate) decisions.items.emplace_back(decision_of(results.job, row, gate_rows));
  if (!decisions.items.empty()) fold.parts.push_back({std::move(decisions)});
  return fold;
}

Fold trials_of(const Results& results) {
  Table table;
  table.columns = {{"trial"},
                   {"block"},
                   {"variant"},
                   {"kind"},
                   {"status"},
                   {"time", true},
                   {"peak RSS, all processes", true},
                   {"what happened"}};
  table.most_shown = kMostTrials;
  std::size_t failed = 0;
  for (const TrialData& trial : results.trials) {
    if (trial.status != TrialStatus::ok) ++failed;
    Row row;
    row.cells = {Cell(std::to_string(trial.id)),
                 Cell(std::to_string(trial.block)),
                 Cell(trial.arm),
                 Cell(std::string(to_name(trial.kind))),
                 Cell(with_spaces(to_name(trial.status))),
                 Cell(format_seconds(trial.seconds())),
                 bytes_cell(trial.value(kTree, kPeakRss), trial.arm),
                 Cell(trial.failure)};
    table.rows.push_back(std::move(row));
  }
  const std::string title =
      results.trials.empty()
          ? "No trials"
          : fmt::format("{}, {}", format_count(results.trials.size(), "trial"),
                        failed == 0 ? "all ok" : fmt::format("{} not ok", failed));
  Fold fold{title, {}, failed > 0, true};
  if (!table.rows.empty()) fold.parts.push_back({std::move(table)});
  return fold;
}

std::string value_words(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Fold variants_of(const Results& results) {
  Table table;
  table.columns.push_back({"variant"});
  std::set<std::string> switches;
  for (const ArmSummary& arm : results.arms) {
    table.columns.push_back({arm.name});
    for (const auto& [name, value] : arm.optimizations.items()) switches.insert(name);
  }
  const auto add = [&](const std::string& name, auto value_of) {
    Row row;
    row.cells.emplace_back(name);
    std::set<std::string> values;
    for (const ArmSummary& arm : results.arms) {
      row.cells.emplace_back(value_of(arm));
      values.insert(row.cells.back().text.plain());
    }
    if (values.size() > 1) row.cells.front() = Cell(name, Tone::strong);
    table.rows.push_back(std::move(row));
  };
  add("trials ok", [](const ArmSummary& arm) { return std::to_string(arm.trials_ok); });
  add("trials failed", [](const ArmSummary& arm) { return std::to_string(arm.trials_failed); });
  if (std::ranges::any_of(results.arms,
                          [](const auto& arm) { return arm.allocator.has_value(); })) {
    add("allocator", [](const ArmSummary& arm) { return arm.allocator.value_or("–"); });
    add("malloc found in", [](const ArmSummary& arm) {
      return arm.allocator_libraries.empty()
                 ? std::string("–")
                 : fmt::format("{}", fmt::join(arm.allocator_libraries, ", "));
    });
  }
  add("final model, SHA-256",
      [](const ArmSummary& arm) { return arm.model_sha256.value_or("–").substr(0, 16); });
  for (const std::string& name : switches)
    add(name, [&](const ArmSummary& arm) {
      return arm.optimizations.contains(name) ? value_words(arm.optimizations.at(name))
                                              : std::string("–");
    });
  return Fold{results.arms.size() == 1 ? "The variant" : "What differs between the variants",
              {{std::move(table)}},
              false,
              true};
}

Fold json_of(const char* title, const nlohmann::json& value) {
  return Fold{title,
              {{Preformatted{value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)}}},
              false,
              true};
}

}  // namespace

Section method_section(const ReportModel& model) {
  const Results& results = model.results;
  Section section{"evidence", "Evidence", {}};
  section.add(method_of(results), Medium::page);
  section.add(trials_of(results), Medium::page);
  section.add(variants_of(results), Medium::page);
  section.add(json_of("Environment", results.environment), Medium::page);
  nlohmann::json config = written_document(model.config);
  if (model.confidential) redact(config);
  section.add(json_of("Config, resolved", config), Medium::page);
  return section;
}

}  // namespace memduel
