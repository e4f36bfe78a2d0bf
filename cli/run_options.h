// The options that every verb which runs trials shares.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/run/share.h"

namespace memduel::cli {

inline constexpr const char* kNoDirectoryToResume = "found no directory to resume";

/// How a run is handed over to Slurm.
struct SlurmOptions {
  std::optional<int> shares;
  std::vector<std::string> sbatch;
  int retries = 2;
  bool operator==(const SlurmOptions&) const = default;
};

struct RunOptions {
  std::optional<std::string> out;
  std::optional<int> repeats;
  std::vector<std::string> arms;
  std::vector<std::string> set;
  bool resume = false;
  std::optional<double> max_minutes;
  std::vector<std::string> gates;
  std::optional<std::uint64_t> seed;
  bool strict_gates = false;
  bool no_default_gates = false;
  bool fail_on_undecided = false;
  std::optional<std::string> data_dir;
  std::optional<Share> share;         ///< of `memduel run` alone, and so is
  std::optional<SlurmOptions> slurm;  ///< absent: the trials run here
  bool quiet = false;
  bool verbose = false;
  std::vector<std::pair<std::string, std::string>> exports;  ///< see report_formats.h
};

/// `options` must outlive the parse.
void add_run_options(CLI::App& verb, RunOptions& options);

/// --on-undecided alone, for verbs that judge a finished run.
void add_on_undecided(CLI::App& verb, bool& fail_on_undecided);

/// --export alone, for verbs that judge a finished run.
void add_exports(CLI::App& verb, std::vector<std::pair<std::string, std::string>>& exports);

/// --verbose alone, likewise.
void add_verbose(CLI::App& verb, bool& verbose);

/// --gate-strict and --no-default-gates, likewise.
void add_gate_flags(CLI::App& verb, bool& strict_gates, bool& no_default_gates);

}  // namespace memduel::cli
