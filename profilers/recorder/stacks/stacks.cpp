#include "stacks.h"

#include <cstring>

#include "python.h"
#include "recorder/trace_records.h"
#include "system.h"

namespace memduel::recorder {

namespace {

struct Node {
  FrameWord frame;
  std::uint32_t parent;
  std::uint32_t told;  ///< its number in the trace; 0: not there yet
};

constexpr std::uint32_t kMostNodes = 1U << 17;

Node* nodes = nullptr;  // by number
std::size_t node_capacity = 0;
std::uint32_t next_number = 1;
std::uint32_t first_findable = 1;  // those before it were forgotten
std::uint32_t next_told = 1;
std::uint32_t untold[kMostMerged];  // on the way from a node to the root

// A new stack makes its nodes in a row, so a node's first child is mostly the next number. Such a
// child is found there and has no slot: chains, which most stacks end in, stay out of the table.
bool is_next_number(std::uint32_t parent, FrameWord frame) {
  const std::uint32_t child = parent + 1;
  return child >= first_findable && child < next_number && nodes[child].parent == parent &&
         nodes[child].frame == frame;
}

// What another child is found by lies in its slot, so that a search reads one line of memory.
struct Slot {
  FrameWord frame;
  std::uint32_t parent;
  std::uint32_t node;  ///< 0: empty
};
Slot* slots = nullptr;
std::size_t capacity = 0;  // a power of two
std::size_t used = 0;

std::size_t slot_of(std::uint32_t parent, FrameWord frame) {
  std::uint64_t hash = (frame ^ (std::uint64_t{parent} << 40)) * 0x9e3779b97f4a7c15U;
  hash ^= hash >> 29;
  return static_cast<std::size_t>(hash * 0xbf58476d1ce4e5b9U >> 20) & (capacity - 1);
}

Slot* find_slot(std::uint32_t parent, FrameWord frame) {
  std::size_t slot = slot_of(parent, frame);
  while (slots[slot].node != 0 && (slots[slot].frame != frame || slots[slot].parent != parent)) {
    slot = (slot + 1) & (capacity - 1);
  }
  return &slots[slot];
}

bool grow_slots() {
  const std::size_t old_capacity = capacity;
  Slot* old = slots;
  const std::size_t larger = capacity == 0 ? 4096 : capacity * 2;
  auto* made = static_cast<Slot*>(own_table(larger * sizeof(Slot)));
  if (made == nullptr) return false;
  slots = made;
  capacity = larger;
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (old[i].node != 0) *find_slot(old[i].parent, old[i].frame) = old[i];
  }
  if (old != nullptr) release_memory(old, old_capacity * sizeof(Slot));
  return true;
}

bool grow_nodes() {
  const std::size_t larger = node_capacity == 0 ? 4096 : node_capacity * 2;
  auto* made = static_cast<Node*>(own_table(larger * sizeof(Node)));
  if (made == nullptr) return false;
  if (nodes != nullptr) {
    memcpy(made, nodes, node_capacity * sizeof(Node));
    release_memory(nodes, node_capacity * sizeof(Node));
  }
  nodes = made;
  node_capacity = larger;
  return true;
}

}  // namespace

std::uint32_t find_or_make_node(std::uint32_t parent, FrameWord frame, bool& made) {
  made = false;
  if (is_next_number(parent, frame)) return parent + 1;
  if (next_number >= node_capacity && !grow_nodes()) return 0;
  if (next_number != parent + 1) {
    if (2 * (used + 1) > capacity && !grow_slots()) return 0;
    Slot* slot = find_slot(parent, frame);
    if (slot->node != 0) return slot->node;
    *slot = {frame, parent, next_number};
    ++used;
  }
  nodes[next_number] = {frame, parent, 0};
  made = true;
  return next_number++;
}

std::uint32_t told_number(std::uint32_t node, void (*tell)(std::uint32_t parent, FrameWord frame)) {
  int count = 0;
  std::uint32_t at = node;
  for (; at != kRootNode && nodes[at].told == 0 && count < kMostMerged; at = nodes[at].parent)
    untold[count++] = at;
  std::uint32_t parent = at == kRootNode ? kRootNode : nodes[at].told;
  while (count > 0) {
    Node& next = nodes[untold[--count]];
    tell(parent, next.frame);
    next.told = next_told++;
    parent = next.told;
  }
  return parent;
}

std::uint32_t next_untold_node() {
  return next_told;
}

void forget_nodes() {
  if (slots != nullptr) memset(slots, 0, capacity * sizeof(Slot));
  used = 0;
  first_findable = next_number;
}

bool has_most_nodes() {
  return next_number + kMostMerged >= kMostNodes;
}

void discard_nodes() {
  next_number = 1;
  forget_nodes();
}

void restart_nodes() {
  next_told = 1;
  discard_nodes();
}

}  // namespace memduel::recorder
