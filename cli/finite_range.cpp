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

CLI::Validator no_sign() {
  const auto refuse_sign = [](const std::string& text) {
    return text.starts_with('-') ? "Value " + text + " is negative" : std::string();
  };
  return {refuse_sign, ""};
}

}  // namespace memduel::cli
