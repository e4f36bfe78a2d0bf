// What is said of a file whose length is not what its header says.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace memduel {

inline std::string ends_within_header(std::uint64_t found, std::uint64_t header) {
  return fmt::format("the file ends within its header: found {} bytes, expected at least {}", found,
                     header);
}

inline std::string not_of_header(std::uint64_t found, std::uint64_t expected) {
  return fmt::format("found {} bytes, expected {} from the header's counts", found, expected);
}

}  // namespace memduel
