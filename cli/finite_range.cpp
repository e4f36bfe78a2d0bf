#include "cli/finite_range.h"

#include <cmath>
#include <cstdlib>

namespace memduel::cli {

CLI::Validator finite_range(double least, double most) {
  const auto refuse_nan = [](const std::string& text) {
    return std::isnan(std::strtod(text.c_str(), nullptr)) ? "Value " + text + " is not a number"
                                                          : std::string();
  };
  return CLI::Range(least, most) & CLI::Validator(refuse_nan, "");
}

}  // namespace memduel::cli
