#include "profilers/meters/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace memduel {
namespace {

std::string text_of(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(file, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(file);
  return text;
}

int write_text(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const int result = write(file, text.data(), text.size()) < 0 ? errno : 0;
  close(file);
  return result;
}

bool has_file(const std::string& directory, const char* name) {
  return access((directory + "/" + name).c_str(), F_OK) == 0;
}

std::optional<std::int64_t> number_in(const std::string& text) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str()) return std::nullopt;
  return value;
}

/// The number after `key` at the start of a line: "oom_kill 3".
std::optional<std::int64_t> keyed_number(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + " ")) return number_in(line.substr(key.size() + 1));
  }
  return std::nullopt;
}

bool holds_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The group path of one hierarchy in /proc/self/cgroup: "4:memory:/a/b" or "0::/a/b".
std::optional<std::string> membership_path(const std::string& membership,
                                           const std::string& controller) {
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : holds_word(names, controller)) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

std::string make_below_own(const std::string& controller, const std::string& name) {
  const std::string own = own_cgroup_directory(text_of("/proc/self/mountinfo"),
                                               text_of("/proc/self/cgroup"), controller);
  if (own.empty()) return {};
  std::string directory = own + "/" + name;
  return mkdir(directory.c_str(), 0755) == 0 ? directory : std::string();
}

}  // namespace

std::string own_cgroup_directory(const std::string& mountinfo, const std::string& membership,
                                 const std::string& controller) {
  const auto path = membership_path(membership, controller);
  if (!path) return {};
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped, root, mount_point, word, type, source, options;
    words >> skipped >> skipped >> skipped >> root >> mount_point;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    const bool wanted = controller.empty() ? type == "cgroup2"
                                           : type == "cgroup" && holds_word(options, controller);
    if (!wanted) continue;
    // In a container the mount shows a part of the hierarchy: its root is cut off the path.
    std::string below = *path;
    if (root != "/" && below.starts_with(root)) below.erase(0, root.size());
    return below == "/" ? mount_point : mount_point + below;
  }
  return {};
}

TrialCgroup create_cgroup(const std::string& name) {
  TrialCgroup group;
  group.kill_dir = make_below_own("", name);
  group.memory_dir = make_below_own("memory", name);
  if (!group.kill_dir.empty() && group.memory_dir.empty() &&
      has_file(group.kill_dir, "memory.current")) {
    group.memory_dir = group.kill_dir;
  }
  return group;
}

int join_cgroup(const TrialCgroup& group) {
  for (const std::string& directory : {group.memory_dir, group.kill_dir}) {
    if (directory.empty()) continue;
    if (const int error = write_text(directory + "/cgroup.procs", "0")) return error;
  }
  return 0;
}

std::vector<pid_t> processes_in(const TrialCgroup& group) {
  std::vector<pid_t> processes;
  for (const std::string& directory : {group.memory_dir, group.kill_dir}) {
    if (directory.empty()) continue;
    const std::string text = text_of(directory + "/cgroup.procs");
    char* end = nullptr;
    for (const char* at = text.c_str(); *at != '\0'; at = end) {
      const pid_t pid = static_cast<pid_t>(std::strtol(at, &end, 10));
      if (end == at) break;
      if (pid > 0) processes.push_back(pid);
    }
    if (group.memory_dir == group.kill_dir) break;
  }
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  return processes;
}

void kill_cgroup(const TrialCgroup& group) {
  if (!group.kill_dir.empty()) write_text(group.kill_dir + "/cgroup.kill", "1");
  for (const pid_t pid : processes_in(group)) kill(pid, SIGKILL);
}

std::optional<std::int64_t> peak_bytes_of(const TrialCgroup& group) {
  if (group.memory_dir.empty()) return std::nullopt;
  if (const auto v2 = number_in(text_of(group.memory_dir + "/memory.peak"))) return v2;
  return number_in(text_of(group.memory_dir + "/memory.max_usage_in_bytes"));
}

std::optional<std::int64_t> charged_bytes_of(const TrialCgroup& group) {
  if (group.memory_dir.empty()) return std::nullopt;
  if (const auto v2 = number_in(text_of(group.memory_dir + "/memory.current"))) return v2;
  return number_in(text_of(group.memory_dir + "/memory.usage_in_bytes"));
}

CgroupParts charged_parts_of(const TrialCgroup& group) {
  if (group.memory_dir.empty()) return {};
  CgroupParts parts = parse_memory_stat(text_of(group.memory_dir + "/memory.stat"));
  if (!parts.kernel) {
    parts.kernel = number_in(text_of(group.memory_dir + "/memory.kmem.usage_in_bytes"));
  }
  return parts;
}

CgroupParts parse_memory_stat(const std::string& text) {
  CgroupParts parts;
  // Version 1 has the sums over groups below under names of their own.
  const bool is_first_version = keyed_number(text, "total_rss").has_value();
  parts.anon = keyed_number(text, is_first_version ? "total_rss" : "anon");
  parts.file = keyed_number(text, is_first_version ? "total_cache" : "file");
  parts.shmem = keyed_number(text, is_first_version ? "total_shmem" : "shmem");
  parts.kernel = keyed_number(text, "kernel");
  if (parts.file && parts.shmem) {
    parts.file = std::max<std::int64_t>(0, *parts.file - *parts.shmem);
  }
  return parts;
}

std::optional<std::int64_t> oom_kills_of(const TrialCgroup& group) {
  if (group.memory_dir.empty()) return std::nullopt;
  if (const auto v2 = keyed_number(text_of(group.memory_dir + "/memory.events"), "oom_kill")) {
    return v2;
  }
  return keyed_number(text_of(group.memory_dir + "/memory.oom_control"), "oom_kill");
}

std::optional<std::int64_t> oom_kills_anywhere() {
  return keyed_number(text_of("/proc/vmstat"), "oom_kill");
}

void remove_cgroup(const TrialCgroup& group) {
  for (const std::string& directory : {group.memory_dir, group.kill_dir}) {
    if (!directory.empty()) rmdir(directory.c_str());
  }
}

}  // namespace memduel
