// Options that several verbs have, in small groups: each verb adds those that it honours.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gate_options.h"
#include "run/shares.h"

namespace memduel::cli {

/// How a run is handed over to Slurm.
struct SlurmOptions {
  std::optional<int> shares;
  std::vector<std::string> sbatch;
  int retries = 2;
  bool operator==(const SlurmOptions&) const = default;
};

/// What the verbs that run trials share; a verb offers only what it honours of it.
struct RunOptions {
  std::optional<std::string> out;
  std::optional<int> repeats;
  std::optional<int> min_repeats;  ///< bounds of the number that memduel chooses
  std::optional<int> max_repeats;
  std::optional<int> warmups;
  std::vector<std::string> arms;
  std::string arms_place = "--variants";  ///< of `arms`, or where a suite has them
  std::vector<std::string> set;
  std::vector<std::string> set_by_suite;               ///< before `set`
  std::map<std::string, std::string> places_in_suite;  ///< of each of `set_by_suite`
  bool resume = false;
  std::optional<double> max_minutes;
  bool no_why = false;
  GateOptions gate;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> data_dir;
  std::optional<Share> share;         ///< of `memduel run` alone, and so is
  std::optional<SlurmOptions> slurm;  ///< absent: the trials run here
  bool quiet = false;
  bool verbose = false;
  std::vector<std::pair<std::string, std::string>> exports;  ///< see finished_run.h
};

/// In all that follows `options` must outlive the parse.

/// --out
void add_out(CLI::App& verb, RunOptions& options);
void add_out(CLI::App& verb, std::optional<std::string>& out);
/// The required argument DIR of a command that reads a run: find_run() of what is given.
void add_run_directory(CLI::App& verb, std::string& directory);
/// Throws Error(usage) if `directory` of the command `verb` is a file of hyperfine, which compare
/// reads.
void refuse_hyperfine_file(const std::string& verb, const std::string& directory);
/// --resume, which needs --out: with it, find_run() of what is given there.
void add_resume(CLI::App& verb, RunOptions& options);
/// --repeats, --warmup and --max-minutes.
void add_trial_options(CLI::App& verb, RunOptions& options, const std::string& repeats_help);
/// These and --seed.
void add_plan_options(
    CLI::App& verb, RunOptions& options,
    const std::string& repeats_help = "run each variant N times (default: until decided)");
/// --min-runs and --max-runs.
void add_trial_bounds(CLI::App& verb, RunOptions& options);
/// --no-why
void add_no_why(CLI::App& verb, RunOptions& options);
/// --variants
void add_arms(CLI::App& verb, RunOptions& options);
/// --set
void add_set(CLI::App& verb, RunOptions& options);
/// --set and --data-dir.
void add_config_options(CLI::App& verb, RunOptions& options);
/// --quiet, --verbose and --export.
void add_report_options(CLI::App& verb, RunOptions& options);
void add_quiet(CLI::App& verb, bool& quiet);
/// Not beside --quiet, which a verb adds before it.
void add_verbose(CLI::App& verb, bool& verbose);
void add_exports(CLI::App& verb, std::vector<std::pair<std::string, std::string>>& exports);

}  // namespace memduel::cli
