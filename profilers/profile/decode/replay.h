// Replays the events of a trace into a profile.
#pragma once

#include <tsl/robin_map.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profilers/profile/decode/live_heap.h"
#include "profilers/profile/decode/trace_file.h"

namespace memduel {

class Replay {
 public:
  Replay() = default;
  Replay(const Replay&) = delete;  // it points into itself
  Replay& operator=(const Replay&) = delete;

  void info_block(const std::string& bytes);
  /// Reads events to the end of the block or to the first that makes no sense, which is noted.
  void events_block(const std::string& bytes, int number);
  void symbols_block(const std::string& bytes);
  /// Ends the replay.
  Profile finish();

 private:
  struct Block {  // small: each live block has one
    std::uint64_t size = 0;
    double interval = 0;  ///< mean of the draw that made it a sample; 0: every block is recorded
    std::uint32_t site = 0;
    std::uint32_t stretch = 0;  ///< between two marks
  };
  struct Thread {
    std::uint32_t phase = 0;
    /// The block of its last free. A realloc that fails takes it back before it frees another.
    std::uint64_t freed_address = 0;
    std::optional<Block> freed;
  };
  /// Spreads the upper bits of an address, whose lowest are zero, over all bits of a slot's number.
  struct AddressHash {
    std::size_t operator()(std::uint64_t address) const {
      const std::uint64_t product = address * 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio
      return product ^ (product >> 32);
    }
  };
  struct Mapping {
    std::uint64_t end = 0;
    std::uint32_t site = 0;
    std::uint32_t stretch = 0;
  };

  void event(TraceCursor& cursor);
  void read_counters(TraceCursor& cursor);
  void read_module(TraceCursor& cursor);
  void read_node(TraceCursor& cursor);
  void read_code(TraceCursor& cursor);
  void read_python(TraceCursor& cursor);
  void read_allocation(TraceCursor& cursor);
  void read_free(TraceCursor& cursor);
  void read_revival(TraceCursor& cursor);
  void read_mapping(TraceCursor& cursor);
  void read_unmapping(TraceCursor& cursor);
  void read_mark(TraceCursor& cursor);

  std::uint64_t address(TraceCursor& cursor);
  std::uint32_t known_node(std::uint64_t node) const;
  void add_node(std::uint32_t parent, std::uint32_t location);
  std::uint32_t native_location(std::uint64_t ip);
  std::uint32_t phase_number(std::string_view name);
  [[nodiscard]] Birth birth_at(std::uint32_t node) const;
  /// Whether what was born at `site` in `stretch` and ends now was temporary.
  [[nodiscard]] bool temporary(const LiveHeap& heap, std::uint32_t site,
                               std::uint32_t stretch) const {
    return stretch == stretch_ && heap.thread_of(site) == thread_;
  }
  [[nodiscard]] static Estimate weigh(const Block& block);
  void kill(const Block& block);
  void count_size(std::uint64_t size, const Estimate& amount);
  void end_phase(std::int64_t now);
  void end_round(std::int64_t now);

  Profile profile_;
  double interval_ = 0;  ///< of the samples that follow; 0: every block was recorded
  LiveHeap malloc_{Heap::malloc};
  LiveHeap mapping_{Heap::mapping};
  tsl::robin_map<std::uint64_t, Block, AddressHash> blocks_;  ///< live ones, by address
  std::map<std::uint64_t, Mapping> mappings_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> locations_;
  std::map<std::uint64_t, std::size_t> modules_by_begin_;
  std::vector<std::pair<std::string, std::string>> codes_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> python_locations_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::map<std::string, std::uint32_t, std::less<>> phases_;
  std::uint64_t last_ip_ = 0;
  std::uint64_t last_address_ = 0;
  std::uint32_t thread_ = 0;
  Thread* running_ = &threads_[0];
  int round_ = 0;
  std::int64_t round_begin_ns_ = 0;
  std::uint32_t phase_ = 0;
  std::int64_t phase_begin_ns_ = 0;
  std::uint32_t stretch_ = 0;
  std::int64_t lost_nodes_ = 0;
  std::int64_t reborn_ = 0;
};

}  // namespace memduel
