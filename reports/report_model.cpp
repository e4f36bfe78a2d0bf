// How results become the report's model.

#include "reports/report_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "confidential.h"
#include "focus.h"
#include "model/metric_catalogue.h"
#include "model/run_directory.h"
#include "reports/memory_tables.h"
#include "util/command_line.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "verdict/results.h"
#include "words.h"

namespace memduel {
namespace {

/// The causes of a row that changed; of a candidate that died nothing is explained.
std::vector<Cause> explained_causes(const Comparison& row, ShownFor why, const Results& results) {
  const bool is_decided = row.is_change() || why == ShownFor::largest_change;
  return is_decided && !row.is_of_dead() ? causes_of(results, row) : std::vector<Cause>();
}

/// Those of the first row that a profile explains, and of a second one that became worse for
/// another cause.
void add_causes(ReportModel& model, bool became_worse, const std::vector<Cause>& causes) {
  if (causes.empty()) return;
  const bool has_two = !model.causes.empty() && model.causes.front().of != model.causes.back().of;
  const bool is_another = became_worse && !has_two && !repeat(causes, model.causes);
  if (model.causes.empty() || is_another)
    model.causes.insert(model.causes.end(), causes.begin(), causes.end());
}

void name_row(std::vector<Cause>& causes, const Comparison& row, const Results& results) {
  for (Cause& cause : causes) {
    if (results.arms.size() > 2) cause.of += " of " + row.candidate;
    cause.candidate = row.candidate;
    cause.metric = row.metric;
    cause.row_role = row.role;
  }
}

/// Of all processes' peak RSS where the headline is about them, a snapshot explains it and no gate
/// failed.
void add_causes_of_peak_rss(ReportModel& model) {
  const Results& results = model.results;
  const std::vector<ShownRow>& rows = results.first_screen.rows;
  const auto first = std::ranges::find(rows, candidate_in_focus(results), &ShownRow::candidate);
  if (first == rows.end() || first->why == ShownFor::failed_gate || first->role != kTree) return;
  const Comparison* row = results.row(first->candidate, kTree, kPeakRss);
  if (row == nullptr) return;
  std::vector<Cause> causes = explained_causes(*row, ShownFor::change, results);
  std::erase_if(causes, [](const Cause& cause) { return !cause.resident; });
  name_row(causes, *row, results);
  add_causes(model, false, causes);
}

/// The rows of the first screen, with their causes.
void choose_rows(ReportModel& model) {
  Results& results = model.results;
  results.first_screen.rows = rows_to_show(results);
  if (results.is_alone()) model.causes = parts_of_peak(results);
  add_causes_of_peak_rss(model);
  const bool is_explained = !model.causes.empty();
  std::vector<ShownRow*> rows;
  for (ShownRow& shown : results.first_screen.rows) rows.push_back(&shown);
  std::ranges::stable_partition(rows, [about = candidate_in_focus(results)](const ShownRow* shown) {
    return shown->candidate == about;
  });
  for (ShownRow* one : rows) {
    ShownRow& shown = *one;
    const Comparison& row = *results.row(shown.candidate, shown.role, shown.metric);
    std::vector<Cause> causes = explained_causes(row, shown.why, results);
    name_row(causes, row, results);
    for (const Cause& cause : causes)
      shown.causes.push_back({cause.name, cause.memory, cause.function, cause.caller, cause.size,
                              cause.location, std::min(1.0, cause.share)});
    const bool failed = shown.why == ShownFor::failed_gate;
    add_causes(model, failed || (row.verdict == Verdict::regressed && !is_explained), causes);
  }
}

/// Of a job of several roles also the largest cause of another role's row, whose change the
/// headline states beside that of the first.
void add_cause_of_another_role(ReportModel& model) {
  const Results& results = model.results;
  const std::vector<ShownRow>& rows = results.first_screen.rows;
  if (rows.empty() || rows.front().why != ShownFor::gate || model.causes.empty() ||
      model.causes.front().of != model.causes.back().of)
    return;
  const auto other = std::ranges::find_if(rows, [&](const ShownRow& shown) {
    return shown.why == ShownFor::gate && shown.candidate == rows.front().candidate &&
           shown.role != rows.front().role && shown.role != kTree;
  });
  if (other == rows.end()) return;
  const Comparison& row = *results.row(other->candidate, other->role, other->metric);
  std::vector<Cause> causes = explained_causes(row, other->why, results);
  if (causes.empty() || causes.front().of == model.causes.front().of) return;
  name_row(causes, row, results);
  model.causes.insert(model.causes.end(), causes.begin(), causes.end());
}

/// Measure blocks that hold every arm.
int count_blocks(const RunData& run, size_t arms) {
  std::map<int, std::set<std::string>> seen;
  for (const TrialData& trial : run.trials)
    if (trial.kind == TrialKind::measure) seen[trial.block].insert(trial.arm);
  return static_cast<int>(std::ranges::count_if(seen, [arms](const auto& block) {
    return block.second.size() >= std::max<size_t>(arms, 1);
  }));
}

bool is_ablation_arm(const Results& results, const std::string& name) {
  return std::ranges::any_of(
      results.arms, [&](const ArmSummary& arm) { return arm.ablation && arm.name == name; });
}

/// Charts of thirty arms show nothing; the ablation has its own tables.
RunData without_ablation_arms(RunData run, const Results& results) {
  std::erase_if(run.trials,
                [&](const TrialData& trial) { return is_ablation_arm(results, trial.arm); });
  return run;
}

/// A run whose programs are not there any more says itself how they come back.
std::string reproduce_command(const nlohmann::json& environment,
                              const std::filesystem::path& directory) {
  const std::string config =
      directory.empty()
          ? kRunAgain
          : quoted_command_line({"memduel", "run", (directory / kConfigFile).string()});
  return environment.is_object() ? environment.value("reproduce", config) : config;
}

/// The block that a running run has to reach before it may say anything; 0: it has looked at all.
int next_look(const std::vector<int>& looks, int done) {
  const auto next = std::ranges::find_if(looks, [done](int l) { return l > done; });
  return next == looks.end() ? 0 : *next;
}

std::string progress_of(const ReportModel& model, const std::optional<std::vector<int>>& running) {
  if (running && !running->empty()) {
    const int next = next_look(*running, model.blocks_done);
    const char* most = running->size() > 1 ? "at most " : "";
    std::string text = fmt::format("The run is still going: {} of {}{}", model.blocks_done, most,
                                   format_count(running->back(), "trial") + " each");
    return next == 0 ? text + "." : fmt::format("{}; no verdict before trial {}.", text, next);
  }
  if (!model.blocks_planned || model.blocks_done >= *model.blocks_planned) return {};
  return fmt::format("The run ended after {} of {} each.", model.blocks_done,
                     format_count(*model.blocks_planned, "trial"));
}

}  // namespace

ReportModel build_report_model(const Results& analysed, const RunData& run,
                               const ReportOptions& options) {
  ReportModel model;
  model.name = analysed.name.empty() ? "memduel" : analysed.name;
  model.results = analysed;
  if (options.confidential) leave_out_printed_lines(model.results);
  model.config = run.config;
  model.directory = options.directory;
  model.blocks_done = count_blocks(run, analysed.arms.size());
  model.blocks_planned = run.config.measure.repeats;
  model.progress = progress_of(model, options.running);
  choose_rows(model);
  const Results& results = model.results;
  add_cause_of_another_role(model);
  model.growth_lines = growth_lines(results);
  model.differences = difference_tables(results);
  model.memory_balances = memory_balances(results);
  model.resident = resident_tables(results);
  model.part_peaks = part_peaks(results);
  model.timelines = results.ablation.empty() ? build_timelines(run, options.bucket_budget)
                                             : build_timelines(without_ablation_arms(run, results),
                                                               options.bucket_budget);
  model.profiles =
      list_profiles(results, options.profiles,
                    options.confidential ? std::filesystem::path() : options.directory);
  model.reproduce = reproduce_command(results.environment, model.directory);
  model.confidential = options.confidential;
  model.has_named_gates = options.has_named_gates.value_or(!run.config.gates.empty());
  if (options.confidential)
    make_confidential(model);
  else
    model.results.first_screen.next_step = next_step(model);
  return model;
}

}  // namespace memduel
