// A program's own account of what it allocates, in a file that it maps shared: it outlives the
// program, as the profile must.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

/// Bytes, of one thread or process. An allocation is begun before the call and done after it:
/// whatever kills a program, what it allocated lies between the two.
struct alignas(64) Slot {
  std::atomic<std::int64_t> begun;
  std::atomic<std::int64_t> done;
  std::atomic<std::int64_t> freeing;
  std::atomic<std::int64_t> freed;
};

inline constexpr int kSlots = 1024;

inline Slot* open_ledger(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT, 0644);
  if (file < 0 || ftruncate(file, kSlots * sizeof(Slot)) != 0) std::abort();
  void* at = mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at == MAP_FAILED) std::abort();
  return static_cast<Slot*>(at);
}

struct Block {
  void* at = nullptr;
  std::int64_t size = 0;
};

/// The only function of the program whose allocations are in the ledger.
[[gnu::noinline]] inline Block keep(Slot& slot, std::int64_t size) {
  slot.begun += size;
  const Block block{std::malloc(static_cast<std::size_t>(size)), size};
  slot.done += size;
  return block;
}

inline void drop(Slot& slot, Block& block) {
  slot.freeing += block.size;
  std::free(block.at);
  slot.freed += block.size;
  block = {};
}

/// Replaces one of `count` blocks, of 600 to 4,695 bytes.
inline void replace_block(Slot& slot, Block* blocks, unsigned count, unsigned& random) {
  random = random * 1664525 + 1013904223;
  Block& block = blocks[(random >> 8) % count];
  if (block.at != nullptr) drop(slot, block);
  block = keep(slot, 600 + (random >> 20));
}
