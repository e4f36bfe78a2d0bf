// The size of a page of memory on x86-64.
#pragma once

#include <cstdint>

namespace memduel {

inline constexpr std::uint64_t kPageBytes = 4096;

}  // namespace memduel
