// What glibc's allocator says about itself.
#pragma once

#include <cstdint>
#include <optional>

namespace memduel {

struct HeapBytes {
  std::int64_t in_use = 0;     ///< handed out: in arenas and mapped
  std::int64_t held_free = 0;  ///< freed, but kept from the kernel
};

/// Over all arenas (mallinfo2). Absent with another allocator or C library.
std::optional<HeapBytes> heap_bytes();

}  // namespace memduel
