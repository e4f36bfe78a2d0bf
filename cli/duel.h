// Runs an experiment from its config to the report: what run, compare --a/--b and calibrate share.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "config/experiment.h"
#include "finished_run.h"
#include "model/run_data.h"
#include "overrides.h"
#include "run_options.h"

namespace memduel::cli {

/// What a verb knows of a run that its config does not say.
struct RunFacts {
  nlohmann::json environment = nlohmann::json::object();  ///< put into the run's environment
  std::map<std::string, std::string> programs;  ///< more files that the trials load, SHA-256
  std::optional<Note> warning;                  ///< put into the run
  std::string config;  ///< the file, which other machines read; empty: there is none
  std::vector<std::filesystem::path> inputs;  ///< that the verb reads and must not write over
  bool resumes = true;                        ///< the verb takes --resume
  std::string resumed_in;    ///< the directory that --resume takes; empty: the run's
  std::string label;         ///< stands before each line of progress: "2/3 mnist-quick, "
  double seconds_after = 0;  ///< that other runs are expected to take afterwards
};

/// What the rest of a run is expected to take.
struct Forecast {
  double seconds = 0;
  double disk_bytes = 0;
};

/// {site:NAME} by NAME: what a provider says of this machine.
std::map<std::string, std::string> site_values(const Experiment& experiment,
                                               const RunOptions& options);

/// The directory that commands start in. Throws Error(usage) where its name is no text, which a
/// config could not hold.
std::filesystem::path current_directory();

/// Whether the workload's provider takes a directory of data sets.
bool has_data_sets(const Experiment& experiment);

/// Throws Error(usage) for --data-dir where the workload has no data sets.
void refuse_unused_data_dir(const Experiment& experiment, const RunOptions& options);

/// Ends what a memduel that was killed left running, and says so: it would take memory and time
/// from what is measured.
void end_what_was_left();

struct DuelRun {
  FinishedRun finished;
  Told told;
};

/// Runs the trials, analyses them and writes results.json and report.html. Throws as run_experiment
/// does.
DuelRun run_duel(const Experiment& experiment, const RunOptions& options,
                 const std::filesystem::path& directory, const RunFacts& facts = {});

/// Runs the first trial alone; the run goes on from it with --resume. Throws as run_duel does.
Forecast forecast_duel(const Experiment& experiment, const RunOptions& options,
                       const std::filesystem::path& directory);

/// --out, or a directory in the state directory, which is made and claimed. Throws what
/// make_run_directory() and claim_run() throw.
std::filesystem::path output_directory(const RunOptions& options, const std::string& name);

/// Runs a duel, prints how it ended and returns the exit code that its gates ask for.
int duel_and_conclude(const Experiment& experiment, const RunOptions& options,
                      const RunFacts& facts = {});

/// The baseline of an experiment and its twin, no other arm. @param repeats instead of the
/// experiment's
Experiment experiment_with_twin(const Experiment& experiment,
                                std::optional<int> repeats = std::nullopt);

/// The environment that a run of `experiment` would record.
nlohmann::json environment_of(const Experiment& experiment, const RunOptions& options);

}  // namespace memduel::cli
