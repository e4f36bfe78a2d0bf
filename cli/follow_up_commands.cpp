#include "cli/merge_command.h"

#include <fmt/format.h>

#include <vector>

#include "base/command_line.h"
#include "base/printed_command.h"

namespace memduel::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNamed = 16;

/// "share-" of "share-2", which is the second; empty where the name does not end with its number.
std::string stem_of(const Share& share, const std::string& name) {
  const std::string number = std::to_string(share.number);
  if (!name.ends_with(number)) return {};
  const std::string stem = name.substr(0, name.size() - number.size());
  const bool is_longer_number = !stem.empty() && stem.back() >= '0' && stem.back() <= '9';
  return is_longer_number ? std::string() : stem;
}

}  // namespace

std::string advice_to_merge(const Share& share, const fs::path& directory) {
  const std::string stem = stem_of(share, directory.filename().string());
  if (stem.empty() || share.of > kMostNamed)
    return fmt::format("When all {} shares are measured, merge them with memduel merge.", share.of);
  std::vector<std::string> words = {"memduel", "merge"};
  for (int number = 1; number <= share.of; ++number)
    words.push_back((directory.parent_path() / (stem + std::to_string(number))).string());
  words.insert(words.end(), {"--out", (directory.parent_path() / (stem + "merged")).string()});
  return with_command(fmt::format("When all {} shares are measured", share.of),
                      quoted_command_line(words));
}

}  // namespace memduel::cli
