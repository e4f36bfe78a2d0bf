// The profile reader against arbitrary bytes: as a whole file, and as the inside of an events block
// whose checksum is right.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profile/outputs.h"
#include "profile/recorded_files.h"
#include "util/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string file(bytes);
  if ((data[0] & 1) != 0) {
    memduel::TraceWriter writer;
    writer.add(memduel::recorder::BlockType::info,
               (data[0] & 2) != 0 ? "mode sampled\ninterval_bytes 1000\n" : "mode exact\n");
    writer.add(memduel::recorder::BlockType::events, bytes);
    if ((data[0] & 4) != 0) writer.add(memduel::recorder::BlockType::symbols, bytes);
    file = writer.finish();
  }
  try {
    const memduel::Profile profile = memduel::profile_from_bytes(file, "fuzz");
    memduel::summarize(profile);
    memduel::export_pprof(profile);
  } catch (const memduel::Error&) {
    return 0;
  }
  return 0;
}
