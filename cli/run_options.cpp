#include "cli/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/finite_range.h"
#include "cli/report_formats.h"

namespace memduel::cli {
namespace {

constexpr double kMostRepeats = 10'000;  // as the schema has it
constexpr double kLeastMinutes = 0.001;
constexpr double kMostMinutes = 1e6;

}  // namespace

void add_on_undecided(CLI::App& verb, bool& fail_on_undecided) {
  verb.add_option_function<std::string>(
          "--on-undecided",
          [&fail_on_undecided](const std::string& word) { fail_on_undecided = word == "fail"; },
          "what an undecided gate means for the exit code: pass (with a warning) or fail (exit 5)")
      ->check(CLI::IsMember({"pass", "fail"}))
      ->type_name("pass|fail");
}

void add_gate_flags(CLI::App& verb, bool& strict_gates, bool& no_default_gates) {
  verb.add_flag("--gate-strict", strict_gates,
                "a gate fails only where the worsening is shown to lie beyond its bound");
  verb.add_flag("--no-default-gates", no_default_gates,
                "without --gate, nothing decides the exit code");
}

void add_run_options(CLI::App& verb, RunOptions& options) {
  verb.add_option("--out", options.out, "directory for the run (default: runs/NAME-TIME)")
      ->type_name("DIR");
  verb.add_option("--repeats", options.repeats,
                  "a fixed number of blocks; without it the run ends when settled")
      ->check(finite_range(1, kMostRepeats))
      ->type_name("N");
  verb.add_option_function<int>(
          "--warmup",
          [&options](int trials) {
            options.set.push_back(fmt::format("measure.warmups={}", trials));
          },
          "trials of each arm before the first block, which do not count (default: 1)")
      ->check(CLI::Range(0, 100))
      ->type_name("N");
  verb.add_option("--arms", options.arms, "only these arms, the baseline among them")
      ->delimiter(',')
      ->type_name("A,B");
  verb.add_option("--set", options.set, "override a value of the config, e.g. workload.rounds=3")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb.add_flag("--resume", options.resume,
                "continue the run in --out without repeating a finished trial");
  verb.add_option("--max-minutes", options.max_minutes,
                  "end after the block that passes this time, and say so")
      ->check(finite_range(kLeastMinutes, kMostMinutes))
      ->type_name("M");
  verb.add_option("--gate", options.gates,
                  "ROLE.METRIC<=BOUND, e.g. 'server.peak_rss_bytes<=+2%' (repeatable)")
      ->type_name("G")
      ->allow_extra_args(false);
  add_on_undecided(verb, options.fail_on_undecided);
  add_gate_flags(verb, options.strict_gates, options.no_default_gates);
  verb.add_option("--seed", options.seed,
                  "of the order in which the arms run (default: drawn for every run)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{9007199254740991}))
      ->type_name("S");
  verb.add_option("--data-dir", options.data_dir,
                  "where data sets are (else MEMDUEL_DATA_DIR, data/, ~/.cache/memduel)")
      ->type_name("DIR");
  verb.add_flag("--quiet", options.quiet, "no progress and no summary, only errors");
  add_verbose(verb, options.verbose);
  add_exports(verb, options.exports);
}

void add_exports(CLI::App& verb, std::vector<std::pair<std::string, std::string>>& exports) {
  verb.add_option("--export", exports,
                  fmt::format("write the result to a file as well (repeatable): {}",
                              fmt::join(report_formats(), ", ")))
      ->type_name("FORMAT FILE")
      ->allow_extra_args(false);
}

void add_verbose(CLI::App& verb, bool& verbose) {
  verb.add_flag("--verbose", verbose, "print every table, not only the summary");
}

}  // namespace memduel::cli
