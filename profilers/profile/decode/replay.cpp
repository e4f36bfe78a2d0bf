// Replays the events of a trace into a profile: ProfileReplay.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "checked_number.h"
#include "live_blocks.h"
#include "live_heap.h"
#include "profile/recorded_files.h"
#include "snapshot_pages.h"
#include "trace_stacks.h"
#include "util/text.h"

namespace memduel {

namespace events = recorder::events;

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

  void take(const events::Counters& event);
  void take(const events::Module& event) { stacks_.add_module(event); }
  void take(const events::Node& event) { stacks_.add_node(event); }
  void take(const events::Code<>& event) { stacks_.add_code(event); }
  void take(const events::Python& event) { stacks_.add_python(event); }
  void take(const events::Thread& event);
  void take(const events::Allocation& event);
  void take(const events::Free& event);
  void take(const events::Revive& event);
  void take(const events::Mapping& event);
  void take(const events::Unmapping& event);
  void take(const events::Touched& event);
  void take(const events::Mark& event) { rounds_.take(event); }
  void take(const events::ThreadPhase& event) {
    running_->phase = rounds_.phase_number(event.phase);
  }
  void take(const events::Interval& event) { interval_ = static_cast<double>(event.bytes); }

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
  std::uint32_t thread_ = 0;
  Thread* running_ = &threads_[0];
};

namespace {

constexpr std::uint64_t kMostSize = std::uint64_t{1} << 48;

}  // namespace

void Replay::info_block(const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string line = bytes.substr(at, end - at);
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) {
      profile_.info[line.substr(0, space)] = line.substr(space + 1);
    }
    at = end + 1;
  }
  interval_ = std::strtod(profile_.fact("interval_bytes").c_str(), nullptr);
}

void Replay::events_block(const std::string& bytes, int number) {
  TraceCursor cursor(bytes);
  std::size_t begin = 0;
  try {
    while (!cursor.at_end()) {
      begin = cursor.position();
      cursor.take_record(events::All(), [this](const auto& event) { take(event); });
    }
  } catch (const std::out_of_range& problem) {
    profile_.notes.push_back(
        fmt::format("block {}: the event at byte {} makes no sense ({}); the "
                    "rest of the block is lost",
                    number, begin, problem.what()));
  }
}

void Replay::take(const events::Counters& event) {
  const auto number = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
  HeapTotals counters;
  counters.live_bytes = event.live_bytes;
  counters.peak_bytes = number(event.peak_bytes);
  counters.allocated_bytes = number(event.allocated_bytes);
  counters.allocations = number(event.allocations);
  counters.mapping_bytes = event.mapping_bytes;
  counters.mapping_peak_bytes = number(event.mapping_peak_bytes);
  counters.lost = number(event.lost);
  counters.threads = number(event.threads);
  profile_.counters = counters;
  stacks_.expect(event.next_node);
}

void Replay::take(const events::Thread& event) {
  thread_ = checked_number<std::uint32_t>(event.thread, "thread");
  running_ = &threads_[thread_];
}

void Replay::count_size(std::uint64_t size, const Estimate& amount) {
  const auto bin = static_cast<std::size_t>(size < 2 ? 0 : std::bit_width(size) - 1);
  while (profile_.sizes.size() <= bin) {
    profile_.sizes.push_back({std::int64_t{1} << profile_.sizes.size(), {}});
  }
  profile_.sizes[bin].allocated += amount;
}

Moment Replay::now() const {
  return {rounds_.round(), running_->phase != 0 ? running_->phase : rounds_.phase(), thread_,
          rounds_.stretch()};
}

void Replay::take(const events::Allocation& event) {
  const std::uint32_t node = stacks_.known(event.node);
  const std::uint64_t size = event.requested_bytes;
  if (size > kMostSize) throw std::out_of_range("an impossible size");
  const auto extra =
      std::clamp<std::int64_t>(event.extra_bytes, 0, std::numeric_limits<std::uint32_t>::max());
  count_size(size,
             blocks_.allocate(event.at.value, {size, static_cast<std::uint32_t>(extra), interval_},
                              node, now()));
}

void Replay::take(const events::Free& event) {
  const auto block = blocks_.free(event.at.value, now());
  if (!block) return;
  running_->freed_address = event.at.value;
  running_->freed = block;
}

void Replay::take(const events::Revive& event) {
  if (!running_->freed || running_->freed_address != event.at.value) return;
  blocks_.revive(event.at.value, *std::exchange(running_->freed, std::nullopt), now());
}

void Replay::take(const events::Mapping& event) {
  const std::uint32_t node = stacks_.known(event.node);
  if (event.bytes == 0 || event.bytes > kMostSize) throw std::out_of_range("an impossible mapping");
  mappings_.map(event.at.value, event.bytes, node, now());
}

void Replay::take(const events::Unmapping& event) {
  if (event.bytes > kMostSize) throw std::out_of_range("an impossible mapping");
  mappings_.unmap(event.at.value, event.at.value + event.bytes, now());
}

void Replay::take(const events::Touched& event) {
  if (event.bytes > kMostSize || event.touched_bytes > event.bytes)
    throw std::out_of_range("an impossible mapping");
  mappings_.touch(event.at.value, event.at.value + event.bytes, event.touched_bytes);
}

void Replay::pages_block(const std::string& bytes, bool is_last) {
  TraceCursor cursor(bytes);
  try {
    snapshot_.read(cursor);
  } catch (const std::out_of_range& problem) {
    profile_.notes.push_back(
        fmt::format("the snapshot of resident memory makes no sense: {}", problem.what()));
    snapshot_ = SnapshotPages(profile_);
    return;
  }
  if (is_last) snapshot_.find_owners(blocks_, mappings_);
}

void Replay::fork_block(const std::string& bytes) {
  TraceCursor cursor(bytes);
  try {
    snapshot_.read_fork(cursor);
  } catch (const std::out_of_range& problem) {
    profile_.notes.push_back(
        fmt::format("the memory at the fork makes no sense: {}", problem.what()));
    snapshot_.drop_fork();
  }
}

void Replay::symbols_block(const std::string& bytes) {
  TraceCursor cursor(bytes);
  try {
    stacks_.read_symbols(cursor);
  } catch (const std::out_of_range& problem) {
    profile_.notes.push_back(fmt::format("the symbols end early: {}", problem.what()));
  }
}

/// A profile of an earlier version, or one that was never finished, does not have it.
void Replay::finish_together(std::uint32_t first_mapping_site) {
  const std::string fact = profile_.fact(kTogetherPeakFact);
  if (fact.empty()) return;
  if (profile_.counters)
    profile_.counters->together_peak_bytes = std::strtoll(fact.c_str(), nullptr, 10);
  mappings_.finish();
  profile_.together_peak = together_.peak(first_mapping_site);
  constexpr double kMuch = 0.05;  // of the list: what it leaves out should not surprise
  constexpr double kMuchBytes = 4 << 20;
  const double untouched = together_.untouched_bytes();
  if (untouched > std::max(kMuchBytes, kMuch * profile_.together_peak.total.bytes))
    profile_.notes.push_back(
        fmt::format("the list of heap and mappings does not contain {} of untouched mappings below "
                    "2 MiB; the peak of heap and mapped memory does",
                    format_bytes(untouched)));
  if (const double unknown = mappings_.unknown_bytes(); unknown > 0)
    profile_.notes.push_back(
        fmt::format("the peak of heap and mappings does not contain {} of large mappings: the "
                    "recorder could not read which of their pages were touched",
                    format_bytes(unknown)));
}

Profile Replay::finish() {
  profile_.peak = blocks_.heap().run_peak();
  profile_.mapping_peak = mappings_.heap().run_peak();
  rounds_.finish();
  profile_.sites = blocks_.heap().finish();
  const auto offset = static_cast<std::uint32_t>(profile_.sites.size());
  for (AllocationSite& site : mappings_.heap().finish()) profile_.sites.push_back(site);
  for (auto& entry : profile_.mapping_peak.sites) entry.first += offset;
  finish_together(offset);
  snapshot_.finish(offset);
  if (stacks_.lost() > 0) {
    profile_.notes.push_back(
        fmt::format("{} lost with damaged blocks",
                    format_count(stacks_.lost(), "frame of a stack is", "frames of stacks are")));
  }
  if (blocks_.reborn() > 0) {
    profile_.notes.push_back(
        fmt::format("the recorder missed {} frees; it counts those allocations as freed when their "
                    "address was allocated again",
                    blocks_.reborn()));
  }
  return std::move(profile_);
}

std::string loss_of(const TraceReading& reading) {
  if (reading.damaged == 0 && !reading.truncated) return {};
  const auto all = reading.blocks + reading.damaged + (reading.truncated ? 1 : 0);
  return fmt::format("recovered {} of {}{}", reading.blocks, format_count(all, "block"),
                     reading.truncated
                         ? fmt::format("; the file ends inside a block at byte {}", reading.bytes)
                         : "");
}

struct ProfileReplay::State {
  LastSnapshot last_snapshot;
  Replay replay;
  int blocks = 0;
  bool unknown_seen = false;
  std::string symbols;  ///< applied last: its locations come from the events
};

ProfileReplay::ProfileReplay(LastSnapshot last_snapshot) : state_(std::make_unique<State>()) {
  state_->last_snapshot = last_snapshot;
}
ProfileReplay::~ProfileReplay() = default;

void ProfileReplay::take(const TraceBlock& block) {
  ++state_->blocks;
  switch (block.type) {
    case recorder::BlockType::info:
      state_->replay.info_block(block.bytes);
      break;
    case recorder::BlockType::events:
      state_->replay.events_block(block.bytes, state_->blocks);
      break;
    case recorder::BlockType::symbols:
      state_->symbols = block.bytes;
      break;
    case recorder::BlockType::index:
      break;
    case recorder::BlockType::pages:
    case recorder::BlockType::snapshot:
      if (state_->last_snapshot.has(block.type))
        state_->replay.pages_block(block.bytes, block.type == recorder::BlockType::snapshot);
      break;
    case recorder::BlockType::fork:
      state_->replay.fork_block(block.bytes);
      break;
    default:
      state_->unknown_seen = true;
  }
}

Profile ProfileReplay::finish(const TraceReading& reading) {
  state_->replay.symbols_block(state_->symbols);
  Profile profile = state_->replay.finish();
  if (const std::string loss = loss_of(reading); !loss.empty()) {
    profile.notes.push_back(loss);
    profile.is_recovered = true;
  }
  if (profile.info.contains("end") && !reading.indexed && !reading.truncated) {
    profile.notes.push_back(fmt::format(
        "the file ends at byte {} without its index: it may be cut off", reading.bytes));
  }
  if (const std::string loss = profile.fact("loss"); !loss.empty()) profile.notes.push_back(loss);
  if (profile.info.contains("snapshot_failed")) {
    profile.notes.emplace_back(
        "there is no snapshot of resident memory: the process cannot read its own /proc");
  }
  if (state_->unknown_seen) {
    profile.notes.emplace_back(
        "this version of memduel does not support some of the file's blocks");
  }
  if (profile.counters && profile.counters->lost > 0) {
    profile.notes.push_back(fmt::format(
        "{} events or blocks of events were lost in the recorded process", profile.counters->lost));
  }
  return profile;
}

Profile profile_from_bytes(std::string_view bytes, const std::string& name) {
  ProfileReplay replay{LastSnapshot(bytes)};
  const TraceReading reading =
      read_trace(bytes, name, [&](const TraceBlock& block) { replay.take(block); });
  return replay.finish(reading);
}

}  // namespace memduel
