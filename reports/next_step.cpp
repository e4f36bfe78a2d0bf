#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "arm_words.h"
#include "focus.h"
#include "model/metric_catalogue.h"
#include "profile/function_names.h"
#include "profile/profile.h"
#include "reports/memory_tables.h"
#include "reports/report_model.h"
#include "reports/run_line.h"
#include "sections/open_row.h"
#include "sections/result_rows.h"
#include "sections/sections.h"
#include "stats/sample_size.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/text.h"
#include "verdict/questions.h"
#include "verdict/results.h"
#include "words.h"

namespace memduel {
namespace {

/// A variable of glibc's malloc and what it does.
struct MallocSetting {
  const char* name;
  const char* value;
  const char* words;
};
constexpr int kManyArenas = 4;
constexpr std::size_t kWordsOfRun = 3;  ///< memduel run CONFIG
constexpr MallocSetting kTwoArenas = {"MALLOC_ARENA_MAX", "2",
                                      "Limiting malloc to two arenas may reduce it"};
constexpr MallocSetting kEarlyTrim = {"MALLOC_TRIM_THRESHOLD_", "131072",
                                      "A lower trim threshold may reduce it"};

/// Of a command that a run has on file; none where it is no command line.
std::vector<std::string> words_of(const std::string& command) {
  try {
    return split_command_line(command).argv;
  } catch (const Error&) {
    return {};
  }
}

/// Whether the arm is one command and nothing else that a command line of two would lose, run in
/// the directory that the reader is in.
bool is_one_command(const Document& config, const Variant& arm) {
  const Job& job = config.workload.job;
  if (!config.workload.own.is_null() || job.processes.size() != 1) return false;
  const JobProcess& process = job.processes.front();
  std::error_code gone;
  const auto is_here = [&](const std::string& directory) {
    return directory.empty() || std::filesystem::equivalent(directory, ".", gone);
  };
  return job.prepare.empty() && job.cleanup.empty() && job.files.empty() && job.marks.empty() &&
         job.match.empty() && job.templates.empty() && is_here(job.cwd) && is_here(process.cwd) &&
         !process.count && process.exit_statuses.size() <= 1 && arm.switches.empty() && !arm.cwd;
}

/// A run of the arm with the setting, beside the arm itself where that is one command. Empty where
/// the run's config cannot run again: its programs are gone, or it is two runs.
std::string command_with(const MallocSetting& setting, const ReportModel& model,
                         const Variant& arm) {
  const bool one_command = is_one_command(model.config, arm);
  const std::string variable = fmt::format("{}={}", setting.name, setting.value);
  if (one_command) {
    const std::string words = arm_words(model.config, arm);
    return quoted_command_line({"memduel", "compare", "--a", words, "--b", variable + " " + words});
  }
  const std::vector<std::string> again = words_of(model.reproduce);
  if (again.size() != kWordsOfRun || again[1] != "run") return {};
  return quoted_command_line(with_options(
      again,
      {"--set", fmt::format("variants.{}.env.{}=\"{}\"", arm.name, setting.name, setting.value)}));
}

/// Where the best candidate's allocator keeps much that is free.
std::optional<Suggestion> with_another_setting(const ReportModel& model, const std::string& name) {
  const Variant* arm = model.config.variant(name);
  const auto held = held_memory(model.results, name);
  if (!held || arm == nullptr || arm->allocator) return std::nullopt;
  const MallocSetting& setting = held->arenas >= kManyArenas ? kTwoArenas : kEarlyTrim;
  if (arm->env.contains(setting.name)) return std::nullopt;
  std::string command = command_with(setting, model, *arm);
  if (command.empty()) return std::nullopt;
  return Suggestion{fmt::format("malloc retains up to {} after free, in {} of {} ({}). {}:",
                                format_bytes(held->bytes),
                                format_count(static_cast<std::size_t>(held->arenas), "arena"), name,
                                role_words(model.results.job, held->role), setting.words),
                    std::move(command)};
}

/// "sort" of "sort+0x6e8c": a function of a file without symbols is told by its place. Empty where
/// it has a name.
std::string file_without_symbols(const std::string& function) {
  const std::size_t place = function.find("+0x");
  return place == std::string::npos ? "" : function.substr(0, place);
}

/// The largest cause is no function's name.
std::optional<Suggestion> with_symbols(const ReportModel& model, const std::string& /*name*/) {
  const auto first = std::ranges::find_if(
      model.causes, [](const Cause& cause) { return !cause.function.empty(); });
  if (first == model.causes.end()) return std::nullopt;
  const std::string file = file_without_symbols(first->function);
  if (file.empty()) return std::nullopt;
  return Suggestion{
      fmt::format("{} has no symbols, so its functions have no names. Build it with -g or install "
                  "its debug symbols, and run again.",
                  file),
      {}};
}

/// Whether a gate that decides failed by what was measured.
bool failed_in_measuring(const GateResult& gate, const std::string& name) {
  return gate.candidate == name && gate.fails() && !gate.candidate_failed;
}

bool has_failed_gate(const ReportModel& model, const std::string& name) {
  return std::ranges::any_of(
      model.results.gates, [&](const GateResult& gate) { return failed_in_measuring(gate, name); });
}

/// Whether some memory of the candidate regressed, or keeps growing.
bool has_memory_regression(const ReportModel& model, const std::string& name) {
  return std::ranges::any_of(model.results.comparisons,
                             [&](const Comparison& row) {
                               return row.candidate == name && row.verdict == Verdict::regressed &&
                                      metric_info(row.metric).unit == Unit::bytes;
                             }) ||
         std::ranges::any_of(model.results.growth, [&](const Growth& growth) {
           return growth.arm == name && is_notable_growth(model.results, growth);
         });
}

/// Whether a row of the first screen has memory of the candidate that regressed.
bool has_shown_regression(const ReportModel& model, const std::string& name) {
  return std::ranges::any_of(result_rows(model).rows, [&](const ResultRow& row) {
    return metric_info(row.metric).unit == Unit::bytes &&
           std::ranges::any_of(row.comparisons, [&](const Comparison* one) {
             return one != nullptr && one->candidate == name && one->verdict == Verdict::regressed;
           });
  });
}

/// Most of what a failed gate's memory has more is where no snapshot looked.
std::optional<Suggestion> in_other_processes(const ReportModel& model, const std::string& name) {
  const bool is_asked = std::ranges::any_of(model.results.gates, [&](const GateResult& gate) {
    return failed_in_measuring(gate, name) && is_resident_peak(gate.metric);
  });
  if (!is_asked || model.resident.empty()) return std::nullopt;
  const std::vector<WaterfallStep>& steps = model.resident.front().steps;  // the most comes last
  if (steps.empty() || steps.back().owner != kElsewhere || steps.back().size <= 0)
    return std::nullopt;
  return Suggestion{
      fmt::format(
          "Most of the increase of {} is in other processes. Check how many run at once, and "
          "what each of them needs.",
          name),
      {}};
}

std::string advice_on(const RuntimeMemory& memory) {
  return memory.advice.empty() ? "" : fmt::format(" To see inside, {}.", memory.advice);
}

/// "Do not adopt b as it is. " after a failed gate.
std::string warning_of(const ReportModel& model, const std::string& name) {
  return has_failed_gate(model, name) && !model.results.is_alone()
             ? fmt::format("Do not adopt {} as it is. ", name)
             : "";
}

/// Where the additional memory comes from.
std::optional<Suggestion> after_regression(const ReportModel& model, const std::string& name) {
  if (!has_failed_gate(model, name) && !has_shown_regression(model, name)) return std::nullopt;
  // A gate does not fail for pages of files.
  const auto is_told = [&](const Cause& cause) {
    return cause.more && (cause.candidate.empty() || cause.candidate == name) &&
           !cause.function.empty() && cause.memory != to_name(PageOwner::file);
  };
  const auto more = std::ranges::max_element(model.causes, {}, [&](const Cause& cause) {
    return is_told(cause) ? std::pair(true, cause.size) : std::pair(false, 0.0);
  });
  if (more == model.causes.end() || !is_told(*more) ||
      !file_without_symbols(more->function).empty())
    return std::nullopt;
  const std::string place = more->location.empty() ? "" : " (" + more->location + ")";
  std::string function = runtime_memory(more->function) == nullptr || more->caller.empty()
                             ? more->function
                             : more->caller;
  if (!place.empty())  // which names the file
    function = function.substr(
        0, function.find(" (" + more->location.substr(0, more->location.rfind(':')) + ")"));
  const auto increases = std::ranges::count_if(model.causes, is_told);
  std::string sentence =
      fmt::format("{}Look at {}{}{}{}.", warning_of(model, name), function, place,
                  place.empty() || model.results.is_alone() ? "" : " of " + name,
                  increases <= 1             ? ""
                  : model.results.is_alone() ? " first, the largest part"
                                             : " first, the largest increase");
  if (const RuntimeMemory* memory = runtime_memory(more->function)) sentence += advice_on(*memory);
  return Suggestion{std::move(sentence), {}};
}

/// No profile can say where, and another tool does.
std::optional<Suggestion> in_go_heap(const ReportModel& model, const std::string& name) {
  if (!has_limitation(model.results, kGoHeapNote) || !model.causes.empty() ||
      !has_failed_gate(model, name))
    return std::nullopt;
  return Suggestion{
      fmt::format("This is a Go program: its memory is the {}, of which memduel sees only "
                  "the sum.{}",
                  kGoHeap, advice_on(*runtime_memory(kGoHeap))),
      {}};
}

/// A regression whose cause no profile shows, as none was recorded.
std::optional<Suggestion> with_profiles(const ReportModel& model, const std::string& name) {
  const std::vector<std::string> words = words_of(model.reproduce);
  const bool is_left_out = model.config.profile && model.config.profile->trials == 0;
  if (!is_left_out || !has_shown_regression(model, name) || words.size() < kWordsOfRun ||
      words[1] != "run")
    return std::nullopt;
  return Suggestion{
      warning_of(model, name) + "No profile was recorded. To find the cause, rerun with profiles:",
      quoted_command_line(with_options(words, {"--set", "profile.trials=1"}))};
}

/// The command with so many blocks; empty where it measures none, as one that compares what there
/// is, or that watches.
std::string with_repeats(const std::string& command, int blocks) {
  std::vector<std::string> words = words_of(command);
  const bool runs = words.size() > 2 && words[0] == "memduel" &&
                    (words[1] == "run" || (words[1] == "compare" && words[2].starts_with("--")));
  if (!runs) return {};
  words = without_option(std::move(words), "--repeats", 1);
  words = without_setting(std::move(words), "measure.repeats");
  return quoted_command_line(with_options(std::move(words), {"--repeats", std::to_string(blocks)}));
}

/// A candidate that failed in some trials: memory is not the first question.
std::optional<Suggestion> with_failed_trials(const ReportModel& model, const std::string& name) {
  const auto failed = std::ranges::find_if(model.results.trials, [&](const TrialData& trial) {
    return (trial.arm == name || trial.arm == model.results.baseline) &&
           trial.kind == TrialKind::measure && trial.status != TrialStatus::ok &&
           !trial.failure.empty();
  });
  if (failed == model.results.trials.end()) return std::nullopt;
  return Suggestion{fmt::format("Find out first why {} failed: trial {}, {}", failed->arm,
                                failed->id, failed->failure.substr(0, failed->failure.find('\n'))),
                    {}};
}

constexpr int kMostRepeats = 200;  ///< of one variant: nobody waits for more

/// The gate on a row that these trials did not decide; null without one.
const GateResult* open_gate_on(const Results& results, const Comparison& row) {
  const GateResult* gate = gate_on(results, row, GateOutcome::inconclusive);
  return gate != nullptr && gate->evidence.ci_high ? gate : nullptr;
}

/// That decide the row's gate, or the row where no gate is open.
std::optional<int> trials_needed(const Results& results, const Comparison& row) {
  const GateResult* gate = open_gate_on(results, row);
  return gate == nullptr ? row.blocks_needed : trials_to_decide(results.job, *gate);
}

/// Rows that a gate asks about and that are inconclusive.
std::vector<const Comparison*> open_rows(const ReportModel& model, const std::string& name) {
  std::vector<const Comparison*> rows;
  for (const Comparison& row : model.results.comparisons)
    if (row.candidate == name && row.is_asked() &&
        (row.verdict == Verdict::inconclusive || open_gate_on(model.results, row) != nullptr))
      rows.push_back(&row);
  return rows;
}

/// "20 s", "5 min", "2 h": an estimate has no more digits.
std::string rough_duration(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 10) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  if (seconds < 1.5 * kMinute) return fmt::format("{:.0f} s", 5 * std::round(seconds / 5));
  if (seconds < 1.5 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.0f} h", seconds / kHour);
}

/// "25 s": so many trials of so many variants, from the measured ones; empty without one.
std::string time_of_trials(const Results& results, std::size_t variants, int trials) {
  double seconds = 0;
  int count = 0;
  for (const TrialData& trial : results.trials)
    if (trial.counts()) {
      seconds += trial.seconds();
      ++count;
    }
  if (count == 0) return {};
  return rough_duration(seconds / count * static_cast<double>(variants) * trials);
}

/// "62 trials each (about 25 s)": of a new run of the same variants.
std::string trials_with_time(const Results& results, int trials) {
  const std::string time = time_of_trials(results, results.arms.size(), trials);
  return fmt::format("{} trials each{}", trials,
                     time.empty() ? "" : fmt::format(" (about {})", time));
}

/// What more trials decide: a gate on a worsening by whose limit the estimate is beyond fails once
/// the interval excludes no change.
std::string aim_of_run(const ReportModel& model, const std::string& name) {
  if (answer_of(model.results) == Answer::no_gates) return "decide it";
  const std::vector<const Comparison*> open = open_rows(model, name);
  const GateResult* gate = open.size() == 1 ? open_gate_on(model.results, *open.front()) : nullptr;
  return gate != nullptr && gate->beyond_bound && !asks_for_improvement(model.results.job, *gate)
             ? fmt::format(
                   "decide the gate, which fails if the interval excludes 0 and the change "
                   "exceeds {}",
                   limit_text(*gate))
             : "decide the gate";
}

/// As many blocks as the checks need that are not decided yet.
std::optional<Suggestion> with_more_blocks(const ReportModel& model, const std::string& name) {
  if (model.results.overall.outcome == OverallOutcome::passed) return std::nullopt;
  int needed = 0;
  for (const Comparison* row : open_rows(model, name)) {
    const auto trials = trials_needed(model.results, *row);
    if (!trials && open_gate_on(model.results, *row) != nullptr) return std::nullopt;
    needed = std::max(needed, trials.value_or(0));
  }
  if (needed == 0 || needed > kMostRepeats) return std::nullopt;
  std::string command = with_repeats(model.reproduce, needed);
  if (command.empty()) return std::nullopt;
  return Suggestion{fmt::format("A new run of {} should {}:",
                                trials_with_time(model.results, needed), aim_of_run(model, name)),
                    std::move(command)};
}

/// The number that the limitation about too few trials asks for; 0 without it.
int trials_to_decide(const Results& results) {
  constexpr std::string_view kOption = "--repeats ";
  for (const std::vector<Note>& notes : {results.limitations, results.warnings})
    for (const Note& note : notes)
      if (const std::size_t at = note.advice.find(kOption);
          note.code == "too_few_trials" && at != std::string::npos)
        return std::atoi(note.advice.c_str() + at + kOption.size());
  return 0;
}

/// Nobody knows how many trials decide: as many as a decision takes at all, or twice those there
/// are.
std::optional<Suggestion> with_twice_the_trials(const ReportModel& model, const std::string& name) {
  if (model.results.overall.outcome == OverallOutcome::passed) return std::nullopt;
  for (const Comparison& row : model.results.comparisons) {
    if (row.candidate != name || !row.is_asked() || row.verdict != Verdict::inconclusive ||
        !row.ratio)
      continue;
    const int trials =
        std::max(2 * std::min(row.n_baseline, row.n_candidate), trials_to_decide(model.results));
    std::string command = with_repeats(model.reproduce, trials);
    if (command.empty()) return std::nullopt;
    return Suggestion{
        fmt::format("These trials do not decide. Rerun with more, here {} each:", trials),
        std::move(command)};
  }
  return std::nullopt;
}

/// More trials than anybody runs: what makes those of one variant so unlike?
std::optional<Suggestion> with_runs_more_alike(const ReportModel& model, const std::string& name) {
  if (model.results.overall.outcome == OverallOutcome::passed) return std::nullopt;
  for (const Comparison* open : open_rows(model, name)) {
    const Comparison& row = *open;
    if (!row.ratio || !row.minimum_detectable || trials_needed(model.results, row)) continue;
    return Suggestion{
        fmt::format("Too noisy: {} trials each detect a change of {} of {} or more, and even {} "
                    "would not decide. Make the trials of one variant more alike (fix seeds, "
                    "threads and input), or set a wider limit with --gate.",
                    std::min(row.n_baseline, row.n_candidate),
                    ratio_text(1 + *row.minimum_detectable).substr(1),
                    quantity(model.results.job, row.role, row.metric), kMostUsefulBlocks),
        {}};
  }
  return std::nullopt;
}

/// Memory, time, and what the job itself measures; not, for instance, page faults, which cost time.
bool matters_to_adopters(const std::string& metric) {
  return !is_known_metric(metric) || metric == kRoundSeconds ||
         metric_info(metric).unit == Unit::bytes;
}

/// Whether every gate row is better or the same, and so is all else that matters but time.
bool has_nothing_against(const ReportModel& model, const std::string& name) {
  bool better = false;
  for (const ShownRow& shown : model.results.first_screen.rows) {
    if (shown.candidate != name || shown.metric == kRoundSeconds) continue;
    const Verdict verdict = model.results.row(shown.candidate, shown.role, shown.metric)->verdict;
    const bool is_of_gate = shown.why == ShownFor::failed_gate || shown.why == ShownFor::gate;
    if (!is_of_gate && verdict == Verdict::inconclusive) continue;
    if (verdict != Verdict::improved && verdict != Verdict::unchanged) return false;
    better = better || verdict == Verdict::improved;
  }
  const bool worse = std::ranges::any_of(model.results.comparisons, [&](const Comparison& row) {
    return row.candidate == name && matters_to_adopters(row.metric) &&
           row.metric != kRoundSeconds &&
           (row.verdict == Verdict::regressed || row.verdict == Verdict::changed);
  });
  const bool other = std::ranges::any_of(model.results.equivalence, [&](const Equivalence& e) {
    return e.candidate == name && e.bit_identical == false;
  });
  const OverallOutcome outcome = model.results.overall.outcome;
  return better && !worse && !other && !has_memory_regression(model, name) &&
         (outcome == OverallOutcome::passed || outcome == OverallOutcome::no_gates);
}

/// "a new run of 35 trials each (about 25 s) should decide it:", with the command; empty if the
/// number of trials is not known.
Suggestion to_decide_time(const ReportModel& model, const Comparison& time) {
  if (!time.blocks_needed || *time.blocks_needed > kMostRepeats) return {};
  // What few trials predict is rough.
  const int measured = std::min(time.n_baseline, time.n_candidate);
  const int trials = std::min(kMostRepeats, std::max(*time.blocks_needed, 2 * measured));
  if (trials <= measured) return {};
  std::string command = with_repeats(model.reproduce, trials);
  if (command.empty()) return {};
  return {fmt::format("a new run of {} should decide it:", trials_with_time(model.results, trials)),
          std::move(command)};
}

/// " To measure what each of its 15 switches saves (up to 25 min):", with the command; empty
/// without switches.
Suggestion to_measure_switches(const ReportModel& model, const std::string& name) {
  const Variant* baseline = model.config.variant(model.results.baseline);
  const Variant* candidate = model.config.variant(name);
  std::string command = ablation_command(model.reproduce);
  if (baseline == nullptr || candidate == nullptr || command.empty() ||
      model.results.arms.size() > 2 || !model.results.ablation.empty())
    return {};
  const std::size_t count = differing_switches(candidate->switches, baseline->switches).size();
  if (count < 2) return {};
  constexpr int kTrials = 6;                   // the default of memduel ablate
  const std::size_t variants = 2 + 2 * count;  // each switch added alone and left out alone
  const std::string time = time_of_trials(model.results, variants, kTrials);
  return {fmt::format(" To measure what each of its {} switches saves{}:", count,
                      time.empty() ? "" : fmt::format(" (up to {})", time)),
          std::move(command)};
}

/// The candidate with the least time of those whose first gate row and time improved; empty without
/// one.
std::string fastest_improvement(const Results& results) {
  const Comparison* first = first_gate_row(results);
  const Comparison* fastest = nullptr;
  for (const std::string& candidate : ranked_candidates(results)) {
    const Comparison* memory =
        first == nullptr ? nullptr : results.row(candidate, first->role, first->metric);
    const Comparison* time = time_row(results, candidate);
    if (memory == nullptr || memory->verdict != Verdict::improved || time == nullptr ||
        time->verdict != Verdict::improved || time->is_of_dead())
      continue;
    if (fastest == nullptr || *time->candidate_median < *fastest->candidate_median) fastest = time;
  }
  return fastest == nullptr ? "" : fastest->candidate;
}

/// The candidate's time of the role whose time regressed most; null if none did.
const Comparison* slower_row(const Results& results, const std::string& name) {
  const Comparison* slowest = nullptr;
  for (const Comparison& row : results.comparisons)
    if (row.candidate == name && row.metric == kRoundSeconds && row.verdict == Verdict::regressed &&
        row.ratio && !row.is_of_dead() && (slowest == nullptr || *row.ratio > *slowest->ratio))
      slowest = &row;
  return slowest;
}

/// "mib-8 can be adopted: it uses the least memory of the 3 candidates, and no regression was
/// found."
std::string adoption_of(const Results& results, const std::string& name) {
  const std::size_t candidates = results.arms.size() - 1;
  return fmt::format(
      "{} can be adopted: {}no regression was found.", name,
      candidates > 1 && uses_least(results, name)
          ? fmt::format("it uses the least memory of the {} candidates, and ", candidates)
          : "");
}

/// "2.2 to 25.1%", "6.1%" without an interval: how much a ratio increased.
std::string range_of_increase(const Comparison& row) {
  const auto text = [](double ratio) { return format_percent(ratio - 1); };
  if (!row.ci_low || !row.ci_high || *row.ci_low <= 1) return text(*shown_change(row));
  constexpr std::string_view kMore = " more";
  if (const std::string amount = amount_of_interval(row); amount.ends_with(kMore))
    return amount.substr(0, amount.size() - kMore.size());
  const std::string low = text(*row.ci_low);
  return low.substr(0, low.size() - 1) + " to " + text(*row.ci_high);
}

/// The candidate can be adopted; what its time does may be open.
std::optional<Suggestion> with_nothing_against(const ReportModel& model, const std::string& name) {
  if (!has_nothing_against(model, name)) return std::nullopt;
  const Comparison* time = time_row(model.results, name);
  const bool is_slower = time != nullptr && time->verdict == Verdict::regressed;
  if (const Comparison* slower = is_slower ? time : slower_row(model.results, name)) {
    Suggestion ablation = to_measure_switches(model, name);
    const std::string place = is_slower || is_only_role(model.results.job, slower->role)
                                  ? ""  // the headline's time
                                  : " (" + role_words(model.results.job, slower->role) + ")";
    return Suggestion{fmt::format("{} can be adopted if {} more time{} is acceptable.{}", name,
                                  range_of_increase(*slower), place, ablation.sentence),
                      std::move(ablation.command)};
  }
  if (time == nullptr || time->verdict != Verdict::inconclusive) {
    Suggestion ablation = to_measure_switches(model, name);
    return Suggestion{adoption_of(model.results, name) + ablation.sentence,
                      std::move(ablation.command)};
  }
  const std::string proven = fastest_improvement(model.results);
  Suggestion rerun = to_decide_time(model, *time);
  if (rerun.command.empty()) {
    rerun = to_measure_switches(model, name);
    rerun.sentence.insert(0, " Its time is too noisy for a decision.");
  } else {
    rerun.sentence.insert(0, " If its time matters, ");
  }
  const bool is_least = model.results.arms.size() > 2 && uses_least(model.results, name);
  return Suggestion{
      fmt::format("{}{} can be adopted for its memory{}.{}",
                  proven.empty() ? "" : proven + " can be adopted: its memory and time improved. ",
                  name, is_least ? ", the least of all candidates" : "", rerun.sentence),
      std::move(rerun.command)};
}

/// Nothing else is open than the time, and so many trials decide it.
std::optional<Suggestion> with_open_time(const ReportModel& model, const std::string& name) {
  const Comparison* time = time_row(model.results, name);
  if (time == nullptr || time->verdict != Verdict::inconclusive) return std::nullopt;
  Suggestion rerun = to_decide_time(model, *time);
  if (rerun.sentence.empty()) return std::nullopt;
  rerun.sentence.insert(0, fmt::format("If the time of {} matters, ", name));
  return rerun;
}

}  // namespace

std::optional<Suggestion> next_step(const ReportModel& model) {
  const std::string about = candidate_in_focus(model.results);
  if (about.empty() || !model.progress.empty()) return std::nullopt;
  for (const auto step :
       {with_failed_trials, in_other_processes, after_regression, with_profiles, in_go_heap,
        with_symbols, with_nothing_against, with_another_setting, with_more_blocks,
        with_runs_more_alike, with_twice_the_trials, with_open_time})
    if (auto found = step(model, about)) {
      if (step == with_another_setting && !has_memory_regression(model, about) &&
          model.results.overall.outcome == OverallOutcome::passed)
        found->sentence = "No memory regression was found. Optional: " + found->sentence;
      return found;
    }
  return std::nullopt;
}

}  // namespace memduel
