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
  std::vector<std::string> applies_to;  ///< workload kinds
  /// Any whole number from here on is a value too.
  std::optional<std::int64_t> whole_numbers_from = std::nullopt;
  std::optional<std::int64_t> whole_numbers_to = std::nullopt;  ///< the last of them
};

/// A named set of switch values.
struct Preset {
  std::string name;
  std::string summary;
  std::vector<std::string> workload_kinds;
  std::map<std::string, nlohmann::json> optimizations;
};

struct Catalog {
  std::vector<Optimization> optimizations;
  std::vector<Preset> presets;
};

/// Reads a provider's optimizations and presets. Throws Error(usage) when a preset names an
/// unknown switch or value, or a field is missing.
Catalog parse_catalog(const nlohmann::json& optimizations,
                      const std::vector<nlohmann::json>& presets);

/// Every switch of `workload_kind` with its value: the original ones, then those of `preset`, then
/// `overrides`. Throws Error(usage) at `place` for an unknown preset, switch or value.
nlohmann::json resolve_optimizations(const Catalog& catalog, const std::string& workload_kind,
                                     const std::optional<std::string>& preset,
                                     const nlohmann::json& overrides, const std::string& place);

inline constexpr const char* kWhatAProviderAnswers =
    "docs/providers.md says what a provider answers";

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

/// Its name, version, optimizations and presets. Throws as AskProvider, and Error(usage) for an
/// answer that is none.
nlohmann::json ask_catalogue(const Provider& provider, const AskProvider& ask);

/// The catalogue's switches and presets, for workloads of the provider's kind.
Catalog catalog_of(const nlohmann::json& catalogue, const Provider& provider);

/// The switches and presets of all its kinds, for people. Throws as ask_catalogue().
Catalog ask_whole_catalogue(const Provider& provider, const AskProvider& ask);

/// SHA-256 by path of the files that its command names.
nlohmann::json programs_of(const Provider& provider);

/// The job: a workload of kind command, and what each arm changes of it.
/// @param request workload and arms. Throws as ask_catalogue().
nlohmann::json ask_expansion(const Provider& provider, const nlohmann::json& request,
                             const AskProvider& ask);

/// What this machine has for the job: "environment", which describes it, and "values", which stand
/// for {site:NAME} in the job. @param request workload, arms and data_dir. Throws as
/// ask_catalogue(), and Error(cannot_measure or io) for what it lacks.
nlohmann::json ask_site(const Provider& provider, const nlohmann::json& request,
                        const AskProvider& ask);

/// What a provider prints to refuse: the code, the place and the advice of its error go with it.
nlohmann::json refusal_json(const Error& error);

/// What the document said before its job took its place, and what the provider said of it.
struct Expansion {
  nlohmann::json provider;  ///< argv
  nlohmann::json workload;  ///< of the provider's kind; with every default where it has told them
  nlohmann::json arms;      ///< with every switch
  Catalog catalog;
  /// "expanded" of the resolved config: directory, programs, request_sha256, resolved_sha256,
  /// catalogue, workload, arms, and what else the provider said (docs/providers.md).
  nlohmann::json kept;
};

/// Where a document came from, for messages.
struct Origin {
  std::string file;
  std::filesystem::path directory;
  std::vector<std::string> arms;  ///< the place of each arm of the document
};

/// Puts the job in the place of `document`'s workload and arms. The provider is asked unless the
/// document, or `before`, holds its answer to the same question.
/// @param document with a "provider", otherwise valid
/// @param before the resolved config of the run that is resumed; null where none is
/// Throws Error(usage) at the place in `origin` for arms that the provider does not know.
Expansion expand(nlohmann::json& document, const Origin& origin, const nlohmann::json& before,
                 const AskProvider& ask);

/// Why a switch makes no difference in an arm, by its name.
using IdleSwitches = std::map<std::string, std::string>;

/// What the provider says of each of other arms of the same workload. @param arms each with name,
/// optimizations, env and, where it has one, allocator. Throws as ask_expansion(), where it refuses
/// one of them.
std::vector<IdleSwitches> ask_about_arms(const Expansion& expansion, const nlohmann::json& arms,
                                         const std::string& origin, const AskProvider& ask);

/// What measures the processes of a job where neither its config nor its provider says it.
nlohmann::json default_meters();

/// Of a resolved document: what a provider is asked when its job is to run here.
nlohmann::json site_request(const Expansion& expansion);

/// Who made the job of an expansion.
Provider provider_of(const Expansion& expansion);

/// The document with what it said before, and the job, resolved by now, beside it.
nlohmann::json folded(nlohmann::json document, const Expansion& expansion);

/// `job` with what a provider's answer says of it beside the processes.
JobFacts with_answer(const JobFacts& job, const nlohmann::json& answer, const std::string& origin);

/// The facts of a resolved workload whose run did not keep them; of a kind that is not built in,
/// memduel-fl says them. Throws Error(usage) where there is none.
JobFacts facts_of_workload(const nlohmann::json& workload, const std::string& origin,
                           const AskProvider& ask = ask_program);

/// A workload that stands for the provider's while the rest of the config is judged by the schema.
nlohmann::json workload_to_be();

}  // namespace memduel
