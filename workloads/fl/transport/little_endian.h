// Numbers as the codecs write them: the lowest byte first.
#pragma once

#include <cstddef>
#include <string>

namespace memduel {

template <class Number>
void put_little_endian(std::string& out, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

}  // namespace memduel
