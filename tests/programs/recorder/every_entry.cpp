// Calls every allocation entry point inside round 1 and prints what a bookkeeper saw:
// `allocations requested peak live`, in block bytes where the block's size matters.
#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "memduel/annotate.h"

namespace {

long allocations = 0;
long requested = 0;
long live = 0;
long peak = 0;
bool glibc = true;

long block_bytes(void* block) {
  const long usable = static_cast<long>(malloc_usable_size(block));
  if (!glibc) return usable;
  const auto header = static_cast<std::size_t*>(block)[-1];
  return usable + ((header & 2) != 0 ? 16 : 8);
}

void* volatile slots[64];
int slot_count = 0;

void* born(void* block, long size) {
  if (block == nullptr) abort();
  ++allocations;
  requested += size;
  live += block_bytes(block);
  if (live > peak) peak = live;
  slots[slot_count++] = block;
  return block;
}

void dies(void* block) {
  live -= block_bytes(block);
}

void malloc_family() {
  born(malloc(0), 0);
  born(malloc(100), 100);
  born(malloc(300'000), 300'000);
  born(calloc(10, 33), 330);
  void* block = malloc(50);
  born(block, 50);
  dies(block);
  block = realloc(block, 5000);
  born(block, 5000);
  dies(block);
  block = realloc(block, 20);
  born(block, 20);
  dies(block);
  void* nothing = realloc(block, 0);  // glibc frees, mimalloc makes a block of 0 bytes
  if (nothing != nullptr) born(nothing, 0);
  born(realloc(nullptr, 77), 77);
  born(reallocarray(nullptr, 7, 11), 77);
  const volatile std::size_t half = SIZE_MAX / 2;
  if (malloc(half) != nullptr || calloc(half, 1) != nullptr) abort();
  if (calloc(half, 3) != nullptr || reallocarray(nullptr, half, 3) != nullptr) abort();
  void* aligned = nullptr;
  if (posix_memalign(&aligned, 256, 1000) != 0) abort();
  born(aligned, 1000);
  if (posix_memalign(&aligned, 3, 10) == 0) abort();
  born(aligned_alloc(64, 640), 640);
  born(memalign(4096, 100), 100);
  born(valloc(123), 123);
  if (glibc) born(pvalloc(123), 123);  // jemalloc has none, and libc's is not its block
  dies(slots[1]);
  free(slots[1]);
  free(nullptr);
}

void new_family() {
  struct alignas(128) Wide {
    char bytes[256];
  };
  void* one = born(::operator new(40), 40);
  void* array = born(::operator new[](41), 41);
  void* nothrow = born(::operator new(42, std::nothrow), 42);
  void* wide = born(::operator new(256, std::align_val_t{128}), 256);
  born(::operator new[](43, std::nothrow), 43);
  born(::operator new(512, std::align_val_t{128}, std::nothrow), 512);
  dies(one);
  ::operator delete(one);
  dies(array);
  ::operator delete[](array);
  dies(nothrow);
  ::operator delete(nothrow, std::nothrow);
  dies(wide);
  ::operator delete(wide, std::align_val_t{128});
}

}  // namespace

int main(int argc, char**) {
  glibc = argc < 2;
  memduel_round_begin(1);
  malloc_family();
  new_family();
  memduel_round_end(1);
  printf("%ld %ld %ld %ld\n", allocations, requested, peak, live);
}
