#include "cli/exit_codes.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"

namespace memduel::cli {
namespace {

constexpr std::array<ExitCodeMeaning, 7> kMeanings = {
    {{"0", "no gate failed"},
     {"1", "a gate failed"},
     {"2", "bad usage or config, or the output directory is in use"},
     {"3", "could not measure"},
     {"4", "a file or data set failed"},
     {"5", "a gate is inconclusive and counts (--on-inconclusive)"},
     {"130, 143", "ended by SIGINT or SIGTERM"}}};

constexpr int kSkip = 125;
constexpr int kAbort = 128;

}  // namespace

std::span<const ExitCodeMeaning> exit_code_meanings() {
  return kMeanings;
}

std::string exit_code_table() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeMeaning& one : kMeanings)
    text += fmt::format("  {:<8}  {}\n", one.code, one.meaning);
  return text;
}

void add_exit_codes(CLI::App& verb, bool bisect) {
  std::string text = verb.get_footer() + "\n\n" + exit_code_table();
  if (bisect) text += "With --bisect, for git bisect run: 125 for 3, 4 and 5; 128 for 2.\n";
  text.pop_back();
  verb.footer(text);
}

int bisect_code(int code) {
  switch (static_cast<ExitCode>(code)) {
    case ExitCode::usage:
      return kAbort;
    case ExitCode::cannot_measure:
    case ExitCode::io:
    case ExitCode::undecided:
      return kSkip;
    default:
      return code;
  }
}

}  // namespace memduel::cli
