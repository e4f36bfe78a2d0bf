// The data set that APPFL's files name, and how clients share it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "laboratory/appfl/appfl_sources.h"

namespace memduel {

constexpr std::int64_t kMostClients = 256;  ///< the schema's bound

struct ImportedData {
  nlohmann::ordered_json dataset;
  std::int64_t train_samples = 0;  ///< that APPFL has, over all clients
};

/// @param model that has to read it. Throws as import_appfl does.
ImportedData import_appfl_data(AppflSources& sources, const std::string& model,
                               std::int64_t clients);

}  // namespace memduel
