#include "run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option_checks.h"
#include "finished_run.h"
#include "model/keys.h"

namespace memduel::cli {
namespace {

constexpr double kLeastMinutes = 0.001;
constexpr double kMostMinutes = 1e6;

}  // namespace

void add_out(CLI::App& verb, RunOptions& options) {
  verb.add_option("--out", options.out, "directory for the run (default: runs/NAME-TIME)")
      ->type_name("DIR");
}

void add_resume(CLI::App& verb, RunOptions& options) {
  verb.add_flag("--resume", options.resume,
                "continue the run in --out without repeating a finished trial");
}

void add_plan_options(CLI::App& verb, RunOptions& options, const std::string& repeats_help) {
  verb.add_option("--repeats", options.repeats, repeats_help)
      ->check(finite_range(1, kMostRepeats))
      ->type_name("N");
  verb.add_option("--warmup", options.warmups,
                  "trials of each variant before the first block, which do not count (default: 1)")
      ->check(CLI::Range(0, kMostWarmups))
      ->type_name("N");
  verb.add_option(
          "--max-minutes", options.max_minutes,
          "end after the pair of blocks that passes this time; refused after the warm-up, with "
          "the minutes that would do, if it is too short for a verdict")
      ->check(finite_range(kLeastMinutes, kMostMinutes))
      ->type_name("M");
  verb.add_option("--seed", options.seed,
                  "of the order in which the variants run (default: drawn for every run)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{kMostSeed}))
      ->type_name("S");
}

void add_arms(CLI::App& verb, RunOptions& options) {
  verb.add_option("--variants", options.arms, "only these variants, the baseline among them")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B");
}

void add_config_options(CLI::App& verb, RunOptions& options) {
  verb.add_option("--set", options.set, "override a value of the config, e.g. workload.rounds=3")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb.add_option("--data-dir", options.data_dir,
                  "where data sets are (else MEMDUEL_DATA_DIR, data/, ~/.cache/memduel)")
      ->type_name("DIR");
}

void add_report_options(CLI::App& verb, RunOptions& options) {
  add_quiet(verb, options.quiet);
  add_verbose(verb, options.verbose);
  add_exports(verb, options.exports);
}

void add_quiet(CLI::App& verb, bool& quiet) {
  verb.add_flag("--quiet", quiet, "no progress and no summary, only errors");
}

void add_verbose(CLI::App& verb, bool& verbose) {
  CLI::Option* option =
      verb.add_flag("--verbose", verbose, "print every table, not only the summary");
  if (CLI::Option* quiet = verb.get_option_no_throw("--quiet")) option->excludes(quiet);
}

void add_exports(CLI::App& verb, std::vector<std::pair<std::string, std::string>>& exports) {
  verb.add_option("--export", exports,
                  fmt::format("write the result to a file as well (repeatable): {}",
                              fmt::join(report_formats(), ", ")))
      ->type_name("FORMAT FILE")
      ->allow_extra_args(false);
}

}  // namespace memduel::cli
