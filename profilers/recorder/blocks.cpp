#include "profilers/recorder/blocks.h"

#include <cstring>

#include "profilers/recorder/system.h"

namespace memduel::recorder {

std::uint8_t* filter = nullptr;

namespace {

void** slots = nullptr;
std::size_t capacity = 0;  // a power of two
std::size_t used = 0;

std::size_t home_of(const void* block) {
  return static_cast<std::size_t>(
             (reinterpret_cast<std::uintptr_t>(block) >> 3) * 0x9e3779b97f4a7c15U >> 20) &
         (capacity - 1);
}

std::size_t find_slot(const void* block) {
  std::size_t slot = home_of(block);
  while (slots[slot] != nullptr && slots[slot] != block) slot = (slot + 1) & (capacity - 1);
  return slot;
}

bool grow() {
  const std::size_t old_capacity = capacity;
  void** old = slots;
  const std::size_t larger = capacity == 0 ? 2048 : capacity * 2;
  auto* made = static_cast<void**>(own_memory(larger * sizeof(void*)));
  if (made == nullptr) return false;
  slots = made;
  capacity = larger;
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (old[i] != nullptr) slots[find_slot(old[i])] = old[i];
  }
  if (old != nullptr) release_memory(old, old_capacity * sizeof(void*));
  return true;
}

// A counter that was full once stays: it no longer knows how many samples it stands for.
constexpr std::uint8_t kFull = 255;

void change_filter(const void* block, int by) {
  std::uint8_t& counter = filter[filter_index(block)];
  if (counter != kFull) {
    __atomic_store_n(&counter, static_cast<std::uint8_t>(counter + by), __ATOMIC_RELAXED);
  }
}

}  // namespace

bool make_filter() {
  auto* made = static_cast<std::uint8_t*>(own_memory(kFilterBytes));
  if (made == nullptr) return false;
  made[0] = kFull;
  filter = made;
  return true;
}

bool insert_block(void* block) {
  if (2 * (used + 1) > capacity && !grow()) return false;
  const std::size_t slot = find_slot(block);
  if (slots[slot] != nullptr) return false;
  slots[slot] = block;
  ++used;
  change_filter(block, +1);
  return true;
}

// Linear probing without tombstones: what comes after the hole moves into it where it may.
bool erase_block(void* block) {
  if (capacity == 0) return false;
  std::size_t hole = find_slot(block);
  if (slots[hole] == nullptr) return false;
  for (std::size_t next = (hole + 1) & (capacity - 1); slots[next] != nullptr;
       next = (next + 1) & (capacity - 1)) {
    const std::size_t home = home_of(slots[next]);
    if (((next - home) & (capacity - 1)) >= ((next - hole) & (capacity - 1))) {
      slots[hole] = slots[next];
      hole = next;
    }
  }
  slots[hole] = nullptr;
  --used;
  change_filter(block, -1);
  return true;
}

void forget_blocks() {
  if (slots != nullptr) memset(slots, 0, capacity * sizeof(void*));
  used = 0;
  raw_syscall(SYS_madvise, reinterpret_cast<long>(filter), kFilterBytes, MADV_DONTNEED);
  filter[0] = kFull;
}

}  // namespace memduel::recorder
