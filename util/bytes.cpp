// Random digits stand apart from sha256.cpp, which a worker-only build leaves out.

#include "util/bytes.h"

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
