#include "base/random_digits.h"

#include <fmt/format.h>

#include <random>

namespace memduel {

std::string random_digits() {
  std::random_device device;  // /dev/urandom's numbers
  std::string digits;
  for (int i = 0; i < 4; ++i) digits += fmt::format("{:08x}", device());
  return digits;
}

}  // namespace memduel
