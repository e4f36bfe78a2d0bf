// Replays the events of a trace into a profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "profilers/profile/decode/live_blocks.h"
#include "profilers/profile/decode/snapshot_pages.h"
#include "profilers/profile/decode/trace_file.h"
#include "profilers/profile/decode/trace_rounds.h"
#include "profilers/profile/decode/trace_stacks.h"

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
  /// Of a snapshot that is kept: its last block finds the owners of its pages.
  void pages_block(const std::string& bytes, bool is_last);
  /// Of a forked process: its memory as it began.
  void fork_block(const std::string& bytes);
  /// Ends the replay.
  Profile finish();

 private:
  struct Thread {
    std::uint32_t phase = 0;
    /// The block of its last free. A realloc that fails takes it back before it frees another.
    std::uint64_t freed_address = 0;
    std::optional<LiveBlock> freed;
  };

  void event(TraceCursor& cursor);
  void read_counters(TraceCursor& cursor);
  void read_allocation(TraceCursor& cursor);
  void read_free(TraceCursor& cursor);
  void read_revival(TraceCursor& cursor);
  void read_mapping(TraceCursor& cursor);
  void read_unmapping(TraceCursor& cursor);
  void read_touched(TraceCursor& cursor);

  std::uint64_t address(TraceCursor& cursor);
  [[nodiscard]] Moment now() const;
  void finish_together(std::uint32_t first_mapping_site);
  void count_size(std::uint64_t size, const Estimate& amount);

  Profile profile_;
  double interval_ = 0;  ///< of the samples that follow; 0: every block was recorded
  TraceStacks stacks_{profile_};
  TogetherPeak together_;
  LiveBlocks blocks_{together_};
  LiveMappings mappings_{together_};
  SnapshotPages snapshot_{profile_};
  TraceRounds rounds_{profile_, blocks_.heap()};
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::uint64_t last_address_ = 0;
  std::uint32_t thread_ = 0;
  Thread* running_ = &threads_[0];
};

}  // namespace memduel
