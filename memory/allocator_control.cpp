// What each allocator can be asked for: to give memory back, and to make few arenas.

#include "allocator_control.h"

#include <malloc.h>
#include <sys/types.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "loaded_allocator.h"
#include "memduel/memory.h"
#include "memory/proc_files.h"

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

namespace {

constexpr const char* kVariable = "MALLOC_ARENA_MAX";

/// Of limit_arenas; 0: it was not called, or not heard.
std::atomic<int> limit_of_call{0};

std::optional<int> count_from(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

std::string why_not_heard(Allocator allocator) {
  switch (allocator) {
    case Allocator::jemalloc:
      return "jemalloc has arenas of its own: narenas in MALLOC_CONF limits them, at the start";
    case Allocator::tcmalloc:
    case Allocator::mimalloc:
      return std::string(name_of(allocator)) + " has no arenas to limit";
    case Allocator::glibc:
    case Allocator::unknown:
      break;
  }
  return "glibc does not serve malloc here: there are no arenas to limit";
}

/// The limit that was there from the start, with a note where what the environment says is not it.
void take_limit_of_environment(ArenaUse& use) {
  // As it was when the program started: malloc does not hear of it later.
  const auto at_start = environment_of(kSelf, kVariable);
  if (at_start) {
    use.limit = count_from(*at_start);
    if (!use.limit)
      use.note = std::string(kVariable) + "=" + *at_start + " is not a whole number from 1";
  }
  const char* now = std::getenv(kVariable);
  if (now != nullptr && at_start != now)
    use.note = std::string(kVariable) +
               " was set after the program had started, which glibc does not hear: set it before, "
               "or call limit_arenas";
}

ArenaUse use_of_glibc() {
  ArenaUse use;
  use.made = allocator_state().arenas;
  if (const int most = limit_of_call.load(); most > 0)
    use.limit = most;
  else
    take_limit_of_environment(use);
  if (use.limit && use.made && *use.made > *use.limit)
    use.note = std::to_string(*use.made) + " arenas exist, more than the limit of " +
               std::to_string(*use.limit) + ": those made before it was set stay";
  if (!use.limit && use.note.empty()) use.note = "no limit is set";
  return use;
}

}  // namespace

ArenaUse limit_arenas(int most) {
  if (most < 1)
    throw std::invalid_argument("limit_arenas: expected a number of arenas from 1, found " +
                                std::to_string(most));
#ifdef __GLIBC__
  if (allocator_type() == Allocator::glibc && mallopt(M_ARENA_MAX, most) == 1) limit_of_call = most;
#endif
  return arena_use();
}

ArenaUse arena_use() noexcept {
  try {
    if (allocator_type() == Allocator::glibc) return use_of_glibc();
    ArenaUse use;
    use.note = why_not_heard(allocator_type());
    return use;
  } catch (...) {  // no memory for a text
    return {};
  }
}

}  // namespace memduel
