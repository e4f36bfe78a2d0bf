#include "cli/resume_command.h"

#include <algorithm>
#include <string_view>

#include "base/command_line.h"

namespace memduel::cli {
namespace {

bool is_option(const std::string& word, std::string_view option) {
  return word == option || word.starts_with(std::string(option) + "=");
}

}  // namespace

std::string resume_command(const std::vector<std::string>& words, const std::string& directory) {
  constexpr std::size_t kProgramAndVerb = 2;
  if (words.size() < kProgramAndVerb) return "the same command, --out " + directory + " --resume";
  std::vector<std::string> again = {"memduel", words[1]};
  std::size_t at = kProgramAndVerb;
  for (; at < words.size() && words[at] != "--"; ++at) {
    const std::string& word = words[at];
    if (word == "--resume") continue;
    if (is_option(word, "--out") || is_option(word, "--max-minutes")) {
      if (word.find('=') == std::string::npos) ++at;
      continue;
    }
    again.push_back(word);
  }
  again.insert(again.end(), {"--out", directory, "--resume"});
  for (; at < words.size(); ++at) again.push_back(words[at]);
  return quoted_command_line(again);
}

}  // namespace memduel::cli
