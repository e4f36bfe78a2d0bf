// Whatever a process sends: no crash, how the bytes are cut into pieces does not matter, and only a
// gauge declares a direction.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "trial/marks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  memduel::MarkReader whole;
  const auto marks = whole.feed(bytes);
  memduel::MarkReader pieces;
  std::vector<memduel::Mark> torn;
  for (std::size_t at = 0; at < size;) {
    const std::size_t length = std::min<std::size_t>(1 + data[at] % 7, size - at);
    for (memduel::Mark& mark : pieces.feed(bytes.substr(at, length)))
      torn.push_back(std::move(mark));
    at += length;
  }
  if (pieces.garbage_lines() != whole.garbage_lines()) std::abort();
  const auto same = [](const memduel::Mark& a, const memduel::Mark& b) {
    return a.kind == b.kind && a.name == b.name && a.value == b.value && a.better == b.better;
  };
  if (!std::ranges::equal(marks, torn, same)) std::abort();
  for (const memduel::Mark& mark : marks)
    if (mark.kind != memduel::Mark::Kind::gauge && mark.better != memduel::Direction::undeclared)
      std::abort();
  return 0;
}
