// What is said of a file whose length is not what its header says.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace memduel {

inline std::string ends_within_header(std::uint64_t found, std::uint64_t header) {
  return fmt::format("the file ends within its header: expected at least {} bytes, found {}",
                     header, found);
}

inline std::string not_of_header(std::uint64_t found, std::uint64_t expected) {
  return fmt::format("expected {} bytes according to the header, found {}", expected, found);
}

}  // namespace memduel
