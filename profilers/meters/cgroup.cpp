#include "meters/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "memory/kernel_files.h"
#include "memory/proc_files.h"

namespace memduel {
namespace {

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

std::string own_directory(const std::string& controller) {
  return own_cgroup_directory(text_of("/proc/self/mountinfo"), text_of("/proc/self/cgroup"),
                              controller);
}

std::string make_below_own(const std::string& controller, const std::string& name) {
  const std::string own = own_directory(controller);
  if (own.empty()) return {};
  std::string directory = own + "/" + name;
  return mkdir(directory.c_str(), 0755) == 0 ? directory : std::string();
}

}  // namespace

std::map<std::string, TrialCgroup> cgroups_with_prefix(const std::string& prefix) {
  std::map<std::string, TrialCgroup> groups;
  for (const char* controller : {"", "memory"}) {
    const std::string own = own_directory(controller);
    std::error_code error;
    if (own.empty()) continue;
    for (std::filesystem::directory_iterator at(own, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (!name.starts_with(prefix)) continue;
      TrialCgroup& group = groups[name.substr(prefix.size())];
      (*controller == '\0' ? group.kill_dir : group.memory_dir) = at->path().string();
    }
  }
  return groups;
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

std::vector<std::string> process_lists_of(const TrialCgroup& group) {
  std::vector<std::string> lists;
  if (!group.memory_dir.empty()) lists.push_back(group.memory_dir + "/cgroup.procs");
  if (!group.kill_dir.empty() && group.kill_dir != group.memory_dir)
    lists.push_back(group.kill_dir + "/cgroup.procs");
  return lists;
}

int join_cgroup(const TrialCgroup& group) {
  for (const std::string& list : process_lists_of(group))
    if (const int error = write_text(list, "0")) return error;
  return 0;
}

int limit_cgroup(const TrialCgroup& group, std::int64_t bytes) {
  if (group.memory_dir.empty()) return ENOENT;
  const bool is_second_version = has_file(group.memory_dir, "memory.max");
  const std::string limit = std::to_string(bytes);
  const std::string memory =
      group.memory_dir + (is_second_version ? "/memory.max" : "/memory.limit_in_bytes");
  if (const int error = write_text(memory, limit)) return error;
  // Version 1 limits memory and swap together.
  const std::string swap =
      group.memory_dir + (is_second_version ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes");
  const int error = write_text(swap, is_second_version ? "0" : limit);
  return error == ENOENT ? 0 : error;
}

std::vector<pid_t> processes_in(const TrialCgroup& group) {
  std::vector<pid_t> processes;
  for (const std::string& list : process_lists_of(group)) {
    const std::vector<pid_t> listed = parse_pids(text_of(list));
    processes.insert(processes.end(), listed.begin(), listed.end());
  }
  std::ranges::sort(processes);
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
