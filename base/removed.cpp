#include "base/removed.h"

#include <algorithm>
#include <array>

namespace memduel {
namespace {

struct Removed {
  std::string_view word;
  std::string_view instead;
};

constexpr std::string_view kAbsoluteGate =
    "it was removed: give an absolute gate, --gate 'ROLE.METRIC<=900MiB'";
constexpr std::string_view kOtherProfilers =
    "it was removed: use recorder, heaptrack, gperftools or jemalloc";

constexpr std::array kRemoved = {
    Removed{"import-appfl", "it was removed: write the job as docs/appfl.md says"},
    Removed{"--budgets", kAbsoluteGate},
    Removed{"--write-budgets", kAbsoluteGate},
    Removed{"--retry-on-regress", "it was removed: measure more blocks, --repeats N"},
    Removed{"massif", kOtherProfilers},
    Removed{"gperftools-cpu", "it was removed: memduel measures memory; perf records CPU time"},
    Removed{"speedscope", "it was removed: speedscope.app opens pprof and folded"},
};

}  // namespace

std::optional<std::string_view> replacement_for(std::string_view word) {
  const auto* const found = std::ranges::find(kRemoved, word, &Removed::word);
  if (found == kRemoved.end()) return std::nullopt;
  return found->instead;
}

}  // namespace memduel
