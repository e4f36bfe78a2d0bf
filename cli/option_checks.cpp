#include "cli/option_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "util/error.h"

namespace memduel::cli {

CLI::Validator finite_range(double least, double most) {
  const auto refuse = [least, most](const std::string& text) -> std::string {
    const double value = std::strtod(text.c_str(), nullptr);
    if (value >= least && value <= most) return {};
    return fmt::format("expected a number from {:g} to {:g}, found \"{}\"", least, most, text);
  };
  return {refuse, ""};
}

CLI::Validator no_sign() {
  const auto refuse_sign = [](const std::string& text) {
    return text.starts_with('-') ? "Value " + text + " is negative" : std::string();
  };
  return {refuse_sign, ""};
}

double share_of(const std::string& text, const char* option, const char* example, double least) {
  constexpr double kMost = 10;
  char* end = nullptr;
  const double share = std::strtod(text.c_str(), &end) / 100;
  const bool is_percent = end != text.c_str() && std::string_view(end) == "%";
  if (!is_percent || !(share >= least) || share > kMost)
    throw Error(
        ExitCode::usage,
        fmt::format("expected a share of at most 1000% such as {}, found \"{}\"", example, text),
        option);
  return share;
}

void refuse_options_of_other_forms(const CLI::App& verb, const CommandForm& form,
                                   std::span<const OptionOfForms> options) {
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_positional() || option == verb.get_help_ptr()) continue;
    const std::string name = option->get_name();
    const auto row = std::ranges::find(options, name, &OptionOfForms::option);
    if (row == options.end())
      throw std::logic_error(fmt::format("no form of {} has {}", verb.get_name(), name));
    if (option->count() == 0 || (row->forms & form.bit) != 0) continue;
    throw Error(ExitCode::usage, fmt::format("{} {}", form.name, row->why), name, row->advice);
  }
}

}  // namespace memduel::cli
