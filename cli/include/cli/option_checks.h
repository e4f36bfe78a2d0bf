// Options of a command with several forms: what the form at hand has no use for is refused, never
// ignored.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

namespace memduel::cli {

/// One of the ways in which a command is given, such as `compare` of two measured runs.
struct CommandForm {
  unsigned bit;
  const char* name;
};

struct OptionOfForms {
  const char* option;
  unsigned forms;           ///< the bits of those that honour it
  const char* why = "";     ///< says of each other form why it does not: "takes no trials"
  const char* advice = "";  ///< what to do then
};

/// Throws Error(usage) for an option that was given and that the form does not honour. Each option
/// of the verb has a row in `options`; throws std::logic_error for one without.
void refuse_options_of_other_forms(const CLI::App& verb, const CommandForm& form,
                                   std::span<const OptionOfForms> options);

}  // namespace memduel::cli
