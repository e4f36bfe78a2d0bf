// Whatever is read as a frame must be one.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "can_log.h"
#include "util/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memduel;
  try {
    std::int64_t last_us = 0;
    parse_can_log({reinterpret_cast<const char*>(data), size}, "fuzz", [&](const CanFrame& frame) {
      const bool sound = frame.length <= kMostCanBytes && frame.id <= kMostCanId &&
                         frame.time_us >= last_us &&
                         std::all_of(frame.bytes.begin() + frame.length, frame.bytes.end(),
                                     [](std::uint8_t byte) { return byte == 0; });
      if (!sound) __builtin_trap();
      last_us = frame.time_us;
    });
  } catch (const Error&) {
  }
  return 0;
}
