// Any bytes as a series blob, and as the content of a blob's frame: an Error, or samples that
// encode to the same samples.
#include <zstd.h>

#include <cstdlib>
#include <string>

#include "series_codec.h"
#include "util/error.h"

namespace {

void decode(std::string_view blob) {
  try {
    const auto once = memduel::decode_series(blob);
    const auto again = memduel::decode_series(memduel::encode_series(once));
    if (again.t_ns != once.t_ns || again.values != once.values) std::abort();
  } catch (const memduel::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  decode({reinterpret_cast<const char*>(data), size});
  std::string frame(ZSTD_compressBound(size), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), data, size, 1));
  decode(frame);
  return 0;
}
