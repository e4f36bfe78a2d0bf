#include "system.h"

namespace memduel::recorder {

namespace {

// Tables that double, a filter, a page: a few at a time.
constexpr std::size_t kMost = 128;

struct OwnRange {
  std::uintptr_t at;  // 0: free
  std::size_t bytes;
};
OwnRange own[kMost];

}  // namespace

void note_own_range(void* at, std::size_t bytes) {
  for (OwnRange& range : own) {
    std::uintptr_t none = 0;
    if (!__atomic_compare_exchange_n(&range.at, &none, reinterpret_cast<std::uintptr_t>(at), false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      continue;
    __atomic_store_n(&range.bytes, bytes, __ATOMIC_RELAXED);
    return;
  }
}

void forget_own_range(const void* at) {
  for (OwnRange& range : own) {
    std::uintptr_t released = reinterpret_cast<std::uintptr_t>(at);
    if (__atomic_compare_exchange_n(&range.at, &released, std::uintptr_t{0}, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}

void visit_own_ranges(void (*visit)(std::uintptr_t at, std::size_t bytes)) {
  for (const OwnRange& range : own)
    if (range.at != 0) visit(range.at, range.bytes);
}

}  // namespace memduel::recorder
