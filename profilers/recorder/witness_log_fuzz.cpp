// Whatever a program writes into its witness's file: every line counts, and none twice.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "recorder/witness_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const memduel::WitnessLog log = memduel::read_witness_log(text);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  if (log.images.size() + log.silent.size() + static_cast<std::size_t>(log.garbage_lines) > lines)
    std::abort();
  for (const memduel::SilentImage& image : log.silent)
    if (log.last_of(image.pid) != nullptr) std::abort();
  return 0;
}
