#include "command_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>

#include "run/builds.h"
#include "util/command_line.h"
#include "util/error.h"

namespace memduel::cli {
namespace {

using Words = std::vector<std::string>;

/// Of each command; empty where one is no command line.
std::vector<Words> words_of(const std::vector<std::string>& commands) {
  std::vector<Words> all;
  try {
    for (const std::string& command : commands) {
      const CommandLine line = split_command_line(command);
      if (!line.env.empty()) return {};
      all.push_back(line.argv);
    }
  } catch (const Error&) {
    return {};  // the command itself is refused later, with its place
  }
  return all;
}

/// The number of the only word that is not the same in all commands.
std::optional<std::size_t> differing_word(const std::vector<Words>& all) {
  std::optional<std::size_t> differing;
  for (std::size_t i = 0; i < all.front().size(); ++i) {
    const bool is_same =
        std::ranges::all_of(all, [&](const Words& one) { return one[i] == all.front()[i]; });
    if (is_same) continue;
    if (differing) return std::nullopt;
    differing = i;
  }
  return differing;
}

bool begins_with_a_letter(const std::string& name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0;
}

/// "threads" of "--threads"; empty where the word is no option.
std::string option_name(const std::string& word) {
  return word.starts_with('-') ? word.substr(std::min(word.find_first_not_of('-'), word.size()))
                               : "";
}

/// "evict" of python3 evict.py data.bin: the first file with an extension in letters, else the
/// program.
std::string program_name(const Words& words, std::size_t end) {
  for (std::size_t i = 0; i < end; ++i) {
    const std::filesystem::path path(words[i]);
    const std::string extension = path.extension().string();
    if (extension.size() > 1 && begins_with_a_letter(extension.substr(1)))
      return path.stem().string();
  }
  return std::filesystem::path(words.front()).filename().string();
}

/// The word without its directories; a number stands behind its option or the program:
/// "threads-4" of --threads 4 and of --threads=4, "evict-0.50" of evict.py 0.50.
std::string name_of_word(const Words& words, std::size_t at) {
  std::string name = std::filesystem::path(words[at]).filename().string();
  if (const std::string option = option_name(name); !option.empty()) {
    const std::size_t equals = option.find('=');
    return equals == std::string::npos ? name
                                       : option.substr(0, equals) + "-" + option.substr(equals + 1);
  }
  if (at == 0 || name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) == 0)
    return name;
  const std::string option = option_name(words[at - 1]);
  return (option.empty() ? program_name(words, at) : option) + "-" + name;
}

bool are_distinct_names(const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 20;  // a column of a table of 80 characters
  return std::set<std::string>(names.begin(), names.end()).size() == names.size() &&
         std::ranges::all_of(names, [](const std::string& name) {
           return arm_name_for(name) == name && name.size() <= kLongest &&
                  begins_with_a_letter(name);
         });
}

}  // namespace

std::vector<std::string> names_after_difference(const std::vector<std::string>& commands) {
  const std::vector<Words> all = words_of(commands);
  if (all.size() < 2) return {};
  const bool are_as_long =
      std::ranges::all_of(all, [&](const Words& one) { return one.size() == all.front().size(); });
  const auto at = are_as_long ? differing_word(all) : std::nullopt;
  if (!at) return {};
  std::vector<std::string> names;
  for (const Words& one : all) names.push_back(name_of_word(one, *at));
  return are_distinct_names(names) ? names : std::vector<std::string>();
}

}  // namespace memduel::cli
