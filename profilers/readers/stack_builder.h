// Builds the locations, stacks and sites of a profile, each once, also from frames of which a tool
// says a function, a file and perhaps a line. NumberMap maps the millions of addresses and stacks
// of a trace in one flat array, where std::unordered_map costs an allocation each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/profile.h"

namespace memduel {

/// Keys are any numbers but the largest one. Open addressing with linear probing, at most 2/3 full.
template <class Value>
class NumberMap {
 public:
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

  [[nodiscard]] std::size_t size() const { return size_; }

  /// The value of `key`, made from `value` when new, and whether it was.
  std::pair<Value*, bool> emplace(std::uint64_t key, Value value) {
    if (slots_.size() * 2 < (size_ + 1) * 3) grow();
    Slot& slot = slots_[find(key)];
    if (slot.key == key) return {&slot.value, false};
    slot = {key, std::move(value)};
    ++size_;
    return {&slot.value, true};
  }

  /// The value of `key`, removed.
  std::optional<Value> take(std::uint64_t key) {
    if (slots_.empty()) return std::nullopt;
    std::size_t hole = find(key);
    if (slots_[hole].key != key) return std::nullopt;
    std::optional<Value> taken(std::move(slots_[hole].value));
    --size_;
    // Whoever stands behind the hole and may stand in it moves there, so that no search ends early.
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = (hole + 1) & mask; slots_[i].key != kNoKey; i = (i + 1) & mask) {
      const std::size_t home = home_of(slots_[i].key);
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole].key = kNoKey;
    return taken;
  }

  void clear() {
    slots_.clear();
    size_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t key = kNoKey;
    Value value{};
  };

  [[nodiscard]] std::size_t home_of(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> shift_);
  }

  [[nodiscard]] std::size_t find(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = home_of(key);
    while (slots_[i].key != key && slots_[i].key != kNoKey) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old = std::move(slots_);
    constexpr int kFirstBits = 6;
    shift_ = old.empty() ? 64 - kFirstBits : shift_ - 1;
    slots_ = std::vector<Slot>(std::size_t{1} << (64 - shift_));
    for (Slot& slot : old) {
      if (slot.key != kNoKey) slots_[find(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  int shift_ = 64;
  std::size_t size_ = 0;
};

class StackBuilder {
 public:
  /// `profile` must outlive the builder.
  explicit StackBuilder(Profile& profile) : profile_(profile) {}

  /// A new location.
  std::uint32_t add_location(ProfileLocation location);
  /// The location with this one name, made when new.
  std::uint32_t named(FrameName name, ProfileLocation::Kind kind = ProfileLocation::Kind::native);
  /// A frame of which only the module is known (a path), or not even that (empty). One location
  /// for all of a module: an address without a symbol says nothing that survives the run, and a
  /// library that is stripped, or an unwinder that lost its way, has tens of thousands of them.
  std::uint32_t unnamed_in(std::string_view module);

  /// The stack of `location` called from `parent`. Unnamed frames of one module, one below the
  /// other, are one frame.
  std::uint32_t stack(std::uint32_t parent, std::uint32_t location);

  /// The site of a stack, made when new.
  std::uint32_t site_number(std::uint32_t stack, Heap heap = Heap::malloc);
  AllocationSite& site(std::uint32_t stack, Heap heap = Heap::malloc) {
    return profile_.sites[site_number(stack, heap)];
  }

 private:
  Profile& profile_;
  NumberMap<std::uint32_t> stacks_;
  NumberMap<std::uint32_t> sites_;
  std::unordered_map<std::string, std::uint32_t> named_;
  std::unordered_map<std::string, std::uint32_t> unnamed_;  ///< by file name
  std::vector<bool> is_unnamed_;                            ///< by location
};

/// Python's are FILE.py, <frozen runpy>, <string> and <stdin>.
ProfileLocation::Kind kind_of_file(std::string_view file);

/// The location of such a frame; memray writes <unknown> where it found no function or file.
std::uint32_t foreign_location(StackBuilder& builder, FrameName frame);

}  // namespace memduel
