#include "base/printed_command.h"

#include <algorithm>

namespace memduel {

std::vector<std::string> without_option(std::vector<std::string> words, std::string_view option,
                                        std::size_t values) {
  const std::string with_value = std::string(option) + "=";
  for (std::size_t at = 0; at < words.size() && words[at] != "--";) {
    const bool is_whole = words[at] == option;
    if (!is_whole && !words[at].starts_with(with_value)) {
      ++at;
      continue;
    }
    const std::size_t end = std::min(words.size(), at + 1 + (is_whole ? values : 0));
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(at),
                words.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return words;
}

std::vector<std::string> without_setting(std::vector<std::string> words, std::string_view key) {
  const std::string setting = std::string(key) + "=";
  for (std::size_t at = 0; at < words.size() && words[at] != "--";) {
    const bool is_apart =
        words[at] == "--set" && at + 1 < words.size() && words[at + 1].starts_with(setting);
    if (!is_apart && !words[at].starts_with("--set=" + setting)) {
      ++at;
      continue;
    }
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
    words.erase(begin, begin + (is_apart ? 2 : 1));
  }
  return words;
}

std::vector<std::string> with_options(std::vector<std::string> words,
                                      const std::vector<std::string>& options) {
  words.insert(std::ranges::find(words, "--"), options.begin(), options.end());
  return words;
}

std::string with_command(const std::string& text, const std::string& command) {
  return text + ":\n  " + command;
}

}  // namespace memduel
