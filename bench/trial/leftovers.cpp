// Names that trials and builds carry, and how what is left of one that was killed is found by them
// and ended.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include "trial/processes.h"
#include "util/bytes.h"
#include "util/file.h"
#include "util/text.h"

namespace memduel {
namespace {

std::uint64_t start_of(const ProcessLine& process) {
  return process.started.value_or(0);
}

/// The kernel and the PID namespace that a process ID belongs to. 32 bits of the boot ID
/// (random(4)) distinguish machines that share a directory.
std::string place_of_numbers() {
  constexpr std::size_t kBootDigits = 8;
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat about{};
  const bool known = boot.size() > kBootDigits && ::stat("/proc/self/ns/pid", &about) == 0;
  return known ? fmt::format("{}-{}", boot.substr(0, kBootDigits), about.st_ino) : "0-0";
}

/// Identifies the user and the cache directory: 32 bits of a hash.
std::string user_and_cache() {
  constexpr std::size_t kDigits = 8;
  const std::string cache = cache_directory().value_or("").string();
  return sha256_hex(fmt::format("{}:{}", ::getuid(), cache)).substr(0, kDigits);
}

/// The names that this process may judge begin with this.
std::string owned_prefix() {
  return place_of_numbers() + "-" + user_and_cache() + "-";
}

/// Whether /proc is that of the caller's namespace, and not of one around it (pid_namespaces(7)).
bool shows_own_numbers() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self", error) == std::to_string(::getpid());
}

struct Owner {
  pid_t pid = 0;
  std::uint64_t started = 0;
};

/// Absent for what is no name, and for one from elsewhere.
std::optional<Owner> owner_named(std::string_view name) {
  const std::string here = owned_prefix();
  if (!name.starts_with(here)) return std::nullopt;
  name.remove_prefix(here.size());
  constexpr std::size_t kParts = 4;
  std::array<std::uint64_t, kParts> parts{};
  const char* at = name.data();
  const char* end = at + name.size();
  for (std::size_t i = 0; i < kParts; ++i) {
    if (i > 0) {
      if (at == end || *at != '-') return std::nullopt;
      ++at;
    }
    const auto [rest, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc{}) return std::nullopt;
    at = rest;
  }
  if (at != end || parts[0] == 0 || parts[0] > INT32_MAX) return std::nullopt;
  return Owner{static_cast<pid_t>(parts[0]), parts[1]};
}

}  // namespace

std::string unique_trial_name(std::int64_t id) {
  const auto self = process_line(::getpid());
  return fmt::format("{}{}-{}-{:019}-{:06}", owned_prefix(), ::getpid(), self ? start_of(*self) : 0,
                     monotonic_ns(), id);
}

bool owner_has_ended(std::string_view name) {
  const std::optional<Owner> owner = owner_named(name);
  if (!owner || !shows_own_numbers()) return false;
  const auto line = process_line(owner->pid);
  // One that /proc hides (hidepid, proc(5)) lives all the same.
  if (!line) return ::kill(owner->pid, 0) != 0 && errno == ESRCH;
  return is_dead(*line) || start_of(*line) != owner->started;
}

namespace {

/// A build's server, which had a session of its own made.
bool left_its_build(pid_t pid) {
  const auto session = environment_of(pid, kBuildSessionVariable);
  return session && *session != std::to_string(::getsid(pid));
}

}  // namespace

Leftovers find_leftovers() {
  Leftovers left;
  for (const ProcessLine& process : all_processes()) {
    if (is_dead(process)) continue;
    const auto trial = environment_of(process.pid, kTrialVariable);
    if (trial && owner_has_ended(*trial) && !left_its_build(process.pid))
      left.processes.push_back(process.pid);
  }
  for (auto& [name, group] : cgroups_with_prefix(kTrialCgroupPrefix))
    if (owner_has_ended(name)) left.cgroups.push_back(std::move(group));
  return left;
}

std::string describe_leftovers(const Leftovers& leftovers) {
  std::set<std::string> names;
  for (const pid_t pid : leftovers.processes) {
    const std::string command = command_of(pid);
    names.insert(escape_terminal(
        std::filesystem::path(command.substr(0, command.find(' '))).filename().string()));
  }
  std::vector<std::string> parts;
  if (!leftovers.processes.empty())
    parts.push_back(fmt::format("{} ({})",
                                format_count(leftovers.processes.size(), "process", "processes"),
                                fmt::join(names, ", ")));
  if (!leftovers.cgroups.empty()) parts.push_back(format_count(leftovers.cgroups.size(), "cgroup"));
  return fmt::format("{}", fmt::join(parts, " and "));
}

void end_leftovers(const Leftovers& leftovers) {
  constexpr int kMostLooks = 100;
  constexpr std::chrono::milliseconds kPause{10};
  for (const pid_t pid : leftovers.processes) kill(pid, SIGKILL);
  for (const TrialCgroup& group : leftovers.cgroups) {
    // A group can be removed once its last process is reaped.
    for (int look = 0; look < kMostLooks && !processes_in(group).empty(); ++look) {
      kill_cgroup(group);
      std::this_thread::sleep_for(kPause);
    }
    remove_cgroup(group);
  }
}

}  // namespace memduel
