#include "memory/heap_cleanup.h"

#include <sys/types.h>

#include "memory/jemalloc_control.h"
#include "memory/loaded_symbol.h"

namespace memduel {
namespace {

/// jemalloc's word for all arenas (MALLCTL_ARENAS_ALL of jemalloc 5).
constexpr const char* kPurgeAllArenas = "arena.4096.purge";

HeapOutcome clean_glibc_up() {
  HeapOutcome outcome{HeapAction::trimmed, try_malloc_trim(), {}};
  if (!outcome.trim_result) outcome = {HeapAction::not_possible, {}, "malloc_trim is not there"};
  return outcome;
}

HeapOutcome clean_jemalloc_up(HeapCleanup how) {
  const Mallctl mallctl = jemalloc_control();
  if (how == HeapCleanup::purge) {
    // What the calling thread keeps for itself is not in an arena.
    mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
    if (mallctl(kPurgeAllArenas, nullptr, nullptr, nullptr, 0) == 0)
      return {HeapAction::purged, {}, {}};
    return {HeapAction::not_possible, {}, "jemalloc refused to purge its arenas"};
  }
  HeapOutcome outcome{HeapAction::left_to_decay, {}, {}};
  if (read_control<ssize_t>(mallctl, "arenas.dirty_decay_ms").value_or(0) < 0)
    outcome.note = "jemalloc's decay is off (dirty_decay_ms:-1): it gives nothing back by itself";
  return outcome;
}

HeapOutcome clean_tcmalloc_up(HeapCleanup how) {
  const auto give_thread_cache_up =
      loaded_symbol<void (*)()>("MallocExtension_MarkThreadTemporarilyIdle");
  if (how == HeapCleanup::purge && give_thread_cache_up != nullptr) give_thread_cache_up();
  const auto release = loaded_symbol<void (*)()>("MallocExtension_ReleaseFreeMemory");
  if (release == nullptr)
    return {HeapAction::not_possible, {}, "this tcmalloc has no MallocExtension_ReleaseFreeMemory"};
  release();
  return {HeapAction::released, {}, {}};
}

HeapOutcome clean_mimalloc_up() {
  const auto collect = loaded_symbol<void (*)(bool)>("mi_collect");
  if (collect == nullptr) return {HeapAction::not_possible, {}, "this mimalloc has no mi_collect"};
  collect(/*force=*/true);
  return {HeapAction::collected, {}, {}};
}

}  // namespace

std::optional<int> try_malloc_trim() noexcept {
  if (allocator_type() != Allocator::glibc) return std::nullopt;
  const auto trim = loaded_symbol<int (*)(std::size_t)>("malloc_trim");
  if (trim == nullptr) return std::nullopt;
  return trim(0);
}

HeapOutcome clean_heap_up(HeapCleanup how) {
  if (how == HeapCleanup::none) return {};
  switch (allocator_type()) {
    case Allocator::glibc:
      return clean_glibc_up();
    case Allocator::jemalloc:
      return clean_jemalloc_up(how);
    case Allocator::tcmalloc:
      return clean_tcmalloc_up(how);
    case Allocator::mimalloc:
      return clean_mimalloc_up();
    case Allocator::unknown:
      break;
  }
  return {HeapAction::not_possible,
          {},
          "none of glibc, jemalloc, tcmalloc and mimalloc serves malloc here: nothing can be "
          "given back"};
}

}  // namespace memduel
