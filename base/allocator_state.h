// What the allocator of this process says about itself, through the functions that it exports:
// found among the loaded symbols, never linked. Needs libc alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace memduel {

/// Bytes, over all threads and arenas. What an allocator does not say is absent; docs/allocators.md
/// has the source of each number.
struct AllocatorState {
  std::optional<std::int64_t> in_use;  ///< blocks handed out, as large as the allocator made them
  std::optional<std::int64_t> held_free;  ///< in memory, not handed out, and not its own records
  std::optional<std::int64_t>
      committed;                         ///< had from the system and not given back, touched or not
  std::optional<std::int64_t> active;    ///< pages with at least one block that is handed out
  std::optional<std::int64_t> resident;  ///< pages in memory, with its own records
  std::optional<std::int64_t> retained;  ///< addresses kept whose memory went back to the system
  std::optional<std::int64_t> arenas;    ///< a count

  using Named = std::array<std::pair<const char*, std::optional<std::int64_t>>, 7>;
  /// The metrics that hold them, by name.
  [[nodiscard]] Named metrics() const {
    return {{{"heap_in_use_bytes", in_use},
             {"heap_held_free_bytes", held_free},
             {"allocator_committed_bytes", committed},
             {"allocator_active_bytes", active},
             {"allocator_resident_bytes", resident},
             {"allocator_retained_bytes", retained},
             {"allocator_arena_count", arenas}}};
  }
};

/// Of loaded_allocator(). Safe beside threads that allocate.
AllocatorState allocator_state();

}  // namespace memduel
