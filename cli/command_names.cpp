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

bool are_distinct_names(const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 20;  // a column of a table of 80 characters
  return std::set<std::string>(names.begin(), names.end()).size() == names.size() &&
         std::ranges::all_of(names, [](const std::string& name) {
           return arm_name_for(name) == name && name.size() <= kLongest &&
                  std::isalpha(static_cast<unsigned char>(name.front())) != 0;
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
  for (const Words& one : all) names.push_back(std::filesystem::path(one[*at]).filename().string());
  return are_distinct_names(names) ? names : std::vector<std::string>();
}

}  // namespace memduel::cli
