#include "experiment/trial/leftovers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>

#include "base/characters.h"
#include "base/text.h"
#include "experiment/trial/launcher/process_tree.h"
#include "experiment/trial/launcher/protocol.h"
#include "experiment/trial/trial_name.h"

namespace memduel {
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
  if (!leftovers.cgroups.empty())
    parts.push_back(format_count(leftovers.cgroups.size(), "control group"));
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
