#include "cli/option_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"

namespace memduel::cli {

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
