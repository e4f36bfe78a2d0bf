#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "loaded_allocator.h"
#include "memduel/allocator.h"
#include "memory/proc_files.h"

namespace memduel {
namespace {

using Bytes = std::optional<std::int64_t>;

// --- glibc ------------------------------------------------------------------------------------

#ifdef __GLIBC__

/// Counts "<heap nr=" in what malloc_info writes, one element per arena. Pieces end anywhere.
struct ArenaCounter {
  static constexpr char kWord[] = "<heap nr=";
  std::int64_t count = 0;
  std::size_t matched = 0;
};

ssize_t count_arenas(void* cookie, const char* text, std::size_t size) {
  auto& counter = *static_cast<ArenaCounter*>(cookie);
  for (std::size_t i = 0; i < size; ++i) {
    // The word's first letter is nowhere else in it, so that a mismatch starts anew.
    if (text[i] != ArenaCounter::kWord[counter.matched]) counter.matched = 0;
    if (text[i] == ArenaCounter::kWord[counter.matched]) ++counter.matched;
    if (ArenaCounter::kWord[counter.matched] != '\0') continue;
    ++counter.count;
    counter.matched = 0;
  }
  return static_cast<ssize_t>(size);
}

Bytes glibc_arenas() {
  ArenaCounter counter;
  FILE* stream = fopencookie(&counter, "w", {nullptr, count_arenas, nullptr, nullptr});
  if (stream == nullptr) return std::nullopt;
  std::array<char, 512> buffer{};  // else stdio would allocate one on the heap that is looked at
  setvbuf(stream, buffer.data(), _IOFBF, buffer.size());
  const int failed = malloc_info(0, stream);
  std::fclose(stream);
  return failed == 0 ? Bytes(counter.count) : std::nullopt;
}

AllocatorState glibc_state() {
  const struct mallinfo2 info = mallinfo2();
  AllocatorState state;
  state.in_use = static_cast<std::int64_t>(info.uordblks + info.hblkhd);
  state.held_free = static_cast<std::int64_t>(info.fordblks);
  state.committed = static_cast<std::int64_t>(info.arena + info.hblkhd);
  state.arenas = glibc_arenas();
  return state;
}

#else

AllocatorState glibc_state() {
  return {};
}

#endif

// --- jemalloc ---------------------------------------------------------------------------------

Bytes jemalloc_bytes(Mallctl mallctl, const char* name) {
  const auto value = read_control<std::size_t>(mallctl, name);
  return value ? Bytes(static_cast<std::int64_t>(*value)) : std::nullopt;
}

/// narenas is how many there may be; most are only made when a thread needs them.
Bytes jemalloc_arenas(Mallctl mallctl) {
  const auto most = read_control<unsigned>(mallctl, "arenas.narenas");
  if (!most) return std::nullopt;
  std::int64_t made = 0;
  for (unsigned i = 0; i < *most; ++i) {
    std::array<char, 40> name{};
    std::snprintf(name.data(), name.size(), "arena.%u.initialized", i);
    if (read_control<bool>(mallctl, name.data()).value_or(false)) ++made;
  }
  return made;
}

AllocatorState jemalloc_state() {
  const auto mallctl = jemalloc_control();
  // Its numbers stand still until the epoch is advanced.
  std::uint64_t epoch = 1;
  if (mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch) != 0) return {};
  AllocatorState state;
  state.in_use = jemalloc_bytes(mallctl, "stats.allocated");
  state.active = jemalloc_bytes(mallctl, "stats.active");
  state.resident = jemalloc_bytes(mallctl, "stats.resident");
  state.retained = jemalloc_bytes(mallctl, "stats.retained");
  const Bytes records = jemalloc_bytes(mallctl, "stats.metadata");
  if (state.resident && state.in_use && records) {
    // The three are not read at one moment, and records are counted before they are touched.
    state.held_free = std::max<std::int64_t>(0, *state.resident - *records - *state.in_use);
  }
  state.arenas = jemalloc_arenas(mallctl);
  return state;
}

// --- tcmalloc ---------------------------------------------------------------------------------

Bytes tcmalloc_bytes(const char* name) {
  static const auto read =
      loaded_symbol<int (*)(const char*, std::size_t*)>("MallocExtension_GetNumericProperty");
  std::size_t value = 0;
  return read(name, &value) != 0 ? Bytes(static_cast<std::int64_t>(value)) : std::nullopt;
}

AllocatorState tcmalloc_state() {
  AllocatorState state;
  state.in_use = tcmalloc_bytes("generic.current_allocated_bytes");
  state.resident = tcmalloc_bytes("generic.total_physical_bytes");
  state.retained = tcmalloc_bytes("tcmalloc.pageheap_unmapped_bytes");
  const Bytes addresses = tcmalloc_bytes("generic.heap_size");
  const Bytes free_pages = tcmalloc_bytes("tcmalloc.pageheap_free_bytes");
  if (!addresses || !state.retained) return state;
  state.committed = *addresses - *state.retained;
  if (free_pages) state.active = *state.committed - *free_pages;
  // Read one after the other, while other threads go on.
  if (state.in_use) state.held_free = std::max<std::int64_t>(0, *state.committed - *state.in_use);
  return state;
}

// --- mimalloc ---------------------------------------------------------------------------------

/// mi_heap_area_t of mimalloc 2.
struct HeapArea {
  void* blocks;
  std::size_t reserved;
  std::size_t committed;
  std::size_t used;  ///< a number of blocks
  std::size_t block_size;
};
using AreaVisitor = bool (*)(const void*, const HeapArea*, void*, std::size_t, void*);

bool add_area(const void* /*heap*/, const HeapArea* area, void* /*block*/, std::size_t /*size*/,
              void* sum) {
  *static_cast<std::size_t*>(sum) += area->used * area->block_size;
  return true;
}

/// Looks for "-abandoned:" with a peak other than 0 in what mi_stats_print_out writes, in whatever
/// pieces.
struct AbandonedSearch {
  std::array<char, 160> line{};
  std::size_t length = 0;
  bool known = false;
  bool some = false;
};

void look_for_abandoned(const char* text, void* argument) {
  auto& search = *static_cast<AbandonedSearch*>(argument);
  for (; *text != '\0'; ++text) {
    if (*text != '\n') {
      if (search.length + 1 < search.line.size()) search.line[search.length++] = *text;
      continue;
    }
    search.line[search.length] = '\0';
    search.length = 0;
    const char* found = std::strstr(search.line.data(), "-abandoned:");
    if (found == nullptr) continue;
    search.known = true;
    search.some = search.some || std::strtod(found + std::strlen("-abandoned:"), nullptr) != 0;
  }
}

/// Whether all blocks are in the heap of the thread that asks. What a thread leaves when it ends
/// belongs to none, and no function of mimalloc 2 goes through it.
bool one_heap_has_all() {
  if (threads_of(kSelf).size() != 1) return false;
  const auto print =
      loaded_symbol<void (*)(void (*)(const char*, void*), void*)>("mi_stats_print_out");
  if (print == nullptr) return false;
  AbandonedSearch search;
  print(look_for_abandoned, &search);
  return search.known && !search.some;
}

AllocatorState mimalloc_state() {
  AllocatorState state;
  const auto process_info =
      loaded_symbol<void (*)(std::size_t*, std::size_t*, std::size_t*, std::size_t*, std::size_t*,
                             std::size_t*, std::size_t*, std::size_t*)>("mi_process_info");
  std::size_t committed = 0;
  // On Linux its current_rss is a copy of this one.
  process_info(nullptr, nullptr, nullptr, nullptr, nullptr, &committed, nullptr, nullptr);
  state.committed = static_cast<std::int64_t>(committed);
  const auto visit =
      loaded_symbol<bool (*)(const void*, bool, AreaVisitor, void*)>("mi_heap_visit_blocks");
  const auto own_heap = loaded_symbol<void* (*)()>("mi_heap_get_default");
  if (visit == nullptr || own_heap == nullptr || !one_heap_has_all()) return state;
  std::size_t used = 0;
  if (visit(own_heap(), false, add_area, &used)) state.in_use = static_cast<std::int64_t>(used);
  return state;
}

}  // namespace

AllocatorState allocator_state() {
  switch (allocator_type()) {
    case Allocator::glibc:
      return glibc_state();
    case Allocator::jemalloc:
      return jemalloc_state();
    case Allocator::tcmalloc:
      return tcmalloc_state();
    case Allocator::mimalloc:
      return mimalloc_state();
    case Allocator::unknown:
      break;
  }
  return {};
}

}  // namespace memduel
