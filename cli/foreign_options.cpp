#include "foreign_options.h"

#include <algorithm>
#include <array>
#include <span>

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
                  "memduel stops when it is decided, after 6, 10 or 16 trials that share one error "
                  "rate; -r sets the number of trials"},
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

constexpr const char* kOfSeveral = "memduel compare takes several commands";
constexpr const char* kOfBuilds = "memduel compare takes builds and revisions";

/// What memduel compare has and measure has not.
constexpr std::array kOfCompare = {
    ForeignOption{"--a", "", kOfSeveral},
    ForeignOption{"--b", "", kOfSeveral},
    ForeignOption{"--parameter-list", "-L", kOfSeveral},
    ForeignOption{"--parameter-scan", "-P", kOfSeveral},
    ForeignOption{"--parameter-step-size", "-D", kOfSeveral},
    ForeignOption{"--calibrate", "", "an A/A test runs two: memduel compare --calibrate CMD CMD"},
    ForeignOption{"--variants", "", "one command is one variant"},
    ForeignOption{"--seed", "", "trials of one command have no order to draw"},
    ForeignOption{"--build-a", "", kOfBuilds},
    ForeignOption{"--build-b", "", kOfBuilds},
    ForeignOption{"--ref-a", "", kOfBuilds},
    ForeignOption{"--ref-b", "", kOfBuilds},
    ForeignOption{"--build", "", kOfBuilds},
    ForeignOption{"--keep", "", kOfBuilds},
    ForeignOption{"--gate", "", "--limit 'peak_rss<=200MiB' sets a limit; other gates compare"},
    ForeignOption{"--gate-strict", "", "a limit of --limit has no CI"},
    ForeignOption{"--min-runs", "-m", "measure runs 10 trials; -r sets another number"},
    ForeignOption{"--max-runs", "-M", "measure runs 10 trials; -r sets another number"}};

std::optional<std::string> advice_in(std::span<const ForeignOption> options,
                                     std::string_view option) {
  const auto found = std::ranges::find_if(options, [&](const ForeignOption& one) {
    return option == one.name || option == one.letter;
  });
  return found == options.end() ? std::nullopt : std::optional<std::string>(found->advice);
}

}  // namespace

std::optional<std::string> advice_for_foreign_option(std::string_view verb,
                                                     std::string_view option) {
  const bool is_measure = verb == "measure";
  if ((verb != "compare" && !is_measure) || option.empty()) return std::nullopt;
  if (is_measure)
    if (auto advice = advice_in(kOfCompare, option)) return advice;
  return advice_in(kOfHyperfine, option);
}

}  // namespace memduel::cli
