#include "run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/option_checks.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "finished_run.h"
#include "model/keys.h"
#include "state_runs.h"
#include "util/command_line.h"
#include "util/error.h"
#include "verdict/hyperfine_json.h"

namespace memduel::cli {
namespace {

constexpr double kLeastMinutes = 0.001;
constexpr double kMostMinutes = 1e6;

}  // namespace

void add_out(CLI::App& verb, RunOptions& options) {
  add_out(verb, options.out);
}

void add_out(CLI::App& verb, std::optional<std::string>& out) {
  verb.add_option("--out", out, "write the run to DIR (default: see memduel runs)")
      ->type_name("DIR")
      ->group(kOutputOptions);
}

void add_run_directory(CLI::App& verb, std::string& directory) {
  verb.add_option("DIR", directory, "run directory, or a name that memduel runs lists")
      ->required()
      ->transform(find_run);
}

void refuse_hyperfine_file(const std::string& verb, const std::string& directory) {
  if (!is_hyperfine_file(directory)) return;
  std::vector<std::string> meant = {"memduel", "compare", directory};
  // The gates of check are those of compare.
  const auto& words = given_words();
  if (const auto at = std::ranges::find(words, verb); verb == "check" && at != words.end()) {
    meant.pop_back();
    meant.insert(meant.end(), at + 1, words.end());
  }
  throw Error(ExitCode::usage, "expected a run directory, found a file of hyperfine", directory,
              fmt::format("did you mean {}?", quoted_command_line(meant)));
}

void add_resume(CLI::App& verb, RunOptions& options) {
  verb.add_flag("--resume", options.resume, "continue the run in --out")->group(kOutputOptions);
  verb.parse_complete_callback([&options] {
    if (options.resume && options.out) options.out = find_run(*options.out);
  });
}

void add_trial_options(CLI::App& verb, RunOptions& options, const std::string& repeats_help) {
  verb.add_option("--repeats,--runs,-r", options.repeats, repeats_help)
      ->check(finite_range(1, kMostRepeats))
      ->type_name("N")
      ->group(kHowOftenOptions);
  verb.add_option("--warmup,-w", options.warmups,
                  "run N warm-up trials of each variant (default: 1)")
      ->check(CLI::Range(0, kMostWarmups))
      ->type_name("N")
      ->group(kHowOftenOptions);
  verb.add_option("--max-minutes", options.max_minutes,
                  "end the run after M minutes (default: no limit)")
      ->check(finite_range(kLeastMinutes, kMostMinutes))
      ->type_name("M")
      ->group(kHowOftenOptions);
}

void add_plan_options(CLI::App& verb, RunOptions& options, const std::string& repeats_help) {
  add_trial_options(verb, options, repeats_help);
  verb.add_option("--seed", options.seed, "order the trials by seed S (default: random)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{kMostSeed}))
      ->type_name("S")
      ->group(kHowOftenOptions);
}

void add_trial_bounds(CLI::App& verb, RunOptions& options) {
  const auto add = [&](const char* names, std::optional<int>& number, const char* help) {
    verb.add_option(names, number, help)
        ->check(finite_range(1, kMostRepeats))
        ->type_name("N")
        ->group(kHowOftenOptions);
  };
  add("--min-runs,-m", options.min_repeats, "run each variant N times or more");
  add("--max-runs,-M", options.max_repeats, "run each variant N times or fewer");
}

void add_no_why(CLI::App& verb, RunOptions& options) {
  verb.add_flag("--no-why", options.no_why, "run no profiled trials, which find the cause")
      ->group(kHowOftenOptions);
}

void add_arms(CLI::App& verb, RunOptions& options) {
  verb.add_option("--variants", options.arms, "run only these variants, with the baseline")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B")
      ->group(kWhatOptions);
}

void add_set(CLI::App& verb, RunOptions& options) {
  verb.add_option("--set", options.set, "override a key of the config (repeatable)")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false)
      ->group(kWhatOptions);
}

void add_config_options(CLI::App& verb, RunOptions& options) {
  add_set(verb, options);
  verb.add_option("--data-dir", options.data_dir,
                  "find data sets in DIR (default: MEMDUEL_DATA_DIR)")
      ->type_name("DIR")
      ->group(kWhatOptions);
}

void add_report_options(CLI::App& verb, RunOptions& options) {
  add_quiet(verb, options.quiet);
  add_verbose(verb, options.verbose);
  add_exports(verb, options.exports);
}

void add_quiet(CLI::App& verb, bool& quiet) {
  verb.add_flag("--quiet", quiet, "print errors only")->group(kOutputOptions);
}

void add_verbose(CLI::App& verb, bool& verbose) {
  CLI::Option* option = verb.add_flag("--verbose", verbose, "print every table and note");
  option->group(kOutputOptions);
  if (CLI::Option* quiet = verb.get_option_no_throw("--quiet")) option->excludes(quiet);
}

void add_exports(CLI::App& verb, std::vector<std::pair<std::string, std::string>>& exports) {
  verb.add_option("--export", exports, "also write a report to FILE (repeatable)")
      ->type_name("FORMAT FILE")
      ->allow_extra_args(false)
      ->group(kOutputOptions);
  verb.footer(
      fmt::format("{}\n\nFORMAT: {}", verb.get_footer(), fmt::join(report_formats(), ", ")));
}

}  // namespace memduel::cli
