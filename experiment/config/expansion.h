// A config whose workload is of a provider's kind, as the job that the provider makes of it, and
// back: the resolved config keeps both, so that nobody who reads a run needs the provider.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "experiment/config/catalog.h"

namespace memduel {

/// What the document said before its job took its place, and what the provider said of it.
struct Expansion {
  nlohmann::json provider;  ///< argv
  nlohmann::json workload;  ///< of the provider's kind
  nlohmann::json arms;      ///< with every switch
  Catalog catalog;
  /// "expanded" of the resolved config: directory, programs, request_sha256, catalogue, workload,
  /// arms, and default_gates and held_models where the provider gave any.
  nlohmann::json kept;
};

/// Puts the job in the place of `document`'s workload and arms. The provider is asked unless the
/// document, or `before`, holds its answer to the same question.
/// @param document with a "provider", otherwise valid
/// @param before the resolved config of the run that is resumed; null where none is
/// Throws Error(usage) at the place in `origin` for arms that the provider does not know.
Expansion expand(nlohmann::json& document, const std::string& origin,
                 const std::filesystem::path& directory, const nlohmann::json& before);

/// The document with what it said before, and the job, resolved by now, beside it.
nlohmann::json folded(nlohmann::json document, const Expansion& expansion);

/// A workload that stands for the provider's while the rest of the config is judged by the schema.
nlohmann::json workload_to_be();

}  // namespace memduel
