// A program that turns experiments of its own kinds into jobs: "provider" in a config. memduel adds
// one word to its command and reads JSON from it; docs/providers.md has the answers in full.
//
//   PROVIDER catalogue   what may be switched
//   PROVIDER expand      a job for a workload and its arms, which it reads from standard input
//   PROVIDER site        what this machine has for that job; asked where the catalogue says so
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/config/catalog.h"

namespace memduel {

inline constexpr const char* kWhatAProviderAnswers =
    "docs/providers.md says what a provider answers";

/// Has the kinds of workload that are neither `command` nor a named provider's.
inline constexpr const char* kDefaultProvider = "memduel-laboratory";
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

}  // namespace memduel
