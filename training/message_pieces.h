// A message of a replay travels in pieces of switch piece_bytes.
#pragma once

#include <cstdint>

namespace memduel {

/// What a piece adds to its bytes: a DataBuffer's tag and length.
inline constexpr std::int64_t kPieceOverheadBytes = 16;

}  // namespace memduel
