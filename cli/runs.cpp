// memduel runs: the runs in the state directory, and prune, which deletes some of them.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/print.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "model/run_directory.h"
#include "reports/run_line.h"
#include "run/store.h"
#include "state_runs.h"
#include "util/error.h"
#include "util/file.h"
#include "util/json.h"
#include "util/text.h"
#include "verdict/result_files.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

struct RunsArguments {
  bool json = false;
};

struct PruneArguments {
  std::optional<std::size_t> keep;
  std::optional<std::string> older_than;
  bool dry_run = false;
};

/// A line of the list.
struct RunRow {
  std::string name;
  fs::path directory;
  std::time_t written = 0;
  std::string answer;  ///< of its gates, or that it is running, unfinished or damaged
  std::string compared;
  std::string change;
  std::string problem;  ///< why it cannot be read; else empty
  double bytes = 0;
};

/// Without the trials, which are most of the file and not needed here.
Results read_summary(const fs::path& file) {
  const auto skip_trials = [](int depth, nlohmann::json::parse_event_t event,
                              nlohmann::json& value) {
    const bool is_key = event == nlohmann::json::parse_event_t::key;
    return refuse_deep_json(depth, event, value) && !(is_key && depth == 1 && value == "trials");
  };
  try {
    return results_from_json(nlohmann::json::parse(read_text_file(file), skip_trials),
                             file.string());
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::io, "not valid JSON: " + reason_of(error), file.string());
  }
}

void read_row(RunRow& row, bool is_running) {
  row.compared = compared_words(read_config(row.directory));
  const fs::path results = row.directory / kResultsFile;
  if (is_running || !is_there(results)) {
    row.answer = is_running ? "running" : "unfinished";
    return;
  }
  const Results summary = read_summary(results);
  row.answer = to_name(answer_of(summary));
  row.change = peak_rss_change(summary);
}

RunRow row_of(const fs::path& directory, const StateRun& run) {
  RunRow row;
  row.directory = directory;
  row.name = directory.lexically_relative(run.directory.parent_path()).string();
  row.written = run.written;
  row.bytes = directory_bytes(directory).value_or(0);
  try {
    read_row(row, is_running(run));
  } catch (const std::exception& error) {
    row.answer = "damaged";
    row.problem = error.what();
  }
  return row;
}

std::vector<RunRow> rows_of(const std::vector<StateRun>& runs) {
  std::vector<RunRow> rows;
  for (const StateRun& run : runs)
    for (const fs::path& directory : run.runs) rows.push_back(row_of(directory, run));
  return rows;
}

nlohmann::json json_of(const fs::path& directory, const std::vector<RunRow>& rows) {
  nlohmann::json runs = nlohmann::json::array();
  for (const RunRow& row : rows)
    runs.push_back({{"name", valid_utf8(row.name)},
                    {"directory", valid_utf8(row.directory.string())},
                    {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(row.written))},
                    {"answer", row.answer},
                    {"compared", valid_utf8(row.compared)},
                    {"change", row.change},
                    {"problem", valid_utf8(row.problem)},
                    {"bytes", static_cast<std::uint64_t>(row.bytes)}});
  return {{"schema", "memduel.runs/1"},
          {"directory", valid_utf8(directory.string())},
          {"runs", std::move(runs)}};
}

/// "peak RSS −83%: ./old vs. ./new".
std::string last_column(const RunRow& row) {
  if (!row.problem.empty()) return "cannot be read: " + row.problem;
  return row.change + (row.change.empty() ? "" : ": ") + row.compared;
}

std::string table_of(const std::vector<RunRow>& rows) {
  std::size_t name = 0;
  std::size_t answer = 0;
  for (const RunRow& row : rows) {
    name = std::max(name, count_characters(escape_terminal(row.name)));
    answer = std::max(answer, row.answer.size());
  }
  std::string text;
  for (const RunRow& row : rows)
    text += fmt::format("{:<{}}  {:%Y-%m-%d}  {:<{}}  {:>9}  {}\n", escape_terminal(row.name), name,
                        fmt::localtime(row.written), row.answer, answer, format_bytes(row.bytes),
                        escape_terminal(last_column(row)));
  return text;
}

int list_runs(const RunsArguments& arguments) {
  const fs::path directory = runs_directory();
  const std::vector<RunRow> rows = rows_of(runs_in(directory));
  if (arguments.json)
    print(json_of(directory, rows).dump(1) + "\n");
  else if (rows.empty())
    print_fitted(fmt::format("no runs in {}\n", escape_terminal(directory.string())));
  else
    print_table(table_of(rows));
  return 0;
}

PruneRule rule_of(const PruneArguments& arguments) {
  if (!arguments.keep && !arguments.older_than)
    throw Error(ExitCode::usage, "expected --keep N or --older-than AGE, found neither",
                "runs prune");
  PruneRule rule;
  rule.keep = arguments.keep;
  if (arguments.older_than) rule.older_than_seconds = parse_age(*arguments.older_than);
  return rule;
}

/// A run that cannot be deleted does not end the deletion of the others.
int prune_runs(const PruneArguments& arguments) {
  const auto runs =
      runs_to_prune(runs_in(runs_directory()), rule_of(arguments), std::time(nullptr));
  const char* done = arguments.dry_run ? "would delete" : "deleted";
  std::size_t deleted = 0;
  double bytes = 0;
  std::optional<Error> failure;
  for (const StateRun& run : runs) {
    const double size = directory_bytes(run.directory).value_or(0);
    const std::string name = escape_terminal(run.name());
    try {
      if (arguments.dry_run ? is_running(run) : !delete_run(run)) {
        say(fmt::format("memduel: kept {}, which is in use\n", name));
        continue;
      }
    } catch (const Error& error) {
      print_failure(error.message());
      failure = error;
      continue;
    }
    print(fmt::format("{} {} ({})\n", done, name, format_bytes(size)));
    ++deleted;
    bytes += size;
  }
  print(fmt::format("{} {}, {}\n", done, format_count(deleted, "run"), format_bytes(bytes)));
  return failure ? static_cast<int>(failure->code()) : 0;
}

void add_prune(CLI::App& runs, Action& action) {
  const auto [verb, arguments] =
      add_verb(runs, action, "prune", "delete runs in the state directory", prune_runs);
  verb->group("Commands");
  verb->footer(
      "Examples:\n"
      "  memduel runs prune --keep 20 --dry-run\n"
      "  memduel runs prune --older-than 30d\n"
      "\n"
      "With both options, a run is deleted if it is neither among the newest N nor younger than "
      "AGE. A run in progress is never deleted. AGE: 90m, 12h, 30d or 8w, since the last trial.");
  verb->add_option("--keep", arguments->keep, "keep the newest N runs")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  verb->add_option("--older-than", arguments->older_than, "delete only runs older than AGE")
      ->type_name("AGE");
  verb->add_flag("--dry-run", arguments->dry_run, "print what would be deleted, delete nothing");
}

}  // namespace

void add_runs(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<RunsArguments>();
  CLI::App* verb = app.add_subcommand("runs", "list or delete runs in the state directory");
  verb->group(kRunGroup);
  verb->footer(
      "Examples:\n"
      "  memduel runs\n"
      "  memduel report compare-20261130-093700 --format text\n"
      "  memduel runs prune --older-than 30d\n"
      "\n"
      "A command that measures writes its run to $XDG_STATE_HOME/memduel/runs/NAME-TIME (default: "
      "~/.local/state/memduel/runs/NAME-TIME) unless --out is given. report, explain, check, "
      "compare, merge and summary find such a run by NAME-TIME. The newest run is listed first, "
      "with the date of its last trial, its answer and its size on disk.");
  set_usage(*verb, {"[OPTIONS]", "prune [OPTIONS]"});
  verb->add_flag("--json", arguments->json, "print the list as JSON");
  verb->callback([arguments, verb, &action] {
    if (verb->get_subcommands().empty()) action = [arguments] { return list_runs(*arguments); };
  });
  add_prune(*verb, action);
}

}  // namespace memduel::cli
