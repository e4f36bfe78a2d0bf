#include <malloc.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "memduel/memory.h"
#include "memory/text_file.h"

namespace memduel {
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

/// As it was when the program started: malloc does not hear of it later.
std::optional<std::string> variable_at_start() {
  const std::string environment = text_of("/proc/self/environ");
  const std::string key = std::string(kVariable) + "=";
  for (std::size_t at = 0; at < environment.size(); at = environment.find('\0', at) + 1) {
    const std::string_view entry = environment.c_str() + at;
    if (entry.starts_with(key)) return std::string(entry.substr(key.size()));
    if (environment.find('\0', at) == std::string::npos) break;
  }
  return std::nullopt;
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
  const auto at_start = variable_at_start();
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
    throw std::invalid_argument("limit_arenas: found " + std::to_string(most) +
                                ", expected a number of arenas from 1");
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
