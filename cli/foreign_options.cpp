#include "foreign_options.h"

#include <algorithm>
#include <array>

namespace memduel::cli {
namespace {

struct ForeignOption {
  std::string_view name;
  std::string_view letter;  ///< empty: none
  const char* advice;
};

constexpr std::array kOfHyperfine = {
    ForeignOption{"--metrics", "",
                  "memory and time are always measured; --gate judges any of memduel list metrics"},
    ForeignOption{"--min-runs", "-m",
                  "memduel stops when it is decided; -r sets the number of trials"},
    ForeignOption{"--max-runs", "-M", "-r sets the number of trials, --max-minutes their time"},
    ForeignOption{"--min-benchmarking-time", "", "-r sets the number of trials"},
    ForeignOption{"--output", "",
                  "what commands print is kept and compared; to redirect it use -S 'CMD > FILE'"},
    ForeignOption{"--show-output", "", "what commands print is in logs/ of the run"},
    ForeignOption{"--input", "", "use -S 'CMD < FILE'"},
    ForeignOption{"--style", "", "--quiet prints errors only, NO_COLOR=1 prints without colors"},
    ForeignOption{"--reference", "", "the first command is the baseline"},
    ForeignOption{"--reference-name", "", "-n names the first command, which is the baseline"},
    ForeignOption{"--time-unit", "-u",
                  "units follow the size of a value; --export-csv has seconds"},
    ForeignOption{"--sort", "", "variants are in the order of their commands"},
    ForeignOption{"--export-asciidoc", "", "use --export-markdown FILE"},
    ForeignOption{"--export-orgmode", "", "use --export-markdown FILE"}};

}  // namespace

std::optional<std::string> advice_for_foreign_option(std::string_view verb,
                                                     std::string_view option) {
  if (verb != "compare" || option.empty()) return std::nullopt;
  const auto* const found = std::ranges::find_if(kOfHyperfine, [&](const ForeignOption& one) {
    return option == one.name || option == one.letter;
  });
  return found == kOfHyperfine.end() ? std::nullopt : std::optional<std::string>(found->advice);
}

}  // namespace memduel::cli
