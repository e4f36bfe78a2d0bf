// Checks of options that CLI11 lacks: numbers of a finite range, and options that only some forms
// of a verb take.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace memduel::cli {

/// A number from `least` to `most`. CLI::Range lets NaN through, which is neither below nor above.
CLI::Validator finite_range(double least, double most);

/// Before CLI::AsSizeValue, which takes -1 for the largest number of bytes that there is.
CLI::Validator no_sign();

/// A share of at most 1000%: "2%" is 0.02. Throws Error(usage) for other text and for less than
/// `least`, with `example` as what was expected.
double share_of(const std::string& text, const char* option, const char* example, double least);

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
