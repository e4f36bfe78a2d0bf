#include "profilers/recorder/mappings.h"

#include <cstring>

#include "profilers/recorder/counters.h"
#include "profilers/recorder/trace.h"

namespace memduel::recorder {

namespace {

std::uintptr_t page_up(std::uintptr_t value) {
  return (value + 4095) & ~std::uintptr_t{4095};
}

// Sorted by address. Programs hold tens to thousands of mappings, so a moved tail is cheap next to
// the system call that comes with it.
class Ranges {
 public:
  // Adds [begin, end), which nothing may overlap. False: no memory.
  bool add(std::uintptr_t begin, std::uintptr_t end) {
    return insert_at(find(begin), {begin, end});
  }
  // Cuts [begin, end) out of the ranges; the bytes that were in them.
  std::int64_t cut(std::uintptr_t begin, std::uintptr_t end);

  [[nodiscard]] const Range* begin() const { return ranges_; }
  [[nodiscard]] const Range* end() const { return ranges_ + count_; }

 private:
  bool make_space();
  // The first range that ends after `address`.
  [[nodiscard]] std::size_t find(std::uintptr_t address) const;
  bool insert_at(std::size_t index, Range range);
  void erase(std::size_t first, std::size_t last);

  Range* ranges_;
  std::size_t count_;
  std::size_t capacity_;
};

bool Ranges::make_space() {
  if (count_ < capacity_) return true;
  const std::size_t capacity = capacity_ == 0 ? 4096 : capacity_ * 2;
  auto* grown = static_cast<Range*>(own_memory(capacity * sizeof(Range)));
  if (grown == nullptr) return false;
  if (ranges_ != nullptr) {
    memcpy(grown, ranges_, count_ * sizeof(Range));
    release_memory(ranges_, capacity_ * sizeof(Range));
  }
  ranges_ = grown;
  capacity_ = capacity;
  return true;
}

std::size_t Ranges::find(std::uintptr_t address) const {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (ranges_[middle].end <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool Ranges::insert_at(std::size_t index, Range range) {
  if (!make_space()) return false;
  memmove(ranges_ + index + 1, ranges_ + index, (count_ - index) * sizeof(Range));
  ranges_[index] = range;
  ++count_;
  return true;
}

void Ranges::erase(std::size_t first, std::size_t last) {
  memmove(ranges_ + first, ranges_ + last, (count_ - last) * sizeof(Range));
  count_ -= last - first;
}

std::int64_t Ranges::cut(std::uintptr_t begin, std::uintptr_t end) {
  if (count_ == 0) return 0;
  std::int64_t bytes = 0;
  std::size_t index = find(begin);
  if (index < count_ && ranges_[index].begin < begin) {
    const Range whole = ranges_[index];
    ranges_[index].end = begin;
    ++index;
    if (whole.end > end) {
      if (!insert_at(index, {end, whole.end})) count_lost();
      return static_cast<std::int64_t>(end - begin);
    }
    bytes += static_cast<std::int64_t>(whole.end - begin);
  }
  std::size_t last = index;
  while (last < count_ && ranges_[last].end <= end) {
    bytes += static_cast<std::int64_t>(ranges_[last].end - ranges_[last].begin);
    ++last;
  }
  if (last < count_ && ranges_[last].begin < end) {
    bytes += static_cast<std::int64_t>(end - ranges_[last].begin);
    ranges_[last].begin = end;
  }
  erase(index, last);
  return bytes;
}

Lock ranges_lock;
Ranges ranges;            // the program's
Ranges allocator_ranges;  // what the allocator mapped for its blocks; kept where snapshots are

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
  const std::int64_t replaced = ranges.cut(begin, end);
  const bool kept = ranges.add(begin, end);
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
  const std::int64_t bytes = ranges.cut(begin, page_up(begin + length));
  ranges_lock.unlock();
  if (bytes > 0) count_unmapping(at, page_up(begin + length) - begin, bytes);
  return bytes;
}

void remember_allocator_mapping(void* at, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t end = page_up(begin + length);
  ranges_lock.lock();
  allocator_ranges.cut(begin, end);
  const bool kept = allocator_ranges.add(begin, end);
  ranges_lock.unlock();
  if (!kept) count_lost();
}

void forget_allocator_mapping(void* at, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  ranges_lock.lock();
  allocator_ranges.cut(begin, page_up(begin + length));
  ranges_lock.unlock();
}

void visit_allocator_mappings(void (*visit)(const Range&)) {
  ranges_lock.lock();
  for (const Range& range : allocator_ranges) visit(range);
  ranges_lock.unlock();
}

void hold_mappings_for_fork() {
  ranges_lock.lock();
}

std::int64_t held_mapping_bytes() {
  std::uintptr_t bytes = 0;
  for (const Range& range : ranges) bytes += range.end - range.begin;
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
