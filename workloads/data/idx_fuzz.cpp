// The first two bytes say where the label file begins within the rest.
#include <cstddef>
#include <cstdint>

#include "cifar10.h"
#include "gzip.h"
#include "idx.h"
#include "util/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace memduel;
  if (size < 2) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view rest = all.substr(2);
  const std::size_t cut = std::min<std::size_t>(data[0] + std::size_t{256} * data[1], rest.size());
  try {
    const ImageSet set = parse_idx(rest.substr(0, cut), rest.substr(cut), "images", "labels");
    if (set.pixels.size() != set.count() * set.image_bytes()) __builtin_trap();
  } catch (const Error&) {
  }
  try {
    parse_cifar10(rest, "batch");
  } catch (const Error&) {
  }
  try {
    gunzip(rest, "gz", std::size_t{1} << 20);
  } catch (const Error&) {
  }
  return 0;
}
