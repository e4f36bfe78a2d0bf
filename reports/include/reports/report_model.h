// Everything that a report of a run is made of: its results, and what is worked out of them once.
// report_document.h has what is shown of it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/run_data.h"
#include "reports/memory_tables.h"
#include "reports/run_profiles.h"
#include "verdict/questions.h"
#include "verdict/results.h"

namespace memduel {

struct ReportModel;

/// The evidence and what to do, and a command that does it or none.
using Suggestion = NextStep;

/// For the best candidate, or a run's only variant. The first that applies of: where to begin after
/// a failed gate; an allocator's setting, where it keeps much that is free; more trials for what is
/// inconclusive, or trials that are more alike; that the candidate is safe to adopt. Absent of a
/// run that is still going. Needs the model's causes.
std::optional<Suggestion> next_step(const ReportModel& model);

inline constexpr const char* kRunAgain = "memduel run config.json";

struct ReportModel {
  std::string name;
  Results results;
  Document config;
  /// Of the first row of the first screen that a profile explains, and of a second one that became
  /// worse for another cause; those of one row together.
  std::vector<Cause> causes;
  std::vector<GrowthLine> growth_lines;        ///< of every row of results.growth
  std::vector<DifferenceTable> differences;    ///< from profile trials
  std::vector<MemoryBalance> memory_balances;  ///< live, free, file-backed
  std::vector<ResidentTable> resident;         ///< from snapshots of profile trials
  std::vector<PartPeaks> part_peaks;           ///< of a training of ours
  std::vector<RoleTimeline> timelines;
  ProfileList profiles;
  int round_step = 1;    ///< of so many rounds `results` has one; see pages.h
  RunFlames flames;      ///< for the HTML report; put in by whoever can read profiles
  std::string progress;  ///< of a run that is going on or was cut off; empty when it is complete
  int blocks_done = 0;   ///< measure blocks in which no variant is missing
  std::optional<int> blocks_planned;  ///< at most; absent when the config does not state it
  std::string reproduce;              ///< a command line
  std::filesystem::path directory;    ///< of the run, for who reads it beside the run; or empty
  bool has_named_gates = false;
  bool confidential = false;
};

struct ReportOptions {
  bool confidential = false;    ///< leave out environment values, arguments, paths and log lines
  int bucket_budget = 200'000;  ///< upper bound of chart buckets, and so of the page's size
  /// Of a run that is still going the numbers of blocks at which it may look at its data,
  /// ascending; before the next one there is no verdict.
  std::optional<std::vector<int>> running = std::nullopt;
  /// Whether the gates that judged it were named, and are not the default ones.
  std::optional<bool> has_named_gates = std::nullopt;
  std::filesystem::path directory = {};  // NOLINT(readability-redundant-member-init): -Wextra
  /// What lies in the run's profiles/.
  std::vector<ProfileFile> profiles = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// Chooses what the first screen shows, once: the model's results hold it, and results.json is
/// written from them. Pure: reads nothing but its arguments.
ReportModel build_report_model(const Results& analysed, const RunData& run,
                               const ReportOptions& options = {});

}  // namespace memduel
