// Calls into an allocator that may call itself through the dynamic linker: jemalloc's operator new,
// tcmalloc's malloc_usable_size (which allocates on its first call).
#pragma once

#include "account.h"
#include "blocks.h"
#include "counters.h"
#include "next.h"
#include "snapshot.h"

namespace memduel::recorder {

/// Nested calls are not counted while this lives. An exception that leaves the allocator goes past
/// the destructor; see inside_allocator.
class AllocatorCall {
 public:
  explicit AllocatorCall(const void* frame) { tls.guard = reinterpret_cast<std::uintptr_t>(frame); }
  ~AllocatorCall() { tls.guard = 0; }
  AllocatorCall(const AllocatorCall&) = delete;
  AllocatorCall& operator=(const AllocatorCall&) = delete;
};

struct Born {
  void* block;
  std::int64_t bytes;
};

template <class Call>
[[gnu::always_inline]] inline Born call_allocator(const void* frame, Call allocate) {
  const AllocatorCall call(frame);
  void* block = allocate();
  return {block, block == nullptr ? 0 : block_bytes(block)};
}

[[gnu::always_inline]] inline void* account_born(const Born& born, std::size_t requested,
                                                 const void* frame) {
  if (born.block == nullptr) return nullptr;
  if (records_all()) {
    return account_exactly(born.block, requested, born.bytes, frame);
  }
  return account_allocation(born.block, requested, born.bytes);
}

[[gnu::always_inline]] inline std::int64_t bytes_of(void* block, const void* frame) {
  const AllocatorCall call(frame);
  return block_bytes(block);
}

inline bool may_be_traced(const void* block) {
  return records_all() || may_be_sample(block);
}

[[gnu::always_inline]] inline void account_death(void* block, const void* frame) {
  if (may_be_traced(block)) note_death(block);
  account_free(bytes_of(block, frame));
}

}  // namespace memduel::recorder
