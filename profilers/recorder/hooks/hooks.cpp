#include "hooks.h"

#include <cerrno>
#include <cstdlib>

#include "account.h"
#include "allocator_call.h"
#include "blocks.h"
#include "counters.h"

namespace memduel::recorder {

namespace {

// ---- early: the next allocator is being looked for -------------------------------------------

bool resolving = false;

void* first_malloc(std::size_t size) {
  if (resolving) return early_malloc(size);
  leave_early();
  return hooks.malloc(size);
}

void* first_calloc(std::size_t count, std::size_t size) {
  if (resolving) return early_calloc(count, size);
  leave_early();
  return hooks.calloc(count, size);
}

void* first_realloc(void* old, std::size_t size) {
  if (resolving) return early_realloc(old, size);
  leave_early();
  return hooks.realloc(old, size);
}

void first_free(void* block) {
  if (resolving) return early_free(block);
  leave_early();
  hooks.free(block);
}

// ---- fast: glibc's chunks, count and sampled mode; malloc itself is in fast_malloc.cpp ---------

/// Exact mode's free, and the rare one of a block that may be a sample.
[[gnu::noinline]] void exact_free(void* block) {
  if (block == nullptr) return;
  note_death(block);
  account_free(glibc_chunk_bytes(block));
  next.free(block);
}

void fast_free(void* block) {
  if (__builtin_expect(may_be_sample(block), 0)) return exact_free(block);
  account_free(glibc_chunk_bytes(block));
  next.free(block);
}

void count_free(void* block) {
  if (block == nullptr) return;
  account_free(glibc_chunk_bytes(block));
  next.free(block);
}

void* fast_calloc(std::size_t count, std::size_t size) {
  void* block = next.calloc(count, size);  // nullptr when the product overflows
  if (block == nullptr) return nullptr;
  return account_allocation(block, count * size, glibc_chunk_bytes(block));
}

// The old block leaves before the call, because another thread may get its address inside it, and
// comes back where the call fails.
void* fast_realloc(void* old, std::size_t size) {
  if (old == nullptr) return fast_malloc(size);
  const std::int64_t old_bytes = glibc_chunk_bytes(old);
  const bool traced = may_be_sample(old) && note_death(old);
  account_free(old_bytes);
  void* block = next.realloc(old, size);
  if (block != nullptr) {
    account_allocation(block, size, glibc_chunk_bytes(block));
  } else if (size != 0) {
    tls.room -= old_bytes;
    if (traced) note_revival(old);
  }
  return block;
}

void* no_block(std::size_t /*size*/) {
  return nullptr;
}

// ---- exact: glibc's chunks, every block with its stack ----------------------------------------

}  // namespace

void* exact_malloc(std::size_t size) {
  void* block = next.malloc(size);
  if (block == nullptr) return nullptr;
  return account_exactly(block, size, glibc_chunk_bytes(block), __builtin_frame_address(0));
}

namespace {

void* exact_calloc(std::size_t count, std::size_t size) {
  void* block = next.calloc(count, size);
  if (block == nullptr) return nullptr;
  return account_exactly(block, count * size, glibc_chunk_bytes(block), __builtin_frame_address(0));
}

void* exact_realloc(void* old, std::size_t size) {
  if (old == nullptr) return exact_malloc(size);
  const std::int64_t old_bytes = glibc_chunk_bytes(old);
  const bool traced = note_death(old);
  account_free(old_bytes);
  void* block = next.realloc(old, size);
  if (block != nullptr) {
    return account_exactly(block, size, glibc_chunk_bytes(block), __builtin_frame_address(0));
  }
  if (size != 0) {
    tls.room -= old_bytes;
    if (traced) note_revival(old);
  }
  return nullptr;
}

// ---- full: any allocator, every mode ----------------------------------------------------------

void* full_malloc(std::size_t size) {
  const void* frame = __builtin_frame_address(0);
  if (inside_allocator(frame)) return next.malloc(size);
  const Born born = call_allocator(frame, [&] { return next.malloc(size); });
  return account_born(born, size, frame);
}

void full_free(void* block) {
  if (block == nullptr) return;
  if (take_early_block(block)) return __libc_free(block);
  const void* frame = __builtin_frame_address(0);
  if (inside_allocator(frame)) return next.free(block);
  account_death(block, frame);
  const AllocatorCall call(frame);
  next.free(block);
}

void* full_calloc(std::size_t count, std::size_t size) {
  const void* frame = __builtin_frame_address(0);
  if (inside_allocator(frame)) return next.calloc(count, size);
  const Born born = call_allocator(frame, [&] { return next.calloc(count, size); });
  return account_born(born, count * size, frame);
}

void* full_realloc(void* old, std::size_t size) {
  if (old == nullptr) return full_malloc(size);
  if (is_early_block(old)) return early_realloc(old, size);
  const void* frame = __builtin_frame_address(0);
  if (inside_allocator(frame)) return next.realloc(old, size);
  const std::int64_t old_bytes = bytes_of(old, frame);
  const bool traced = may_be_traced(old) && note_death(old);
  account_free(old_bytes);
  const Born born = call_allocator(frame, [&] { return next.realloc(old, size); });
  if (born.block == nullptr && size != 0) {
    tls.room -= old_bytes;
    if (traced) note_revival(old);
  }
  return account_born(born, size, frame);
}

void set_hooks(const Hooks& wanted) {
  hooks = wanted;
  if (wanted.malloc == fast_malloc) {
    malloc_path = {next.malloc, no_block};
  } else {
    malloc_path = {no_block, wanted.malloc};
  }
}

bool probed = false;

void* probe_malloc(std::size_t size) {
  probed = true;
  return next.malloc(size);
}

// libstdc++'s operator new calls malloc and needs no hook of its own; jemalloc's, tcmalloc's and
// mimalloc's do not.
bool probe_new() {
  auto* make = reinterpret_cast<void* (*)(std::size_t)>(next.new_forms_[new_plain]);
  auto* remove = reinterpret_cast<void (*)(void*)>(next.delete_forms_[delete_plain]);
  if (make == nullptr || remove == nullptr) return false;
  const Hooks before = hooks;
  set_hooks({probe_malloc, next.free, before.calloc, before.realloc});
  remove(make(1));
  set_hooks(before);
  return probed;
}

}  // namespace

Hooks hooks = {first_malloc, first_free, first_calloc, first_realloc};
MallocPath malloc_path = {no_block, first_malloc};

void leave_early() {
  if (hooks.malloc != first_malloc || resolving) return;
  resolving = true;
  resolve_next();
  next.new_calls_malloc = probe_new();
  next.new_is_libstdcxx = next.new_is_libstdcxx && next.new_calls_malloc;
  if (!make_filter()) next.glibc = false;
  install_recording();
  resolving = false;
}

void install_recording() {
  if (!next.glibc) {
    set_hooks({full_malloc, full_free, full_calloc, full_realloc});
  } else if (records_all()) {
    set_hooks({exact_malloc, exact_free, exact_calloc, exact_realloc});
  } else {
    set_hooks({fast_malloc, settings.mode == Mode::sampled ? fast_free : count_free, fast_calloc,
               fast_realloc});
  }
  install_new(true);
}

void install_off() {
  set_hooks({next.malloc, next.free, next.calloc, next.realloc});
  install_new(false);
}

}  // namespace memduel::recorder

using memduel::recorder::hooks;
using memduel::recorder::next;

#define MEMDUEL_EXPORT extern "C" __attribute__((visibility("default")))

MEMDUEL_EXPORT void free(void* block) {
  hooks.free(block);
}
MEMDUEL_EXPORT void* calloc(std::size_t count, std::size_t size) {
  return hooks.calloc(count, size);
}
MEMDUEL_EXPORT void* realloc(void* old, std::size_t size) {
  return hooks.realloc(old, size);
}

MEMDUEL_EXPORT void* reallocarray(void* old, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return hooks.realloc(old, bytes);
}

namespace memduel::recorder {
namespace {

bool counting() {
  return hooks.malloc != next.malloc;
}

// The aligned forms are rare enough for a test on each call. A form that the allocator's library
// does not have comes from libc, whose blocks are not this allocator's: passed on uncounted.
template <class Function>
bool counts(Function function, const void* frame) {
  const auto at = reinterpret_cast<std::uintptr_t>(function);
  return counting() && at >= next.module_begin && at < next.module_end && !inside_allocator(frame);
}

template <class Call>
[[gnu::always_inline]] inline void* allocate_aligned(Call call, std::size_t size,
                                                     const void* frame) {
  return account_born(call_allocator(frame, call), size, frame);
}

}  // namespace
}  // namespace memduel::recorder

using memduel::recorder::allocate_aligned;
using memduel::recorder::counts;
using memduel::recorder::leave_early;

MEMDUEL_EXPORT int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  leave_early();
  const void* frame = __builtin_frame_address(0);
  if (!counts(next.posix_memalign, frame)) return next.posix_memalign(result, alignment, size);
  int status = 0;
  allocate_aligned(
      [&]() -> void* {
        status = next.posix_memalign(result, alignment, size);
        return status == 0 ? *result : nullptr;
      },
      size, frame);
  return status;
}

MEMDUEL_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) {
  leave_early();
  const void* frame = __builtin_frame_address(0);
  if (!counts(next.aligned_alloc, frame)) return next.aligned_alloc(alignment, size);
  return allocate_aligned([&] { return next.aligned_alloc(alignment, size); }, size, frame);
}

MEMDUEL_EXPORT void* memalign(std::size_t alignment, std::size_t size) {
  leave_early();
  const void* frame = __builtin_frame_address(0);
  if (!counts(next.memalign, frame)) return next.memalign(alignment, size);
  return allocate_aligned([&] { return next.memalign(alignment, size); }, size, frame);
}

MEMDUEL_EXPORT void* valloc(std::size_t size) {
  leave_early();
  const void* frame = __builtin_frame_address(0);
  if (!counts(next.valloc, frame)) return next.valloc(size);
  return allocate_aligned([&] { return next.valloc(size); }, size, frame);
}

MEMDUEL_EXPORT void* pvalloc(std::size_t size) {
  leave_early();
  const void* frame = __builtin_frame_address(0);
  if (!counts(next.pvalloc, frame)) return next.pvalloc(size);
  return allocate_aligned([&] { return next.pvalloc(size); }, size, frame);
}
