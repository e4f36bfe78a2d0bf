#pragma once

#include <cstdint>

namespace memduel {

inline constexpr std::int64_t kMebi = std::int64_t{1} << 20;

}  // namespace memduel
