#include "profilers/profile/decode/load_profile.h"

#include <fmt/format.h>

#include "base/text.h"
#include "profilers/profile/decode/replay.h"

namespace memduel {

std::string loss_of(const TraceReading& reading) {
  if (reading.damaged == 0 && !reading.truncated) return {};
  const auto all = reading.blocks + reading.damaged + (reading.truncated ? 1 : 0);
  return fmt::format("recovered {} of {}{}", reading.blocks, format_count(all, "block"),
                     reading.truncated
                         ? fmt::format("; the file ends inside a block at byte {}", reading.bytes)
                         : "");
}

Profile profile_from_bytes(std::string_view bytes, const std::string& name) {
  Replay replay;
  LastSnapshot last_snapshot(bytes);
  int number = 0;
  bool unknown_seen = false;
  std::string symbols;  // applied last: its locations come from the events
  const TraceReading reading = read_trace(bytes, name, [&](const TraceBlock& block) {
    ++number;
    switch (block.type) {
      case recorder::BlockType::info:
        replay.info_block(block.bytes);
        break;
      case recorder::BlockType::events:
        replay.events_block(block.bytes, number);
        break;
      case recorder::BlockType::symbols:
        symbols = block.bytes;
        break;
      case recorder::BlockType::index:
        break;
      case recorder::BlockType::pages:
      case recorder::BlockType::snapshot:
        if (last_snapshot.has(block.type))
          replay.pages_block(block.bytes, block.type == recorder::BlockType::snapshot);
        break;
      case recorder::BlockType::fork:
        replay.fork_block(block.bytes);
        break;
      default:
        unknown_seen = true;
    }
  });
  replay.symbols_block(symbols);
  Profile profile = replay.finish();
  if (const std::string loss = loss_of(reading); !loss.empty()) {
    profile.notes.push_back(loss);
    profile.is_recovered = true;
  }
  if (profile.info.contains("end") && !reading.indexed && !reading.truncated) {
    profile.notes.push_back(fmt::format(
        "the file ends at byte {} without its index: it may be cut off", reading.bytes));
  }
  if (const auto loss = profile.info.find("loss"); loss != profile.info.end()) {
    profile.notes.push_back(loss->second);
  }
  if (profile.info.contains("snapshot_failed")) {
    profile.notes.emplace_back(
        "there is no snapshot of resident memory: the process cannot read its own /proc");
  }
  if (unknown_seen) {
    profile.notes.emplace_back("some blocks are of a kind that this memduel does not know");
  }
  if (profile.counters && profile.counters->lost > 0) {
    profile.notes.push_back(fmt::format(
        "{} events or blocks of events were lost in the recorded process", profile.counters->lost));
  }
  return profile;
}

}  // namespace memduel
