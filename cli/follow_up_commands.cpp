#include "follow_up_commands.h"

#include <fmt/format.h>

#include <vector>

#include "util/command_line.h"

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

namespace {

namespace fs = std::filesystem;

constexpr int kMostNamed = 16;

/// "shard-" of "shard-2", which is the second; empty where the name does not end with its number.
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
    return fmt::format("When all {} shards are measured, merge them with memduel merge.", share.of);
  std::vector<std::string> words = {"memduel", "merge"};
  for (int number = 1; number <= share.of; ++number)
    words.push_back((directory.parent_path() / (stem + std::to_string(number))).string());
  words.insert(words.end(), {"--out", (directory.parent_path() / (stem + "merged")).string()});
  return with_command(fmt::format("When all {} shards are measured", share.of),
                      quoted_command_line(words));
}

}  // namespace memduel::cli
