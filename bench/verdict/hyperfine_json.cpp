#include "verdict/hyperfine_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/document.h"
#include "model/keys.h"
#include "stats/hypothesis_tests.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/file.h"
#include "util/json.h"
#include "util/text.h"

namespace memduel {
namespace {

using nlohmann::json;

constexpr long long kSchema = 2;

/// A result, whatever the version.
struct HyperfineResult {
  std::string command;
  std::string name;  ///< of hyperfine 1, the command
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> parameters;
  std::vector<Metrics> runs;
  std::vector<std::optional<int>> exit_codes;
};

double amount_of(const JsonReader& value) {
  if (const double amount = value.number(); amount >= 0) return amount;
  value.refuse("a number that is not negative");
}

std::map<std::string, std::string> texts_of(const JsonReader& in, const char* member,
                                            const char* inner) {
  std::map<std::string, std::string> texts;
  const auto object = in.find(member);
  if (!object) return texts;
  for (const auto& [name, value] : object->members())
    texts[name] = inner == nullptr ? value.text() : value.at(inner).text();
  return texts;
}

HyperfineResult described(const JsonReader& in, const char* inner_of_parameter) {
  HyperfineResult result;
  result.command = in.at("command").text();
  result.name = in.maybe_text("name").value_or(result.command);
  result.env = texts_of(in, "environment", nullptr);
  result.parameters = texts_of(in, "parameters", inner_of_parameter);
  return result;
}

// Schema 2.

Metrics metrics_of_measurement(const JsonReader& measurement) {
  Metrics metrics;
  for (const HyperfineQuantity& quantity : kHyperfineQuantities) {
    const auto value = measurement.find(quantity.name);
    if (!value) continue;
    const JsonReader unit = value->at("unit");
    if (unit.text() != quantity.unit) unit.refuse(fmt::format("\"{}\"", quantity.unit));
    metrics[std::string(quantity.metric)] = amount_of(value->at("value"));
  }
  return metrics;
}

/// hyperfine exports a quantity of all runs of a command, or of none.
void expect_same_quantities(const Metrics& first, const Metrics& metrics,
                            const JsonReader& measurement) {
  for (const HyperfineQuantity& quantity : kHyperfineQuantities)
    if (first.value(quantity.metric).has_value() != metrics.value(quantity.metric).has_value())
      measurement.refuse(fmt::format("{} in all runs of a result or in none", quantity.name));
}

HyperfineResult result_of_schema_2(const JsonReader& in) {
  HyperfineResult result = described(in, "value");
  for (const JsonReader& measurement : in.at("measurements").elements()) {
    result.runs.push_back(metrics_of_measurement(measurement));
    expect_same_quantities(result.runs.front(), result.runs.back(), measurement);
    result.exit_codes.push_back(measurement.maybe_int("exit_code"));
  }
  if (result.runs.empty()) in.at("measurements").refuse("at least one run");
  if (result.runs.front().empty())
    in.at("measurements").refuse("runs with time_wall_clock or memory_peak_resident");
  return result;
}

// hyperfine 1.

/// None when it is absent.
std::vector<JsonReader> one_for_each_time(const JsonReader& in, const char* name,
                                          std::size_t times) {
  const auto array = in.find(name);
  if (!array) return {};
  std::vector<JsonReader> values = array->elements();
  if (values.size() != times)
    array->refuse(fmt::format("{}, one for each of times", format_count(times, "value")));
  return values;
}

/// @param largest_so_far of the results before this one.
HyperfineResult result_of_version_1(const JsonReader& in, double& largest_so_far) {
  HyperfineResult result = described(in, nullptr);
  for (const JsonReader& time : in.at("times").elements())
    result.runs.push_back({{kRoundSeconds, amount_of(time)}});
  if (result.runs.empty()) in.at("times").refuse("at least one run");
  const std::size_t times = result.runs.size();
  double largest = 0;
  for (const JsonReader& bytes : one_for_each_time(in, "memory_usage_byte", times))
    largest = std::max(largest, amount_of(bytes));
  if (largest > largest_so_far) result.runs.back()[kPeakLargestProcess] = largest;
  largest_so_far = std::max(largest_so_far, largest);
  result.exit_codes.resize(times);
  const std::vector<JsonReader> codes = one_for_each_time(in, "exit_codes", times);
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (!codes[i].raw().is_null()) result.exit_codes[i] = read_value<int>(codes[i]);
  return result;
}

std::vector<HyperfineResult> results_in(const JsonReader& in, bool is_version_1) {
  std::vector<HyperfineResult> results;
  double largest_so_far = 0;
  for (const JsonReader& result : in.at("results").elements())
    results.push_back(is_version_1 ? result_of_version_1(result, largest_so_far)
                                   : result_of_schema_2(result));
  if (results.empty()) in.at("results").refuse("at least one result");
  if (results.size() > kMostVariants)
    in.at("results").refuse(fmt::format("at most {} results", kMostVariants));
  return results;
}

// The run.

std::optional<std::string> variant_name_of(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return is_variant_name(name) ? std::optional(name) : std::nullopt;
}

/// "n-1" of {"n": "1"}, as commands with parameters are named; empty without parameters.
std::string name_of_parameters(const HyperfineResult& result) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : result.parameters) parts.push_back(name + "-" + value);
  return fmt::format("{}", fmt::join(parts, "-"));
}

/// The name of a result in tables, in which a whole command would be too long. In a file of
/// hyperfine 1 a command of one word may be its -n name.
std::optional<std::string> short_name_of(const HyperfineResult& result) {
  if (result.name != result.command) return variant_name_of(result.name);
  if (!result.parameters.empty()) return variant_name_of(name_of_parameters(result));
  const bool is_word = result.command.find(' ') == std::string::npos;
  return is_word ? variant_name_of(result.command) : std::nullopt;
}

/// "a" of the first result.
std::string letter_of(std::size_t result) {
  constexpr std::size_t kLetters = 26;
  return fmt::format("{}{}", static_cast<char>('a' + result % kLetters),
                     result < kLetters ? "" : std::to_string(result / kLetters + 1));
}

/// Short names, or letters if one has none or two are equal.
std::vector<std::string> variant_names_of(const std::vector<HyperfineResult>& results) {
  std::vector<std::string> names;
  std::vector<std::string> letters;
  std::set<std::string> distinct;
  for (const HyperfineResult& result : results) {
    letters.push_back(letter_of(letters.size()));
    const auto name = short_name_of(result);
    if (name && distinct.insert(*name).second) names.push_back(*name);
  }
  return names.size() == results.size() ? names : letters;
}

/// Its words, or all of it as one word if only a shell could split it.
CommandLine words_of(const std::string& command) {
  try {
    return split_typed_command(command);
  } catch (const Error&) {
    return {{}, {command}};
  }
}

void add_variant(RunData& run, const std::string& name, const HyperfineResult& result) {
  Variant& variant = run.config.variants.emplace_back();
  variant.name = name;
  variant.parameters = result.parameters;
  const CommandLine words = words_of(result.command);
  variant.env.insert(words.env.begin(), words.env.end());
  variant.env.insert(result.env.begin(), result.env.end());
  if (run.config.variants.size() > 1) variant.argv[kCommand] = words.argv;
}

void add_trials_of(RunData& run, const std::string& name, const HyperfineResult& result) {
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    TrialData& trial = run.trials.emplace_back();
    trial.id = static_cast<std::int64_t>(run.trials.size());
    trial.block = static_cast<int>(i) + 1;
    trial.arm = name;
    RoleData& command = trial.roles.emplace_back();
    command.role = kCommand;
    command.exit_status = result.exit_codes[i];
    RoleData& all = trial.roles.emplace_back();
    all.role = kTree;
    all.metrics = result.runs[i];
  }
}

void note_failures(RunData& run, const HyperfineResult& result) {
  std::set<int> codes;
  std::size_t failed = 0;
  for (const auto& code : result.exit_codes) {
    if (code.value_or(0) == 0) continue;
    codes.insert(*code);
    ++failed;
  }
  if (failed == 0) return;
  run.warnings.push_back(
      {"failures_ignored",
       fmt::format("{} of '{}' exited with {}, and hyperfine was run with --ignore-failure",
                   format_count(failed, "run"), result.command, fmt::join(codes, ", ")),
       "check that the commands do their work"});
}

bool has_metric(const RunData& run, std::string_view metric) {
  return std::ranges::any_of(
      run.trials, [&](const TrialData& trial) { return trial.value(kTree, metric).has_value(); });
}

bool is_exported_by_memduel(const RunData& run) {
  const json& metadata = run.environment.at("hyperfine");
  const auto generator = metadata.find("generator");
  return generator != metadata.end() && *generator == json(kHyperfineGenerator);
}

void note_scope(RunData& run, const std::string& where, bool is_version_1) {
  const std::string advice =
      "memduel compare --a CMD --b CMD interleaves the commands and adds up all processes";
  if (is_version_1) {
    run.limitations.push_back(
        {"hyperfine_1_memory",
         fmt::format("{} is of hyperfine 1, which reports the largest memory of all processes "
                     "so far: one value for each command, none for a command that needs less than "
                     "an earlier one, and no CPU time for each run",
                     where),
         "hyperfine 2 reports the memory of each run; " + advice});
    return;
  }
  if (has_metric(run, kPeakLargestProcess) && !has_metric(run, kPeakRss))
    run.limitations.push_back(
        {"largest_process_only",
         fmt::format("{} has the peak RSS of the largest single process of each run; processes "
                     "that run at the same time are not added up",
                     where),
         advice});
}

/// The kernel's maximum for a process has the pages that it shared with its parent before exec.
/// With hyperfine 2.0.0, which has 2.9 MiB itself, `true` has 2.8 MiB instead of 1 MiB.
void note_small_peaks(RunData& run, const std::string& where) {
  constexpr double kOwnMemory = 4 << 20;
  const bool is_small = std::ranges::any_of(run.trials, [](const TrialData& trial) {
    const auto peak = trial.value(kTree, kPeakLargestProcess);
    return peak && *peak < kOwnMemory;
  });
  if (!is_small) return;
  run.warnings.push_back(
      {"peak_of_hyperfine",
       fmt::format("{} has peaks below 4 MiB, which may be the memory of hyperfine itself: the "
                   "kernel counts that of a process before it executes the command",
                   where),
       "measure such small commands with memduel compare --a CMD --b CMD"});
}

void note_few_runs(RunData& run, const std::string& where,
                   const std::vector<HyperfineResult>& results) {
  std::size_t least = results.front().runs.size();
  for (const HyperfineResult& result : results) least = std::min(least, result.runs.size());
  if (least >= static_cast<std::size_t>(kMinimumBlocks)) return;
  run.limitations.push_back({"too_few_repetitions",
                             fmt::format("{} has only {} of some commands; a verdict needs {}",
                                         where, format_count(least, "run"), kMinimumBlocks),
                             "rerun hyperfine with --runs 12"});
}

/// Schema 2 has a number, and hyperfine 1 has none.
bool is_of_version_1(const JsonReader& in) {
  const auto schema = in.find("schema_version");
  if (!schema) return true;
  if (schema->integer() != kSchema)
    schema->refuse(fmt::format("schema_version {}, which hyperfine 2 writes", kSchema));
  return false;
}

// Two files.

/// A command of a file.
struct FileCommand {
  std::string variant;
  bool is_named = true;  ///< the variant is not a letter
  CommandLine line;

  [[nodiscard]] bool is_called(const std::string& given) const {
    const CommandLine words = words_of(given);
    return variant == given || (line.env == words.env && line.argv == words.argv);
  }
  [[nodiscard]] bool is_same(const FileCommand& other) const {
    return (line.env == other.line.env && line.argv == other.line.argv) ||
           (is_named && other.is_named && variant == other.variant);
  }
  [[nodiscard]] std::string text() const {
    return is_named ? variant : quoted_command_line({quoted_command_line(line.argv)});
  }
};

std::vector<FileCommand> commands_of(const RunData& run) {
  std::vector<FileCommand> commands;
  for (const Variant& variant : run.config.variants) {
    FileCommand& command = commands.emplace_back();
    command.variant = variant.name;
    command.line.env = {variant.env.begin(), variant.env.end()};
    command.line.argv = commands.size() == 1 ? run.config.workload.job.processes.front().argv
                                             : variant.argv.at(kCommand);
  }
  bool are_letters = true;
  for (std::size_t i = 0; i < commands.size(); ++i)
    are_letters &= commands[i].variant == letter_of(i);
  for (FileCommand& command : commands) command.is_named = !are_letters;
  return commands;
}

const FileCommand& command_called(const std::vector<FileCommand>& commands,
                                  const std::string& chosen, const RunData& run) {
  const auto called = std::ranges::find_if(
      commands, [&](const FileCommand& command) { return command.is_called(chosen); });
  if (called != commands.end()) return *called;
  std::vector<std::string> texts;
  for (const FileCommand& command : commands) texts.push_back(command.text());
  throw Error(ExitCode::usage,
              fmt::format("expected a command of {} ({}), found \"{}\"", run.config.name,
                          fmt::join(texts, ", "), chosen),
              "--variant");
}

using CommandPair = std::pair<const FileCommand*, const FileCommand*>;

CommandPair common_or_first(const std::vector<FileCommand>& a, const std::vector<FileCommand>& b) {
  std::vector<CommandPair> common;
  std::vector<std::string> texts;
  for (const FileCommand& of_a : a)
    for (const FileCommand& of_b : b) {
      if (!of_a.is_same(of_b)) continue;
      common.emplace_back(&of_a, &of_b);
      texts.push_back(of_a.text());
    }
  if (common.size() < 2) return common.empty() ? CommandPair(&a.front(), &b.front()) : common[0];
  throw Error(ExitCode::usage,
              fmt::format("expected one command that both files have, found {}: {}", common.size(),
                          fmt::join(texts, ", ")),
              "compare", fmt::format("choose one, for example --variant {}", texts.front()));
}

}  // namespace

bool is_hyperfine(const json& document) {
  if (!document.is_object()) return false;
  const auto results = document.find("results");
  if (results == document.end() || !results->is_array()) return false;
  return document.contains("schema_version") || results->empty() ||
         (results->front().is_object() && results->front().contains("command"));
}

bool is_hyperfine_file(const std::string& path) {
  if (std::error_code none; !std::filesystem::is_regular_file(path, none)) return false;
  try {
    const std::string text = read_text_file(path);
    return text.starts_with('{') && is_hyperfine(json::parse(text, refuse_deep_json));
  } catch (const std::exception&) {
    return false;
  }
}

RunData run_from_hyperfine(const json& document, const std::string& where) {
  const JsonReader in(document, where);
  const bool is_version_1 = is_of_version_1(in);
  const std::vector<HyperfineResult> results = results_in(in, is_version_1);
  const std::vector<std::string> names = variant_names_of(results);
  RunData run;
  run.config = document_of_program(where, words_of(results.front().command).argv, "");
  run.config.baseline = names.front();
  run.job.default_gates = {{kTree, kPeakLargestProcess}};
  run.environment = {{"fingerprint", ""}, {"hyperfine", json::object()}};
  if (const auto metadata = in.find("metadata"))
    for (const auto& [name, value] : metadata->members())
      run.environment["hyperfine"][name] = value.raw();
  for (std::size_t i = 0; i < results.size(); ++i) {
    add_variant(run, names[i], results[i]);
    add_trials_of(run, names[i], results[i]);
    note_failures(run, results[i]);
  }
  note_scope(run, where, is_version_1);
  if (!is_exported_by_memduel(run)) note_small_peaks(run, where);
  note_few_runs(run, where, results);
  return run;
}

std::optional<Note> choose_commands(RunData& a, RunData& b, const std::string& chosen) {
  const std::vector<FileCommand> of_a = commands_of(a);
  const std::vector<FileCommand> of_b = commands_of(b);
  const auto [one, other] = chosen.empty() ? common_or_first(of_a, of_b)
                                           : CommandPair(&command_called(of_a, chosen, a),
                                                         &command_called(of_b, chosen, b));
  a.config.baseline = one->variant;
  b.config.baseline = other->variant;
  const std::size_t left = of_a.size() + of_b.size() - 2;
  if (left == 0) return std::nullopt;
  return Note{"commands_not_compared",
              fmt::format("{} of {} and {} {} not compared", format_count(left, "other command"),
                          a.config.name, b.config.name, left == 1 ? "is" : "are"),
              "choose a command with --variant NAME; memduel compare FILE compares all commands of "
              "one file"};
}

RunData comparison_within(RunData run, const std::string& baseline, const std::string& where) {
  if (run.config.variants.size() < 2)
    throw Error(ExitCode::usage, "expected a file of several commands, found one command", where,
                "name a second file: memduel compare OLD.json NEW.json");
  if (!baseline.empty()) {
    if (run.config.variant(baseline) == nullptr)
      throw Error(ExitCode::usage,
                  fmt::format("expected the name of a variant ({}), found \"{}\"",
                              fmt::join(run.config.variant_names(), ", "), baseline),
                  "--variant");
    run.config.baseline = baseline;
  }
  std::vector<std::string> again = {"memduel", "compare", where};
  if (!baseline.empty()) again.insert(again.end(), {"--variant", baseline});
  run.environment["reproduce"] = quoted_command_line(again);
  const bool is_own = is_exported_by_memduel(run);
  run.warnings.push_back(
      is_own ? Note{"order_unknown",
                    fmt::format("{} does not contain the order of the trials, so the verdicts do "
                                "not use that they were interleaved",
                                where),
                    "compare the run directory instead"}
             : Note{"not_interleaved",
                    "hyperfine ran the commands one after the other, not interleaved, so machine "
                    "drift between them looks like a difference",
                    "compare the commands with --a and --b"});
  return run;
}

}  // namespace memduel
