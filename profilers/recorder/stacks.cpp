#include "profilers/recorder/stacks.h"

#include <cstring>

#include "profilers/recorder/system.h"

namespace memduel::recorder {

namespace {

struct Entry {
  FrameWord frame;
  std::uint32_t parent;
  std::uint32_t node;  ///< 0: empty
};

Entry* entries = nullptr;
std::size_t capacity = 0;  // a power of two
std::size_t used = 0;
std::uint32_t next_number = 1;
std::uint32_t untold = 1;

std::size_t slot_of(std::uint32_t parent, FrameWord frame) {
  std::uint64_t hash = (frame ^ (std::uint64_t{parent} << 40)) * 0x9e3779b97f4a7c15U;
  hash ^= hash >> 29;
  return static_cast<std::size_t>(hash * 0xbf58476d1ce4e5b9U >> 20) & (capacity - 1);
}

Entry* find_slot(std::uint32_t parent, FrameWord frame) {
  std::size_t slot = slot_of(parent, frame);
  while (entries[slot].node != 0 &&
         (entries[slot].frame != frame || entries[slot].parent != parent)) {
    slot = (slot + 1) & (capacity - 1);
  }
  return &entries[slot];
}

bool grow() {
  const std::size_t old_capacity = capacity;
  Entry* old = entries;
  const std::size_t larger = capacity == 0 ? 4096 : capacity * 2;
  auto* made = static_cast<Entry*>(own_memory(larger * sizeof(Entry)));
  if (made == nullptr) return false;
  entries = made;
  capacity = larger;
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (old[i].node != 0) *find_slot(old[i].parent, old[i].frame) = old[i];
  }
  if (old != nullptr) release_memory(old, old_capacity * sizeof(Entry));
  return true;
}

}  // namespace

std::uint32_t find_or_make_node(std::uint32_t parent, FrameWord frame, bool& made) {
  made = false;
  if (2 * (used + 1) > capacity && !grow()) return 0;
  Entry* entry = find_slot(parent, frame);
  if (entry->node != 0) return entry->node;
  *entry = {frame, parent, next_number};
  ++used;
  made = true;
  return next_number++;
}

std::uint32_t next_untold_node() {
  return untold;
}

void note_node_told() {
  ++untold;
}

void forget_nodes() {
  if (entries != nullptr) memset(entries, 0, capacity * sizeof(Entry));
  used = 0;
}

void restart_nodes() {
  forget_nodes();
  next_number = 1;
  untold = 1;
}

}  // namespace memduel::recorder
