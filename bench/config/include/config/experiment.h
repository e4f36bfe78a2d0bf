// What a config holds: one experiment as it will run, read from JSON, overridden from the command
// line, every default and preset written out; or a suite, which names several experiments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/job.h"
#include "config/provider.h"
#include "memduel/allocator.h"
#include "model/job_facts.h"
#include "model/run_directory.h"

namespace memduel {

/// Advice for two arms that are the same program.
inline constexpr const char* kMeasureTheNoise =
    "nothing can differ between them; to measure the noise give --calibrate";

/// What the command line changes in a config.
struct Overrides {
  std::vector<std::string> set;                  ///< path=value, applied in order
  std::optional<std::vector<std::string>> arms;  ///< only these; must hold the baseline
  std::optional<int> repeats;
  std::optional<int> warmups;
  std::vector<std::string> gates;           ///< replace the config's, when not empty
  std::optional<std::uint64_t> seed;        ///< of the order of the arms; replaces measure.seed
  std::optional<std::uint64_t> drawn_seed;  ///< of the order, where the config gives none
  bool strict_gates = false;
  bool no_default_gates = false;             ///< refused where the config names them
  bool default_gates_if_named_only = false;  ///< else they inform and decide nothing
  bool calibrate = false;                    ///< adds a twin of the baseline, run like any arm
  nlohmann::json resumed;  ///< the resolved config of the run that goes on, else null
};

struct Arm {
  std::string name;
  nlohmann::json optimizations = nlohmann::json::object();  ///< every switch with its value
  std::map<std::string, std::string> env;
  std::optional<Allocator> allocator;  ///< preloaded, tuned and verified
  std::vector<JobProcess> processes;   ///< with the arm's changes applied
  std::vector<JobTemplate> templates;  ///< beside the job's
  std::optional<std::string> twin_of;
};

struct Measure {
  std::optional<int> repeats;  ///< blocks of a fixed design; absent: adaptive looks
  int warmups = 1;             ///< trials of each arm before the first block
  int warmup_rounds = 1;       ///< of a trial
  double interval_ms = 2;
  std::vector<std::string> meters;
  std::uint64_t seed = 1;  ///< of the order of the arms
  bool restricts_order =
      true;  ///< else as earlier versions drew it: bench/stats/include/stats/trial_order.h
};

struct Experiment {
  std::string name;
  std::string baseline;
  nlohmann::json workload;             ///< resolved, of kind command
  JobFacts facts;                      ///< what the workload says of its roles
  Job job;                             ///< the workload
  double deadline_seconds = 600;       ///< of a trial
  std::optional<Expansion> expansion;  ///< where a provider made the workload and the arms
  std::uint64_t seed = 1;              ///< of the workload: models, data, {seed}
  std::vector<Arm> arms;               ///< in the order of the config, a twin last
  Measure measure;
  int profile_trials = 0;  ///< of each arm and tracer, after the last block
  std::vector<std::string> tracers = {kRecorderTracer};
  std::vector<std::string> gates;
  std::string gates_place;  ///< of their list in the config; empty: --gate named them
  std::vector<std::string> replaced_gates;  ///< of the config, in whose place are the overrides'
  nlohmann::json resolved;    ///< config.json: loading it again gives the same experiment
  std::string config_sha256;  ///< over the canonical text of `resolved`
};

/// The name of the arm that --calibrate adds for `baseline`.
std::string twin_name(const std::string& baseline);

/// Reads a config file. Throws Error(usage) for a faulty config, Error(io) for an unreadable file.
Experiment load_experiment(const std::filesystem::path& path, const Overrides& overrides = {},
                           const AskProvider& ask = ask_program);

/// The same from text. `origin` stands for the file in messages; relative directories in the config
/// start at `directory`, which must be absolute.
Experiment parse_experiment(std::string_view text, const std::string& origin,
                            const std::filesystem::path& directory, const Overrides& overrides = {},
                            const AskProvider& ask = ask_program);

/// Says that no arm is called so. Throws Error(usage) with the names that there are.
[[noreturn]] void refuse_arm(const std::string& name, const std::vector<std::string>& names,
                             const std::string& place);

struct SuiteExperiment {
  std::string name;  ///< of its run in the suite: "clients-2", no other's
  std::filesystem::path config;
  std::vector<std::string> set;  ///< path=value, as --set takes them
  /// Those of `set` that its name tells.
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::vector<std::string> matrix = {};
};

struct Suite {
  std::string name;
  std::vector<SuiteExperiment> experiments;  ///< matrices as one for each combination
};

/// A suite of more is a mistake in a matrix.
inline constexpr std::size_t kMostSuiteExperiments = 200;

/// Whether the file has "experiments", as no experiment does; a pipe is taken for one experiment.
/// Throws what load_suite throws for a file that is no JSON.
bool is_suite(const std::filesystem::path& path);

/// Reads a suite. Throws Error(usage) for a faulty one, two experiments of one name, and more than
/// kMostSuiteExperiments; Error(io) for an unreadable file. The configs themselves are not read.
Suite load_suite(const std::filesystem::path& path);

}  // namespace memduel
