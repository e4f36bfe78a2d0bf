#include "profilers/profile/capture/finish_profile.h"

#include "base/varint.h"
#include "profilers/profile/decode/load_profile.h"
#include "profilers/profile/decode/trace_file.h"
#include "profilers/profile/names/module_names.h"

namespace memduel {

namespace {

std::string symbols_of(const Profile& profile) {
  std::string bytes;
  for (const ProfileLocation& location : profile.locations) {
    if (location.kind != ProfileLocation::Kind::native || location.names.empty()) continue;
    put_varint(bytes, location.module ? *location.module + 1 : 0);
    put_varint(bytes, location.address);
    put_names(bytes, location.names);
  }
  return bytes;
}

/// An events block of nothing else.
std::string block_of(const HeapTotals& counters) {
  std::string bytes(1, static_cast<char>(recorder::Event::counters));
  put_varint(bytes, 0);  // the time, which nobody reads
  put_varint(bytes, 0);  // no node has to be there
  put_varint(bytes, zigzag(counters.live_bytes));
  for (const std::int64_t number :
       {counters.peak_bytes, counters.allocated_bytes, counters.allocations})
    put_varint(bytes, static_cast<std::uint64_t>(number));
  put_varint(bytes, zigzag(counters.mapping_bytes));
  for (const std::int64_t number : {counters.mapping_peak_bytes, counters.lost, counters.threads})
    put_varint(bytes, static_cast<std::uint64_t>(number));
  return bytes;
}

}  // namespace

FinishedProfile finish_profile(std::string_view recorded, const std::string& name,
                               const SymbolOptions& options,
                               const std::map<std::string, std::string>& more_info,
                               const std::optional<HeapTotals>& last) {
  FinishedProfile finished;
  finished.profile = profile_from_bytes(recorded, name);
  symbolize(finished.profile, options);
  TraceWriter writer;
  LastSnapshot last_snapshot(recorded);
  const TraceReading reading = read_trace(recorded, name, [&](const TraceBlock& block) {
    const bool of_snapshot =
        block.type == recorder::BlockType::pages || block.type == recorder::BlockType::snapshot;
    const bool is_renewed =
        block.type == recorder::BlockType::symbols || block.type == recorder::BlockType::index;
    if (!is_renewed && (!of_snapshot || last_snapshot.has(block.type)))
      writer.add(block.type, block.bytes);
  });
  if (last) {
    finished.profile.counters = last;
    writer.add(recorder::BlockType::events, block_of(*last));
  }
  std::string info;
  for (const auto& [key, value] : more_info) {
    finished.profile.info[key] = value;
    info += key + " " + value + "\n";
  }
  // The new file is whole: only this line remembers what the old one had lost.
  if (const std::string loss = loss_of(reading); !loss.empty()) info += "loss " + loss + "\n";
  if (!info.empty()) writer.add(recorder::BlockType::info, info);
  writer.add(recorder::BlockType::symbols, symbols_of(finished.profile));
  finished.bytes = writer.finish();
  return finished;
}

}  // namespace memduel
