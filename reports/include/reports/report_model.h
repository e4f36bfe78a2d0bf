// The report of a run as a model, which every format is written from: its sentences, what it begins
// with, and the next step.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/run_data.h"
#include "reports/memory_tables.h"
#include "reports/run_profiles.h"
#include "util/reflection.h"
#include "verdict/questions.h"
#include "verdict/results.h"

namespace memduel {

enum class Mark { plain, strong, verdict };
template <>
inline constexpr NameTable<Mark, 3> kNameTable<Mark> = {
    {{Mark::plain, "plain"}, {Mark::strong, "strong"}, {Mark::verdict, "verdict"}}};

struct SentencePart {
  std::string text;
  Mark mark = Mark::plain;
};

class Sentence {
 public:
  Sentence() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most sentences set no word apart
  Sentence(std::string text) { add(std::move(text)); }

  Sentence& add(std::string text, Mark mark = Mark::plain) {
    if (!parts_.empty() && parts_.back().mark == mark)
      parts_.back().text += text;
    else if (!text.empty())
      parts_.push_back({std::move(text), mark});
    return *this;
  }
  [[nodiscard]] const std::vector<SentencePart>& parts() const { return parts_; }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  /// For whoever sets no word apart.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const SentencePart& part : parts_) all += part.text;
    return all;
  }

 private:
  std::vector<SentencePart> parts_;
};

struct Comparison;
struct ReportModel;
struct Results;

/// An arm and what makes it different, as its config says it.
struct ComparedArm {
  std::string name;
  std::string words;  ///< "./server --new", "preset appfl-optimized", "as configured"
};

/// The baseline first; without arms that take a candidate apart. Empty where the config says of no
/// candidate what makes it different.
std::vector<ComparedArm> compared_arms(const ReportModel& model);

/// "8 runs of each, 2026-11-26, 2 cores, 23.5 GiB".
std::string setting_words(const ReportModel& model);

/// Time per round of the reference role where it has one, else of the first role that has; null
/// where none has.
const Comparison* time_row(const Results& results, const std::string& candidate);

/// "optimized: better on 2 of 2 checks; the same model; no slower. other: 1 gate failed." Of the
/// candidate that ranks first, and of every other its gates that failed or were not measured; empty
/// where nothing was checked.
std::string overall_sentence(const ReportModel& model);

struct ReportModel;

/// The evidence and what to do, and a command that does it or none.
using Suggestion = NextStep;

/// For the best candidate, or a run's only arm. What comes first of these: where to begin after a
/// failed gate; an allocator's setting, where it holds much that is free; more blocks for what is
/// not decided, or runs that are more alike; that nothing speaks against it. Absent where none of
/// them applies, and of a run that is still going. Needs the model's headlines and causes.
std::optional<Suggestion> next_step(const ReportModel& model);

inline constexpr const char* kRunAgain = "memduel run config.json";

/// One sentence of the first screen: of a row that it shows, in the order of
/// `results.first_screen`.
struct Headline {
  Sentence sentence;
  std::string role;
  std::string metric;
  std::string candidate;
  Verdict verdict = Verdict::inconclusive;
  Tier tier = Tier::plain;
  bool more = false;                   ///< the candidate has more of the metric
  std::optional<GateOutcome> outcome;  ///< of the gate on this metric, where there is one
  std::string gate;                    ///< "advisory gate failed"; empty where there is none
  bool fails = false;                  ///< the gate fails the run
  std::string reason;
  ShownFor why = ShownFor::gate;

  [[nodiscard]] bool is_of_gate() const {
    return why == ShownFor::failed_gate || why == ShownFor::gate;
  }
};

enum class Topic { gate, allocator, model, file, accuracy, time, growth };
template <>
inline constexpr NameTable<Topic, 7> kNameTable<Topic> = {{{Topic::gate, "gate"},
                                                           {Topic::allocator, "allocator"},
                                                           {Topic::model, "model"},
                                                           {Topic::file, "file"},
                                                           {Topic::accuracy, "accuracy"},
                                                           {Topic::time, "time"},
                                                           {Topic::growth, "growth"}}};

/// Gates without a headline; the allocators; same model, same accuracy, cost in time; growth that
/// cannot be told.
struct SideEffect {
  Topic topic = Topic::gate;
  std::string sentence;
  Verdict verdict = Verdict::inconclusive;
  std::optional<GateResult> gate = std::nullopt;  ///< of Topic::gate
};

struct ReportModel {
  std::string title;
  Results results;
  Document config;
  std::vector<ComparedArm> compared;
  std::string setting;                    ///< runs, date and machine
  std::string overall;                    ///< all answers about the best candidate in one line
  std::vector<Cause> causes;              ///< of the headlines; those of one metric together
  std::optional<Suggestion> next_step;    ///< what is worth a try
  Sentence best;                          ///< of several candidates; else empty
  std::vector<Sentence> growth;           ///< sentences, where the workload has rounds
  std::vector<GrowthLine> growth_lines;   ///< of every row of results.growth
  std::vector<std::string> lower_bounds;  ///< sentences, where the workload has a model of ours
  std::vector<std::string> ablation;      ///< sentences, where the run takes an arm apart
  std::vector<Headline> headlines;
  std::vector<SideEffect> side_effects;
  std::vector<DifferenceTable> differences;    ///< from profile trials
  std::vector<MemoryBalance> memory_balances;  ///< live, held free, file-backed
  std::vector<ResidentTable> resident;         ///< from snapshots of profile trials
  std::vector<PartPeaks> part_peaks;           ///< of a training of ours
  std::vector<RoleTimeline> timelines;
  ProfileList profiles;
  int round_step = 1;    ///< of so many rounds `results` has one; see pages.h
  RunFlames flames;      ///< for the HTML report; put in by whoever can read profiles
  std::string progress;  ///< of a run that is going on or was cut off; empty when it is complete
  int blocks_done = 0;   ///< measure blocks in which no arm is missing
  std::optional<int> blocks_planned;  ///< at most; absent when the config does not say
  std::string reproduce;              ///< a command line
  std::filesystem::path directory;    ///< of the run, for who reads it beside the run; or empty
  bool confidential = false;
};

struct ReportOptions {
  bool confidential = false;    ///< leave out environment values, arguments, paths and log lines
  int bucket_budget = 300'000;  ///< upper bound of chart buckets, and so of the page's size
  /// Of a run that is still going the numbers of blocks at which it may look at its data,
  /// ascending; before the next one there is no verdict.
  std::optional<std::vector<int>> running = std::nullopt;
  std::filesystem::path directory = {};  // NOLINT(readability-redundant-member-init): -Wextra
  /// What lies in the run's profiles/.
  std::vector<ProfileFile> profiles = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// Chooses what the first screen shows, once: the model's results hold it, and results.json is
/// written from them. Pure: reads nothing but its arguments.
ReportModel build_report_model(const Results& analysed, const RunData& run,
                               const ReportOptions& options = {});

}  // namespace memduel
