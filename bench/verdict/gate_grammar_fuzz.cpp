// Any bytes: parse_gate either reads them or throws Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/error.h"
#include "verdict/gates.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(memduel::parse_gate({reinterpret_cast<const char*>(data), size}));
  } catch (const memduel::Error&) {
    return 0;
  }
  return 0;
}
