// Which allocator serves this process's malloc and what it says of itself: found among the symbols
// that are loaded, nothing is linked. Link memduel::memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace memduel {

enum class Allocator { unknown, glibc, jemalloc, tcmalloc, mimalloc };

inline constexpr std::array<std::pair<Allocator, std::string_view>, 4> kAllocatorNames = {
    {{Allocator::glibc, "glibc"},
     {Allocator::jemalloc, "jemalloc"},
     {Allocator::tcmalloc, "tcmalloc"},
     {Allocator::mimalloc, "mimalloc"}}};

/// One of kAllocatorNames, or "unknown".
const char* name_of(Allocator allocator);

/// Which library malloc comes from, through a recorder that stands in front of it. A library whose
/// symbols are there but whose malloc is not used does not count; a program that brings its own
/// malloc is unknown, and so is every program on a system without glibc's dynamic linker. The
/// answer of the first call is kept: it cannot change while a process runs.
Allocator allocator_type() noexcept;

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
             {"heap_free_bytes", held_free},
             {"allocator_committed_bytes", committed},
             {"allocator_active_bytes", active},
             {"allocator_resident_bytes", resident},
             {"allocator_retained_bytes", retained},
             {"allocator_arena_count", arenas}}};
  }
};

/// Of allocator_type(). Safe beside threads that allocate.
AllocatorState allocator_state();

}  // namespace memduel
