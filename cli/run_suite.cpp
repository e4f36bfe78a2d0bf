#include "run_suite.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include "cli/print.h"
#include "cli/program.h"
#include "config/experiment.h"
#include "duel.h"
#include "follow_up_commands.h"
#include "model/run_directory.h"
#include "reports/pages.h"
#include "run/store.h"
#include "run_options.h"
#include "slurm.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/file.h"
#include "util/json.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

struct Planned {
  SuiteExperiment part;
  fs::path directory;
  RunOptions options;  ///< of its run
  Experiment experiment;
  Forecast forecast = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

bool is_stop(const Error& error) {
  return error.code() == ExitCode::interrupted || error.code() == ExitCode::terminated;
}

/// A run of an earlier part of the suite goes on where it was.
bool can_go_on(const fs::path& directory, const RunOptions& options) {
  return options.slurm ? is_on_slurm(directory) : has_run(directory);
}

bool has_suite(const fs::path& directory) {
  if (!is_there(directory / kSuiteFile)) return false;
  const nlohmann::json index = parse_foreign_json(read_text_file(directory / kSuiteFile));
  const auto schema = index.is_object() ? index.find("schema") : index.end();
  return schema != index.end() && schema->is_string() &&
         schema->get<std::string>().starts_with("memduel.suite/");
}

/// Nothing of anybody's is replaced: a suite has a directory of its own.
void expect_directory(const fs::path& directory, bool resume) {
  const bool is_ours = has_suite(directory);
  if (resume && !is_ours)
    throw Error(ExitCode::usage, "there is no suite here to resume", directory.string());
  std::error_code missing;
  if (resume || !fs::exists(directory, missing)) return;
  if (!fs::is_directory(directory, missing) || !fs::is_empty(directory, missing))
    throw Error(
        ExitCode::usage,
        is_ours ? "the output directory contains another suite"
                : "expected an empty directory for this suite, found files",
        directory.string(),
        is_ours ? "give another --out, or --resume to continue that suite" : "give another --out");
}

/// What no experiment of the suite honours; where some do, the others run without it.
void refuse_unused_options(std::vector<Planned>& all, const RunOptions& options) {
  const auto decides = [](const Planned& one) { return has_deciding_gate(one.experiment.config); };
  if (!all.empty() && std::ranges::none_of(all, decides))
    refuse_undecided_exit(all.front().experiment.config, options.gate);
  if (!options.data_dir || all.empty()) return;
  if (std::ranges::none_of(all, [](const Planned& one) { return has_data_sets(one.experiment); }))
    refuse_unused_data_dir(all.front().experiment, options);
  for (Planned& one : all)
    if (!has_data_sets(one.experiment)) one.options.data_dir.reset();
}

/// Reads every config, so that a bad one is refused before the first trial.
std::vector<Planned> plan(const Suite& suite, const RunOptions& options, const fs::path& out) {
  std::vector<Planned> all;
  for (const SuiteExperiment& part : suite.experiments) {
    Planned one{part, out / part.name, options, {}};
    one.options.out = one.directory.string();
    one.options.resume = options.resume && can_go_on(one.directory, options);
    if (one.options.slurm && one.options.resume) one.options.seed = seed_on_slurm(one.directory);
    one.options.set_by_suite = part.set;
    one.options.places_in_suite = part.set_places;
    if (options.arms.empty() && !part.variants.empty()) {
      one.options.arms = part.variants;
      one.options.arms_place = part.variants_place;
    }
    refuse_change_of_matrix(part, options);
    one.experiment = load_experiment(part.config, overrides_from(one.options));
    refuse_bad_gates(one.experiment);
    all.push_back(std::move(one));
  }
  refuse_unused_options(all, options);
  return all;
}

class SuiteRun {
 public:
  SuiteRun(const Suite& suite, const RunOptions& options, fs::path directory)
      : options_(options),
        directory_(std::move(directory)),
        plan_(plan(suite, options, directory_)) {
    index_.name = suite.name;
    index_.date = fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr)));
    for (const Planned& one : plan_) {
      index_.entries.emplace_back();
      index_.entries.back().name = one.part.name;
    }
  }

  int run() {
    make_directory(directory_, "give another --out");
    const RunLock lock(directory_);
    write_index();
    try {
      options_.slurm ? submit() : forecast();
      for (std::size_t at = 0; at < plan_.size(); ++at) run_one(at);
    } catch (...) {
      write_index();
      throw;
    }
    write_index();
    if (!options_.quiet)
      print_fitted(fmt::format("\n{}\nindex: {}\n",
                               escape_terminal_lines(render_suite_text(index_)),
                               escape_terminal((directory_ / kSuitePage).string())));
    return exit_code();
  }

 private:
  /// All of it first, so that the cluster has work for all its nodes.
  void submit() {
    for (std::size_t at = 0; at < plan_.size(); ++at) {
      Planned& one = plan_[at];
      guarded(at, [&] {
        submit_to_slurm(one.part.config.string(), one.experiment, one.options, one.directory);
        one.options.resume = true;
      });
    }
  }

  void forecast() {
    double seconds = 0;
    double bytes = 0;
    for (std::size_t at = 0; at < plan_.size(); ++at) {
      Planned& one = plan_[at];
      if (!options_.quiet && !one.options.resume)
        memduel::say(fmt::format("first trial {}/{}: {}\n", at + 1, plan_.size(), one.part.name));
      guarded(at, [&] {
        one.forecast = forecast_duel(one.experiment, one.options, one.directory);
        one.options.resume = true;
      });
      seconds += one.forecast.seconds;
      bytes += one.forecast.disk_bytes;
    }
    if (!options_.quiet)
      memduel::say(fmt::format("{}, about {} and {} of disk, unless they end early\n",
                               format_count(plan_.size(), "experiment"), format_seconds(seconds),
                               format_bytes(bytes)));
  }

  void run_one(std::size_t at) {
    Planned& one = plan_[at];
    SuiteEntry& entry = index_.entries[at];
    if (entry.outcome == SuiteOutcome::broken) return;
    RunFacts facts;
    facts.config = one.part.config.string();
    facts.inputs = {one.part.config};
    facts.resumed_in = directory_.string();
    facts.label = fmt::format("{}/{} {}, ", at + 1, plan_.size(), one.part.name);
    for (std::size_t later = at + 1; later < plan_.size(); ++later)
      facts.seconds_after += plan_[later].forecast.seconds;
    guarded(at, [&] {
      const FinishedRun finished =
          run_duel(one.experiment, one.options, one.directory, facts).finished;
      entry = suite_entry(one.part.name, finished.results);
      entry.seconds = seconds_of(finished.run);
      index_.machine = describe_machine(finished.results.environment);
    });
    write_index();
  }

  /// What one experiment cannot do does not end the others.
  template <class Work>
  void guarded(std::size_t at, Work work) {
    try {
      work();
    } catch (const Error& error) {
      if (is_stop(error))
        throw Error(error.code(), "stopped by a signal", directory_.string(),
                    with_command("go on with", resume_command(given_words(), directory_.string())));
      SuiteEntry& entry = index_.entries[at];
      entry.outcome = SuiteOutcome::broken;
      entry.problem = error.message();
      entry.exit_code = static_cast<int>(error.code());
      print_failure(fmt::format("{}: {}", entry.name, error.message()));
    }
  }

  static double seconds_of(const RunData& run) {
    double seconds = 0;
    for (const TrialData& trial : run.trials) seconds += trial.seconds();
    return seconds;
  }

  static std::string describe_machine(const nlohmann::json& environment) {
    return fmt::format("{}, {} CPUs, Linux {}", environment.value("cpu", "unknown CPU"),
                       environment.value("cores", 0), environment.value("kernel", "unknown"));
  }

  void write_index() const {
    write_file_atomically(directory_ / kSuitePage, render_suite_page(index_));
    write_file_atomically(directory_ / kSuiteFile, suite_json(index_).dump(1) + "\n");
  }

  [[nodiscard]] int exit_code() const {
    int worst = 0;
    for (const SuiteEntry& entry : index_.entries) {
      if (entry.outcome == SuiteOutcome::broken) return entry.exit_code;
      const bool gate_failed = entry.exit_code == static_cast<int>(ExitCode::gate_failed);
      if (entry.exit_code != 0 && (worst == 0 || gate_failed)) worst = entry.exit_code;
    }
    return worst;
  }

  const RunOptions& options_;
  fs::path directory_;
  std::vector<Planned> plan_;
  SuiteIndex index_;
};

}  // namespace

int run_suite(const fs::path& file, const RunOptions& options) {
  overrides_from(options);  // each option once, before a directory is made
  const Suite suite = load_suite(file);
  if (options.out) expect_directory(*options.out, options.resume);
  return SuiteRun(suite, options, output_directory(options, suite.name)).run();
}

}  // namespace memduel::cli
