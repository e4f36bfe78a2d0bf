// Whatever a process sends: no crash, and how the bytes are cut into pieces does not matter.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "experiment/marks/marks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  memduel::MarkReader whole;
  const auto marks = whole.feed(bytes);
  memduel::MarkReader pieces;
  std::size_t count = 0;
  for (std::size_t at = 0; at < size;) {
    const std::size_t length = std::min<std::size_t>(1 + data[at] % 7, size - at);
    count += pieces.feed(bytes.substr(at, length)).size();
    at += length;
  }
  if (count != marks.size() || pieces.garbage_lines() != whole.garbage_lines()) std::abort();
  return 0;
}
