// Switch model_chunking: a model that travels and is averaged in several parts, each an exchange of
// its own, so that no party holds more than one part beside its model.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "fl/models.h"

namespace memduel {

/// "off" as absent, else the most bytes of a chunk. Throws Error(usage).
std::optional<std::size_t> choose_chunk_bytes(const nlohmann::json& value);

/// APPFL's split: names in order, as many as fit into `chunk_bytes`; a larger tensor is a chunk
/// alone. One chunk in the state's own order where nothing has to be split. The chunks' tensors
/// alias the state's.
std::vector<State> split_state(const State& state, std::optional<std::size_t> chunk_bytes);

/// The part's entries of `state`, in the part's order.
State select_entries(const State& state, const State& part);

}  // namespace memduel
