#include "cli/resume_command.h"

#include <fmt/format.h>

#include "base/command_line.h"
#include "base/printed_command.h"

namespace memduel::cli {

std::string resume_command(const std::vector<std::string>& words, const std::string& directory,
                           std::optional<double> minutes) {
  std::vector<std::string> again = words;
  if (again.empty()) again.emplace_back();
  again.front() = "memduel";
  again = without_option(std::move(again), "--resume", 0);
  again = without_option(std::move(again), "--out", 1);
  again = without_option(std::move(again), "--max-minutes", 1);
  std::vector<std::string> options = {"--out", directory, "--resume"};
  if (minutes) options.insert(options.begin(), {"--max-minutes", fmt::format("{:g}", *minutes)});
  return quoted_command_line(with_options(std::move(again), options));
}

}  // namespace memduel::cli
