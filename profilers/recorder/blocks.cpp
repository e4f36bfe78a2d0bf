#include "profilers/recorder/blocks.h"

#include "profilers/recorder/block_table.h"
#include "profilers/recorder/system.h"

namespace memduel::recorder {

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

}  // namespace memduel::recorder
