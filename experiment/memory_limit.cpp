#include "experiment/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "profilers/meters/cgroup.h"
#include "profilers/meters/proc_text.h"

namespace memduel {
namespace {

/// Empty when it cannot be read.
std::string limit_text(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Of one group; "max" and version 1's largest number are none.
std::optional<std::int64_t> limit_in(const std::filesystem::path& file) {
  std::istringstream text(limit_text(file));
  std::int64_t bytes = 0;
  if (text >> bytes) return bytes;
  return std::nullopt;
}

/// The tightest limit from `directory` upwards, as far as groups have a file of that name.
void tighten(std::optional<MemoryLimit>& limit, std::filesystem::path directory, const char* file) {
  while (std::filesystem::exists(directory / file)) {
    const auto bytes = limit_in(directory / file);
    if (bytes && (!limit || *bytes < limit->bytes)) limit = {*bytes, directory.string()};
    directory = directory.parent_path();
  }
}

}  // namespace

std::optional<MemoryLimit> memory_limit_of(pid_t pid, const std::filesystem::path& root) {
  std::optional<MemoryLimit> limit;
  const std::string machine = limit_text(root / "proc/meminfo");
  if (const auto bytes = sized_field(machine, "MemTotal")) limit = {*bytes, ""};
  const std::string mounts = limit_text(root / "proc/self/mountinfo");
  const std::string groups = limit_text(root / "proc" / std::to_string(pid) / "cgroup");
  struct Version {
    const char* controller;
    const char* file;
  };
  for (const Version& version :
       {Version{"", "memory.max"}, Version{"memory", "memory.limit_in_bytes"}}) {
    const std::string own = own_cgroup_directory(mounts, groups, version.controller);
    if (own.empty()) continue;
    auto below = std::filesystem::path(own).relative_path();
    if (!below.has_filename()) below = below.parent_path();
    tighten(limit, root / below, version.file);
  }
  return limit;
}

std::optional<std::int64_t> used_bytes_of(const MemoryLimit& limit,
                                          const std::filesystem::path& root) {
  if (limit.group.empty()) {
    const std::string machine = limit_text(root / "proc/meminfo");
    const auto total = sized_field(machine, "MemTotal");
    const auto available = sized_field(machine, "MemAvailable");
    if (!total || !available) return std::nullopt;
    return *total - *available;
  }
  const TrialCgroup group{limit.group, ""};
  const auto charged = charged_bytes_of(group);
  if (!charged) return std::nullopt;
  return std::max<std::int64_t>(0, *charged - charged_parts_of(group).file.value_or(0));
}

}  // namespace memduel
