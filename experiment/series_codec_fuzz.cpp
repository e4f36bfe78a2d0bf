// Any bytes as a series blob: an Error, or samples that encode to the same samples.
#include <cstdlib>

#include "base/error.h"
#include "experiment/series_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view blob(reinterpret_cast<const char*>(data), size);
  try {
    const auto once = memduel::decode_series(blob);
    const auto again = memduel::decode_series(memduel::encode_series(once));
    if (again.t_ns != once.t_ns || again.values != once.values) std::abort();
  } catch (const memduel::Error&) {
  }
  return 0;
}
