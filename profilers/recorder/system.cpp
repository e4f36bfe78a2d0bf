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

bool always = true;
bool* wiped_on_fork = nullptr;

}  // namespace

const volatile bool* recorded_process = &always;

void note_recorded_process() {
  constexpr std::size_t kPage = 4096;
  if (wiped_on_fork == nullptr) {
    void* at = own_memory(kPage);
    if (at == nullptr) return;
    if (raw_syscall(SYS_madvise, reinterpret_cast<long>(at), kPage, MADV_WIPEONFORK) != 0)
      return release_memory(at, kPage);
    wiped_on_fork = static_cast<bool*>(at);
  }
  *wiped_on_fork = true;
  recorded_process = wiped_on_fork;
}

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
