// Blocks by address, in memory of the recorder's own: open addressing with linear probing.

#include "blocks.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "system.h"

namespace memduel::recorder {

/// Zero-initialised and without a destructor, so that it is usable before main. `Entry` is small,
/// trivial and has `void* block`, which is null in an empty slot.
template <class Entry>
class BlockTable {
 public:
  /// False: no memory, or already there.
  bool insert(const Entry& entry) {
    if (2 * (used_ + 1) > capacity_ && !grow()) return false;
    Entry& slot = slots_[find(entry.block)];
    if (slot.block != nullptr) return false;
    slot = entry;
    ++used_;
    return true;
  }

  /// Without tombstones: what comes after the hole moves into it where it may. False: not there.
  bool erase(const void* block, Entry& erased) {
    if (capacity_ == 0) return false;
    std::size_t hole = find(block);
    if (slots_[hole].block == nullptr) return false;
    erased = slots_[hole];
    for (std::size_t next = following(hole); slots_[next].block != nullptr;
         next = following(next)) {
      const std::size_t home = home_of(slots_[next].block);
      if (((next - home) & (capacity_ - 1)) >= ((next - hole) & (capacity_ - 1))) {
        slots_[hole] = slots_[next];
        hole = next;
      }
    }
    slots_[hole] = {};
    --used_;
    return true;
  }

  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < capacity_; ++i)
      if (slots_[i].block != nullptr) visit(slots_[i]);
  }

  void clear() {
    if (slots_ != nullptr) memset(static_cast<void*>(slots_), 0, capacity_ * sizeof(Entry));
    used_ = 0;
  }

 private:
  [[nodiscard]] std::size_t following(std::size_t slot) const {
    return (slot + 1) & (capacity_ - 1);
  }

  [[nodiscard]] std::size_t home_of(const void* block) const {
    return static_cast<std::size_t>(
               (reinterpret_cast<std::uintptr_t>(block) >> 3) * 0x9e3779b97f4a7c15U >> 20) &
           (capacity_ - 1);
  }

  [[nodiscard]] std::size_t find(const void* block) const {
    std::size_t slot = home_of(block);
    while (slots_[slot].block != nullptr && slots_[slot].block != block) slot = following(slot);
    return slot;
  }

  bool grow() {
    const std::size_t old_capacity = capacity_;
    Entry* old = slots_;
    const std::size_t larger = capacity_ == 0 ? 2048 : capacity_ * 2;
    auto* made = static_cast<Entry*>(own_table(larger * sizeof(Entry)));
    if (made == nullptr) return false;
    slots_ = made;
    capacity_ = larger;
    for (std::size_t i = 0; i < old_capacity; ++i)
      if (old[i].block != nullptr) slots_[find(old[i].block)] = old[i];
    if (old != nullptr) release_memory(old, old_capacity * sizeof(Entry));
    return true;
  }

  Entry* slots_;
  std::size_t capacity_;  // a power of two
  std::size_t used_;
};

std::uint8_t* filter = nullptr;

namespace {

struct Sample {
  void* block;
};
BlockTable<Sample> samples;

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
  if (!samples.insert({block})) return false;
  change_filter(block, +1);
  return true;
}

bool erase_block(void* block) {
  Sample erased;
  if (!samples.erase(block, erased)) return false;
  change_filter(block, -1);
  return true;
}

void forget_blocks() {
  samples.clear();
  raw_syscall(SYS_madvise, reinterpret_cast<long>(filter), kFilterBytes, MADV_DONTNEED);
  filter[0] = kFull;
}

namespace {

BlockTable<LiveRecord> live;

}  // namespace

bool insert_live(const LiveRecord& record) {
  return live.insert(record);
}

bool erase_live(const void* block, LiveRecord& erased) {
  return live.erase(block, erased);
}

void visit_live(void (*visit)(const LiveRecord&)) {
  live.each(visit);
}

void forget_live() {
  live.clear();
}

}  // namespace memduel::recorder
