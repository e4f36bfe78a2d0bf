#include "mappings.h"

#include <cstring>
#include <initializer_list>

#include "counters.h"
#include "trace.h"

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
  // The part of the first range that lies in [begin, end).
  bool first_in(std::uintptr_t begin, std::uintptr_t end, Range& part) const;
  // Cuts [begin, end) out of the ranges; the bytes that were in them.
  std::int64_t cut(std::uintptr_t begin, std::uintptr_t end);

  [[nodiscard]] const Range* begin() const { return ranges_; }
  [[nodiscard]] const Range* end() const { return ranges_ + count_; }
  [[nodiscard]] std::int64_t bytes() const;

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

bool Ranges::first_in(std::uintptr_t begin, std::uintptr_t end, Range& part) const {
  const std::size_t index = find(begin);
  if (index == count_ || ranges_[index].begin >= end) return false;
  part.begin = ranges_[index].begin > begin ? ranges_[index].begin : begin;
  part.end = ranges_[index].end < end ? ranges_[index].end : end;
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

std::int64_t Ranges::bytes() const {
  std::uintptr_t sum = 0;
  for (const Range& range : *this) sum += range.end - range.begin;
  return static_cast<std::int64_t>(sum);
}

Lock ranges_lock;
Ranges dense;             // the program's below kSparseBytes
Ranges sparse;            // its other ones
Ranges reserved;          // anonymous, without access: they hold no memory
Ranges allocator_ranges;  // what the allocator mapped for its blocks; kept where snapshots are

std::uint64_t cuts = 0;  // of sparse ranges: how often one went or became smaller

static_assert(sizeof(Range) == sizeof(SparseRange));

// The ranges with gaps of up to `gap` bytes between them closed; how many there are.
std::size_t close_gaps(std::uintptr_t gap, SparseRange (&shown)[kMostSparse]) {
  std::size_t count = 0;
  std::uintptr_t end = 0;
  for (const Range& range : sparse) {
    if (count == 0 || range.begin - end > gap) {
      if (count < kMostSparse) shown[count].begin = range.begin;
      ++count;
    }
    end = range.end;
    if (count <= kMostSparse) shown[count - 1].end = end;
  }
  return count;
}

// With the lock.
void show_sparse_ranges() {
  constexpr std::uintptr_t kLargestGap = std::uintptr_t{1} << 24;
  static SparseRange shown[kMostSparse];
  std::uintptr_t gap = 0;
  std::size_t count = close_gaps(gap, shown);
  while (count > kMostSparse && gap < kLargestGap)
    count = close_gaps(gap = gap == 0 ? 4096 : gap * 2, shown);
  if (count > kMostSparse) count_lost();
  show_sparse(shown, count < kMostSparse ? count : kMostSparse);
}

// With the lock. What was counted; reservations go too.
MappedBytes cut_program(std::uintptr_t begin, std::uintptr_t end) {
  reserved.cut(begin, end);
  const std::int64_t from_dense = dense.cut(begin, end);
  const std::int64_t from_sparse = sparse.cut(begin, end);
  if (from_sparse > 0) {
    __atomic_fetch_add(&cuts, 1, __ATOMIC_RELAXED);
    show_sparse_ranges();
  }
  return {from_dense + from_sparse, from_dense};
}

// With the lock.
bool add_counted(std::uintptr_t begin, std::uintptr_t end, MappedBytes& added) {
  const auto bytes = static_cast<std::int64_t>(end - begin);
  const bool is_sparse = bytes >= kSparseBytes;
  added = {bytes, is_sparse ? 0 : bytes};
  if (!is_sparse) return dense.add(begin, end);
  if (!sparse.add(begin, end)) return false;
  show_sparse_ranges();
  return true;
}

bool first_in(std::initializer_list<const Ranges*> kinds, std::uintptr_t begin, std::uintptr_t end,
              Range& part) {
  ranges_lock.lock();
  bool found = false;
  for (const Ranges* kind : kinds) found = found || kind->first_in(begin, end, part);
  ranges_lock.unlock();
  return found;
}

bool filtered = false;  // a filter of system calls may kill for one that the program does not make

// A forked child shares pages with its parent, which mincore does not tell apart.
bool is_inherited(const Range& range) {
  for (std::uint64_t i = 0; i < page->inherited_count; ++i) {
    const SparseRange& inherited = page->inherited_ranges[i];
    if (range.begin < inherited.end && inherited.begin < range.end) return true;
  }
  return false;
}

// How many pages of [begin, begin + length) are in memory; false where the kernel does not say.
// `in_memory` has a byte for each.
bool count_touched(std::uintptr_t begin, std::size_t length, unsigned char* in_memory,
                   std::size_t& pages) {
  if (raw_syscall(SYS_mincore, static_cast<long>(begin), static_cast<long>(length),
                  reinterpret_cast<long>(in_memory)) != 0)
    return false;
  pages = 0;
  for (std::size_t i = 0; i < length / 4096; ++i) pages += in_memory[i] & 1;
  return true;
}

std::size_t touched_in(const Range& range) {
  static unsigned char in_memory[4096];  // with the lock
  std::size_t all_pages = 0;
  for (std::uintptr_t at = range.begin; at < range.end; at += sizeof in_memory * 4096) {
    const std::uintptr_t left = (range.end - at) / 4096;
    const std::size_t count = left < sizeof in_memory ? left : sizeof in_memory;
    std::size_t pages = 0;
    if (!count_touched(at, count * 4096, in_memory, pages)) break;
    all_pages += pages;
  }
  return all_pages * 4096;
}

// The counters have dense mappings whole. A trace has, when one goes, which of its pages were ever
// touched: a page stays so until it is given back.
void tell_touched_of_dense(std::uintptr_t begin, std::uintptr_t end) {
  if (filtered || !is_tracing()) return;
  Range part{};
  for (; begin < end && first_in({&dense}, begin, end, part); begin = part.end) {
    const std::size_t length = part.end - part.begin;
    unsigned char in_memory[kSparseBytes / 4096];
    std::size_t pages = 0;
    if (length / 4096 <= sizeof in_memory && count_touched(part.begin, length, in_memory, pages))
      trace_touched(part.begin, length, pages * 4096);
  }
}

// What a look took is its share of what passes until the next one.
constexpr std::uint64_t kRestPerLook = 20;
constexpr std::uint64_t kRestPerLookOnTheWay = 100;

std::uint64_t last_look_took = 0;
std::uint64_t last_look_end = 0;
bool looking = false;  // one thread looks; others that come meanwhile need not

bool is_rested(std::uint64_t rest_per_look) {
  return now_ns() >= __atomic_load_n(&last_look_end, __ATOMIC_RELAXED) +
                         rest_per_look * __atomic_load_n(&last_look_took, __ATOMIC_RELAXED);
}

struct Touched {
  Range range;
  std::size_t bytes;
};
constexpr std::size_t kMostTold = 512;
Touched told[kMostTold];  // of the thread that looks

// The ranges are of one moment; the lock of the trace may not be taken below theirs.
void look_at_touched() {
  const Turn mine(looking);
  if (!mine) return;
  const std::uint64_t begin = now_ns();
  std::size_t sum = 0;
  std::size_t count = 0;
  ranges_lock.lock();
  const std::uint64_t cuts_before = cuts;
  for (const Range& range : sparse) {
    if (is_inherited(range)) continue;
    const std::size_t touched = touched_in(range);
    sum += touched;
    if (count < kMostTold) told[count++] = {range, touched};
  }
  ranges_lock.unlock();
  note_touched(static_cast<std::int64_t>(sum));
  for (std::size_t i = 0; i < count && is_tracing(); ++i) {
    // What is mapped in the place of a range that went is another one.
    if (__atomic_load_n(&cuts, __ATOMIC_RELAXED) != cuts_before) break;
    trace_touched(told[i].range.begin, told[i].range.end - told[i].range.begin, told[i].bytes);
  }
  const std::uint64_t end = now_ns();
  __atomic_store_n(&last_look_took, end - begin, __ATOMIC_RELAXED);
  __atomic_store_n(&last_look_end, end, __ATOMIC_RELAXED);
}

// `bytes` of [at, at + length) were counted.
void count_unmapping(void* at, std::size_t length, const MappedBytes& bytes) {
  remove_mapping(bytes);
  if (is_tracing()) trace_unmapping(at, length);
}

}  // namespace

void remember_mapping(void* at, std::size_t length) {
  // What the others have by now; of the new one nothing is touched yet.
  if (length >= static_cast<std::size_t>(kSparseBytes)) look_at_mappings_on_the_way();
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t end = page_up(begin + length);
  MappedBytes added{};
  ranges_lock.lock();
  const MappedBytes replaced = cut_program(begin, end);
  const bool kept = add_counted(begin, end, added);
  ranges_lock.unlock();
  if (replaced.all > 0) count_unmapping(at, end - begin, replaced);
  if (kept) {
    add_mapping(added);
    if (is_tracing()) trace_mapping(at, end - begin);
  } else {
    count_lost();
  }
}

std::int64_t forget_mapping(void* at, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t end = page_up(begin + length);
  ranges_lock.lock();
  const MappedBytes bytes = cut_program(begin, end);
  ranges_lock.unlock();
  if (bytes.all > 0) count_unmapping(at, end - begin, bytes);
  return bytes.all;
}

void stop_looking() {
  filtered = true;
}

bool may_ask_kernel() {
  return !filtered;
}

void look_before_unmapping(void* at, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t end = page_up(begin + length);
  Range part{};
  if (!filtered && first_in({&sparse}, begin, end, part) && is_rested(kRestPerLook))
    look_at_touched();
  tell_touched_of_dense(begin, end);
}

void look_at_mappings_on_the_way() {
  if (page->sparse_count > 0 && !filtered && is_rested(kRestPerLookOnTheWay)) look_at_touched();
}

void look_at_last_mappings() {
  if (page->sparse_count > 0 && !filtered) look_at_touched();
  tell_touched_of_dense(0, ~std::uintptr_t{0});
}

void remember_reservation(void* at, std::size_t length) {
  forget_mapping(at, length);
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  ranges_lock.lock();
  const bool kept = reserved.add(begin, page_up(begin + length));
  ranges_lock.unlock();
  if (!kept) count_lost();
}

void open_reservation(void* at, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t end = page_up(begin + length);
  // remember_mapping takes each part out of the reservations.
  for (Range part{}; first_in({&reserved}, begin, end, part);)
    remember_mapping(reinterpret_cast<void*>(part.begin), part.end - part.begin);
}

void close_mapping(void* at, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t end = page_up(begin + length);
  for (Range part{}; first_in({&dense, &sparse}, begin, end, part);)
    remember_reservation(reinterpret_cast<void*>(part.begin), part.end - part.begin);
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

MappedBytes held_mapping_bytes() {
  const std::int64_t bytes = dense.bytes();
  return {bytes + sparse.bytes(), bytes};
}

void show_held_mappings() {
  show_sparse_ranges();
}

void release_mappings_after_fork(bool in_child) {
  if (in_child) {
    ranges_lock.reset();
    looking = false;
  } else {
    ranges_lock.unlock();
  }
}

}  // namespace memduel::recorder
