#include "profilers/profile/finish_profile.h"

#include "profilers/profile/load_profile.h"
#include "profilers/profile/trace_file.h"

namespace memduel {

namespace {

std::string symbols_of(const Profile& profile) {
  std::string bytes;
  for (const ProfileLocation& location : profile.locations) {
    if (location.kind != ProfileLocation::Kind::native || location.names.empty()) continue;
    put_number(bytes, location.module ? *location.module + 1 : 0);
    put_number(bytes, location.address);
    put_number(bytes, location.names.size());
    for (const FrameName& name : location.names) {
      put_text(bytes, name.function);
      put_text(bytes, name.file);
      put_number(bytes, static_cast<std::uint64_t>(name.line));
    }
  }
  return bytes;
}

}  // namespace

FinishedProfile finish_profile(std::string_view recorded, const std::string& name,
                               const SymbolOptions& options,
                               const std::map<std::string, std::string>& more_info) {
  FinishedProfile finished;
  finished.profile = profile_from_bytes(recorded, name);
  symbolize(finished.profile, options);
  TraceWriter writer;
  const TraceReading reading = read_trace(recorded, name, [&writer](const TraceBlock& block) {
    if (block.type != recorder::BlockType::symbols && block.type != recorder::BlockType::index) {
      writer.add(block.type, block.bytes);
    }
  });
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
