#include "figures.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace memduel {
namespace {

std::string with_unit(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

std::string plain_number(double value) {
  // The sign of what is no number says nothing.
  return std::isnan(value) ? "nan" : with_unit("%g", value);
}

std::string mebibytes(std::int64_t bytes) {
  constexpr double kMebi = 1 << 20;
  return with_unit("%.1f MiB", static_cast<double>(bytes) / kMebi);
}

std::string percentage(double value) {
  return with_unit("%.1f%%", value);
}

std::string milliseconds(double seconds) {
  return with_unit("%.2f ms", seconds * 1e3);
}

}  // namespace memduel
