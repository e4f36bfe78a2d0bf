#include "support/malloc_counter.h"

#include <errno.h>
#include <malloc.h>

#include <atomic>

// glibc's own names for what this program redefines.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}

namespace {

std::atomic<std::size_t> g_allocated{0};
std::atomic<long long> g_live{0};
std::atomic<long long> g_peak{0};

void* count(void* block) {
  if (block == nullptr) return nullptr;
  const std::size_t size = malloc_usable_size(block);
  g_allocated += size;
  const long long live = g_live += static_cast<long long>(size);
  long long peak = g_peak;
  while (live > peak && !g_peak.compare_exchange_weak(peak, live)) {
  }
  return block;
}

void uncount(void* block) {
  if (block != nullptr) g_live -= static_cast<long long>(malloc_usable_size(block));
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) {
  return count(__libc_malloc(size));
}
void* calloc(std::size_t number, std::size_t size) {
  return count(__libc_calloc(number, size));
}
void* realloc(void* block, std::size_t size) {
  uncount(block);
  return count(__libc_realloc(block, size));
}
void* memalign(std::size_t alignment, std::size_t size) {
  return count(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  uncount(block);
  __libc_free(block);
}
}

namespace memduel {

MallocCounter::MallocCounter() : allocated_before_(g_allocated), live_before_(g_live) {
  g_peak = live_before_;
}
std::size_t MallocCounter::allocated() const {
  return g_allocated - allocated_before_;
}
std::size_t MallocCounter::peak() const {
  return static_cast<std::size_t>(g_peak - live_before_);
}
long long MallocCounter::live() const {
  return g_live - live_before_;
}

}  // namespace memduel
