// A program that turns experiments of its own kinds into jobs: "provider" in a config. memduel adds
// one word to its command and reads JSON from it; docs/providers.md has both answers in full.
//
//   PROVIDER catalogue   what may be switched
//   PROVIDER expand      a job for a workload and its arms, which it reads from standard input
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/config/catalog.h"

namespace memduel {

struct Provider {
  std::vector<std::string> argv;
  std::filesystem::path directory;  ///< in which it runs
  std::string kind;                 ///< of workload that it is asked for
};

/// Its name, version, optimizations and presets. Throws Error(usage) in its own words where it ends
/// with another status than 0, or says something else than a catalogue; Error(io) where it cannot
/// be started, Error(cannot_measure) where it is not done in time.
nlohmann::json ask_catalogue(const Provider& provider);

/// The catalogue's switches and presets, for workloads of the provider's kind.
Catalog catalog_of(const nlohmann::json& catalogue, const Provider& provider);

/// SHA-256 by path of the files that its command names.
nlohmann::json programs_of(const Provider& provider);

/// The job: a workload of kind command, and what each arm changes of it.
/// @param request workload and arms. Throws as ask_catalogue().
nlohmann::json ask_expansion(const Provider& provider, const nlohmann::json& request);

}  // namespace memduel
