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

#include "config/overrides.h"
#include "config/provider.h"
#include "model/document.h"
#include "model/job.h"
#include "model/job_facts.h"

namespace memduel {

/// Advice for two arms that are the same program.
inline constexpr const char* kMeasureTheNoise =
    "use different commands, or measure the noise with --calibrate";

/// One experiment as it will run. It is made once, by the functions below, and stays as it is.
struct Experiment {
  Document config;            ///< resolved: loading it again gives the same experiment
  std::string config_sha256;  ///< over its canonical text
  /// In the order of the config, a twin last, each with the changes that the provider adds and with
  /// its processes.
  std::vector<Variant> variants;
  JobFacts facts;                        ///< what the workload says of its roles
  std::optional<Expansion> expansion;    ///< who made the job and the variants; absent: the config
  std::optional<Places> places;          ///< of the config's values; absent: they are of no file
  std::vector<std::string> gate_places;  ///< in the config; empty: --gate named them
  std::vector<std::string> replaced_gates;  ///< of the config, in whose place are the overrides'
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

/// Makes an experiment of a document that a command built; messages name `origin` as its file. The
/// document is written as JSON and read again, because --set addresses values by JSON paths.
Experiment make_experiment(const Document& document, const std::string& origin,
                           const std::filesystem::path& directory, const Overrides& overrides = {},
                           const AskProvider& ask = ask_program);

/// The config in a file, named `name` in messages, with its matrices expanded. Throws as
/// load_experiment().
Document load_document(const std::filesystem::path& path, const std::string& name);

/// Says that no arm is called so. Throws Error(usage) with the names that there are.
[[noreturn]] void refuse_variant(const std::string& name, const std::vector<std::string>& names,
                                 const std::string& place);

struct SuiteExperiment {
  std::string name;  ///< of its run in the suite: "clients-2", no other's
  std::filesystem::path config;
  std::vector<std::string> set;  ///< path=value, as --set takes them
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::vector<std::string> variants = {};  ///< only these; empty: all
  std::string variants_place = {};         ///< where the suite has them
  /// Those of `set` that its name tells.
  // NOLINTNEXTLINE(readability-redundant-member-init): -Wextra
  std::vector<std::string> matrix = {};
  std::map<std::string, std::string> set_places = {};  ///< of each of `set`: where the suite has it
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
