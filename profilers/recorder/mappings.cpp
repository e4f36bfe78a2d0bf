#include "profilers/recorder/mappings.h"

#include <cstring>

#include "profilers/recorder/counters.h"
#include "profilers/recorder/trace.h"

namespace memduel::recorder {

namespace {

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// Sorted by address. Programs hold tens to thousands of mappings, so a moved tail is cheap next to
// the system call that comes with it.
Lock ranges_lock;
Range* ranges = nullptr;
std::size_t range_count = 0;
std::size_t range_capacity = 0;

std::uintptr_t page_up(std::uintptr_t value) {
  return (value + 4095) & ~std::uintptr_t{4095};
}

bool make_space() {
  if (range_count < range_capacity) return true;
  const std::size_t capacity = range_capacity == 0 ? 4096 : range_capacity * 2;
  auto* grown = static_cast<Range*>(own_memory(capacity * sizeof(Range)));
  if (grown == nullptr) return false;
  if (ranges != nullptr) {
    memcpy(grown, ranges, range_count * sizeof(Range));
    release_memory(ranges, range_capacity * sizeof(Range));
  }
  ranges = grown;
  range_capacity = capacity;
  return true;
}

// The first range that ends after `address`.
std::size_t find_range(std::uintptr_t address) {
  std::size_t low = 0;
  std::size_t high = range_count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (ranges[middle].end <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool insert_at(std::size_t index, Range range) {
  if (!make_space()) return false;
  memmove(ranges + index + 1, ranges + index, (range_count - index) * sizeof(Range));
  ranges[index] = range;
  ++range_count;
  return true;
}

void erase(std::size_t first, std::size_t last) {
  memmove(ranges + first, ranges + last, (range_count - last) * sizeof(Range));
  range_count -= last - first;
}

// Cuts [begin, end) out of the ranges; the bytes that were in them.
std::int64_t cut(std::uintptr_t begin, std::uintptr_t end) {
  std::int64_t bytes = 0;
  std::size_t index = find_range(begin);
  if (index < range_count && ranges[index].begin < begin) {
    const Range whole = ranges[index];
    ranges[index].end = begin;
    ++index;
    if (whole.end > end) {
      if (!insert_at(index, {end, whole.end})) count_lost();
      return static_cast<std::int64_t>(end - begin);
    }
    bytes += static_cast<std::int64_t>(whole.end - begin);
  }
  std::size_t last = index;
  while (last < range_count && ranges[last].end <= end) {
    bytes += static_cast<std::int64_t>(ranges[last].end - ranges[last].begin);
    ++last;
  }
  if (last < range_count && ranges[last].begin < end) {
    bytes += static_cast<std::int64_t>(end - ranges[last].begin);
    ranges[last].begin = end;
  }
  erase(index, last);
  return bytes;
}

// `bytes` of [at, at + length) were counted.
void count_unmapping(void* at, std::size_t length, std::int64_t bytes) {
  remove_mapping(bytes);
  if (is_tracing()) trace_unmapping(at, length);
}

}  // namespace

void remember_mapping(void* at, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t end = page_up(begin + length);
  ranges_lock.lock();
  const std::int64_t replaced = range_count == 0 ? 0 : cut(begin, end);
  const bool kept = insert_at(find_range(begin), {begin, end});
  ranges_lock.unlock();
  if (replaced > 0) count_unmapping(at, end - begin, replaced);
  if (kept) {
    add_mapping(static_cast<std::int64_t>(end - begin));
    if (is_tracing()) trace_mapping(at, end - begin);
  } else {
    count_lost();
  }
}

std::int64_t forget_mapping(void* at, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  ranges_lock.lock();
  const std::int64_t bytes = range_count == 0 ? 0 : cut(begin, page_up(begin + length));
  ranges_lock.unlock();
  if (bytes > 0) count_unmapping(at, page_up(begin + length) - begin, bytes);
  return bytes;
}

void hold_mappings_for_fork() {
  ranges_lock.lock();
}

std::int64_t held_mapping_bytes() {
  std::uintptr_t bytes = 0;
  for (std::size_t i = 0; i < range_count; ++i) bytes += ranges[i].end - ranges[i].begin;
  return static_cast<std::int64_t>(bytes);
}

void release_mappings_after_fork(bool in_child) {
  if (in_child) {
    ranges_lock.reset();
  } else {
    ranges_lock.unlock();
  }
}

}  // namespace memduel::recorder
