// Checkpoints to try the rules on.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cbramod/prune.h"

namespace memduel {

inline constexpr std::int64_t kDayNs = 86'400'000'000'000;
/// The moment at which the tests prune: the start of 2026.
inline constexpr std::int64_t kTestNow = 1'767'225'600'000'000'000;

/// A file of `bytes` bytes, written `days` before kTestNow.
inline void put_aged(const std::filesystem::path& path, double days, std::size_t bytes = 100) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << std::string(bytes, 'w');
  const auto age = static_cast<std::int64_t>(days * static_cast<double>(kDayNs));
  const std::int64_t at = kTestNow - age;
  const timespec times[2] = {{at / 1'000'000'000, at % 1'000'000'000},
                             {at / 1'000'000'000, at % 1'000'000'000}};
  ::utimensat(AT_FDCWD, path.c_str(), times, 0);
}

/// Every file and link below `root`, relative to it and in order.
inline std::vector<std::string> files_below(const std::filesystem::path& root) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.is_symlink() || !entry.is_directory())
      files.push_back(std::filesystem::relative(entry.path().parent_path(), root) /
                      entry.path().filename());
  for (std::string& file : files)
    if (file.starts_with("./")) file.erase(0, 2);
  std::ranges::sort(files);
  return files;
}

inline Pruned prune_now(const std::filesystem::path& root, const RetentionRules& rules) {
  return carry_out(plan_prune(root, rules, kTestNow));
}

}  // namespace memduel
