// The model that APPFL's files name, as one of memduel's.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "laboratory/appfl/appfl_sources.h"

namespace memduel {

/// A network to train. Throws as import_appfl does.
std::string import_appfl_network(AppflSources& sources);

/// `model` and, where it has to be scaled, `state_bytes` of a state that is only carried: a
/// language model's table of shapes, or a network's. Throws as import_appfl does.
nlohmann::ordered_json import_appfl_state(AppflSources& sources);

}  // namespace memduel
