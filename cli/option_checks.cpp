#include "cli/finite_range.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace memduel::cli {

CLI::Validator finite_range(double least, double most) {
  const auto refuse = [least, most](const std::string& text) -> std::string {
    const double value = std::strtod(text.c_str(), nullptr);
    if (std::isnan(value)) return "Value " + text + " is not a number";
    if (value >= least && value <= most) return {};
    return fmt::format("Value {} is not from {:g} to {:g}", text, least, most);
  };
  return {refuse, ""};
}

CLI::Validator no_sign() {
  const auto refuse_sign = [](const std::string& text) {
    return text.starts_with('-') ? "Value " + text + " is negative" : std::string();
  };
  return {refuse_sign, ""};
}

}  // namespace memduel::cli
