// A program that turns experiments of its own kinds into jobs: "provider" in a config. memduel
// adds one word to its command and reads JSON from it; docs/providers.md has the answers in full.
//
//   PROVIDER catalogue   what may be switched: optimizations and presets
//   PROVIDER expand      a job for a workload and its arms, which it reads from standard input
//   PROVIDER site        what this machine has for that job; asked where the catalogue says so
//
// The resolved config keeps the config and the job, so that nobody who reads a run needs the
// provider.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/read_document.h"
#include "model/document.h"
#include "model/job_facts.h"
#include "util/error.h"

namespace memduel {

struct OptimizationValue {
  nlohmann::json value;  ///< a string, number or boolean
  std::string summary;
};

/// One named switch; its first value is the original one.
struct Optimization {
  std::string name;
  std::string summary;
  std::vector<OptimizationValue> values;
  std::vector<std::string> applies_to;  ///< workload kinds; empty: all that there are
  /// Any whole number from here on is a value too.
  std::optional<std::int64_t> whole_numbers_from = std::nullopt;
  std::optional<std::int64_t> whole_numbers_to = std::nullopt;  ///< the last of them
};

/// A named set of switch values.
struct Preset {
  std::string name;
  std::string summary;
  std::vector<std::string> workload_kinds;  ///< empty: all that there are
  std::map<std::string, nlohmann::json> optimizations;
};

/// What a provider answers to `catalogue`.
struct Catalog {
  std::string name;
  std::string version;
  std::vector<std::string> kinds;  ///< of workload; empty: it does not say
  bool has_site = false;           ///< it knows what a machine has for the job
  std::vector<Optimization> optimizations;
  std::vector<Preset> presets;
};

/// Reads the answer. Throws Error(usage) at its place in `origin` for what is not as it should be,
/// and for a preset that names an unknown switch or value.
Catalog parse_catalog(const nlohmann::json& answer, const std::string& origin);

/// Every switch of `workload_kind`, or of all where that is empty, with its value: the original
/// ones, then those of `preset`, then `overrides`. Throws Error(usage) at `place`.preset or
/// `place`.switches.NAME for an unknown preset, switch or value.
nlohmann::json resolve_optimizations(const Catalog& catalog, const std::string& workload_kind,
                                     const std::optional<std::string>& preset,
                                     const nlohmann::json& overrides, const std::string& place);

inline constexpr const char* kWhatAProviderAnswers = "see docs/providers.md";

/// Has the kinds of workload that are neither `command` nor a named provider's.
inline constexpr const char* kDefaultProvider = "memduel-fl";
/// What it runs its jobs with, and a variable in an arm's environment that names another one, so
/// that two builds of it can be duelled.
inline constexpr const char* kWorkerProgram = "memduel-worker";
inline constexpr const char* kWorkerVariable = "MEMDUEL_WORKER";

struct Provider {
  std::vector<std::string> argv;
  std::filesystem::path directory;  ///< in which it runs
  std::string kind;                 ///< of workload that it is asked for

  [[nodiscard]] bool is_default() const {
    return argv == std::vector<std::string>{kDefaultProvider};
  }
};

/// One question: the word, and what standard input has. Throws Error(usage) in the provider's own
/// words where it refuses, Error(io) where it cannot be started, Error(cannot_measure) where it is
/// not done in time.
using AskProvider = std::function<nlohmann::json(const Provider& provider, const std::string& word,
                                                 const nlohmann::json& request)>;

/// Starts the program.
nlohmann::json ask_program(const Provider& provider, const std::string& word,
                           const nlohmann::json& request);

/// Its answer, with the switches and presets for workloads of the provider's kind. Throws as
/// AskProvider, and Error(usage) for an answer that is none.
nlohmann::json ask_catalogue(const Provider& provider, const AskProvider& ask);

/// The same as a value.
Catalog catalog_of(const nlohmann::json& catalogue, const Provider& provider);

/// The switches and presets of all its kinds, for people. Throws as ask_catalogue().
Catalog ask_whole_catalogue(const Provider& provider, const AskProvider& ask);

/// SHA-256 by path of the files that its command names.
std::map<std::string, std::string> programs_of(const Provider& provider);

/// What this machine has for the job: "environment", which describes it, and "values", which stand
/// for {site:NAME} in the job. @param request workload, arms and data_dir. Throws as
/// ask_catalogue(), and Error(cannot_measure or io) for what it lacks.
nlohmann::json ask_site(const Provider& provider, const nlohmann::json& request,
                        const AskProvider& ask);

/// What a provider prints to refuse: the code, the place and the advice of its error go with it.
nlohmann::json refusal_json(const Error& error);

/// Who made a job.
struct Expansion {
  Provider provider;
  Catalog catalog;
  std::map<std::string, std::string> programs;  ///< SHA-256 by path: see programs_of()
};

/// A document whose workload is of a provider's kind, and the job in its place.
struct ExpandedDocument {
  Expansion expansion;
  Document own;                     ///< with every switch of each variant
  Document job;                     ///< with the job's workload, variants and meters
  std::filesystem::path directory;  ///< at which the job's paths start
  /// What the provider answered: "expanded" of the resolved config, see docs/formats.md.
  nlohmann::json kept;
};

/// Absent for a workload of kind command. Else asks the provider, unless the document, or `before`,
/// has its answer to the same question.
/// @param before the resolved config of the run that is resumed, if any
/// Throws Error(usage) at the place in the config for variants that the provider does not know.
std::optional<ExpandedDocument> expand(const Document& document, const Places& places,
                                       const std::filesystem::path& directory,
                                       const std::optional<Document>& before,
                                       const AskProvider& ask);

/// The resolved config: as it was written, and beside it the job. @param job of `expanded`,
/// resolved by now
Document folded(const ExpandedDocument& expanded, const Document& job);

/// Why a switch makes no difference in a variant, by its name.
using IdleSwitches = std::map<std::string, std::string>;

/// What the provider says of each of other variants of the same workload. Throws as
/// ask_catalogue(), where it refuses one of them.
std::vector<IdleSwitches> ask_about_variants(const Expansion& expansion,
                                             const nlohmann::json& workload,
                                             const std::vector<Variant>& variants,
                                             const std::string& origin, const AskProvider& ask);

/// Of a resolved config: what its provider is asked when the job is to run here.
nlohmann::json site_request(const Document& resolved);

/// `job` with what a provider's answer says of it beside the processes.
JobFacts with_answer(const JobFacts& job, const nlohmann::json& answer, const std::string& origin);

/// The facts of a resolved workload whose run did not keep them; of a kind that is not built in,
/// memduel-fl says them. Throws Error(usage) where there is none.
JobFacts facts_of_workload(const Workload& workload, const std::string& origin,
                           const AskProvider& ask = ask_program);

}  // namespace memduel
