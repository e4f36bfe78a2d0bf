#include "experiment/watch/watch_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/command_line.h"
#include "base/sha256.h"
#include "experiment/marks/monotonic.h"
#include "experiment/marks/text_mark_pattern.h"
#include "experiment/plan/environment.h"
#include "experiment/plan/spread_roles.h"
#include "experiment/trial/launcher/process_tree.h"

namespace memduel {
namespace {

using nlohmann::json;

std::string reproduction(const WatchOptions& options) {
  std::vector<std::string> words = {"memduel", "watch"};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (options.round_pattern) add("--round-pattern", *options.round_pattern);
  for (const auto& log : options.logs) add("--log", log.string());
  for (const pid_t pid : options.pids) add("--pid", std::to_string(pid));
  if (!options.command.empty()) words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  return quoted_command_line(words);
}

}  // namespace

// Without what a title that the program gave itself leaves of the arguments' memory: redis fills it
// with a space and zeros.
std::vector<std::string> command_line_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string word; std::getline(file, word, '\0');) arguments.push_back(word);
  while (!arguments.empty() && arguments.back().empty()) arguments.pop_back();
  if (arguments.size() == 1) arguments.front().erase(arguments.front().find_last_not_of(' ') + 1);
  return arguments;
}

json watch_config(const WatchOptions& options, const std::vector<WatchTarget>& targets) {
  json processes = json::array();
  for (const WatchTarget& target : targets)
    processes.push_back({{"role", target.role}, {"argv", target.argv}});
  constexpr double kMillisecondsPerSecond = 1000;
  const json config = {{"name", "watch"},
                       {"workload", {{"kind", "command"}, {"processes", processes}}},
                       {"arms", {{{"name", kWatchArm}}}},
                       {"baseline", kWatchArm},
                       {"measure",
                        {{"repeats", 1},
                         {"warmup_rounds", 0},
                         {"interval_ms", options.interval_seconds * kMillisecondsPerSecond},
                         {"meters", {"procfs"}}}}};
  constexpr auto kReplace = json::error_handler_t::replace;  // arguments may be any bytes
  return json::parse(config.dump(-1, ' ', false, kReplace));
}

std::vector<WatchTarget> watch_targets(const WatchOptions& options) {
  if (!options.command.empty()) return {{"command", options.command, std::nullopt}};
  std::vector<WatchTarget> targets;
  for (const pid_t pid : options.pids) {
    const std::string role =
        options.pids.size() == 1 ? "command" : fmt::format("command-{}", targets.size() + 1);
    targets.push_back({role, command_line_of(pid), pid, age_seconds(pid)});
  }
  return targets;
}

std::string name_of(const WatchTarget& target) {
  std::string command = fmt::format("{}", fmt::join(target.argv, " "));
  if (!target.pid) return command;
  return command.empty() ? fmt::format("pid {}", *target.pid)
                         : fmt::format("pid {} ({})", *target.pid, command);
}

RunHeader watch_header(const WatchOptions& options, const std::vector<WatchTarget>& targets,
                       const std::optional<MemoryLimit>& limit) {
  RunHeader header;
  header.config = watch_config(options, targets);
  constexpr auto kReplace = json::error_handler_t::replace;
  header.config_sha256 = sha256_hex(header.config.dump());
  for (const WatchTarget& target : targets) header.job.roles.push_back(target.role);
  header.job.reference = targets.front().role;
  if (options.round_pattern) {
    const TextMarkPattern pattern(*options.round_pattern);
    for (const auto& [metric, better] : pattern.metrics()) header.job.better[metric] = better;
  }
  header.environment = describe_environment(json::object());
  header.environment["reproduce"] =
      json::parse(json(reproduction(options)).dump(-1, ' ', false, kReplace));
  // The limit of what is watched, which may be in another control group than memduel.
  header.environment.erase("cgroup_limit_bytes");
  if (limit && !limit->group.empty()) header.environment["cgroup_limit_bytes"] = limit->bytes;
  json watched = json::array();
  for (const WatchTarget& target : targets) {
    json one = {{"role", target.role}};
    if (target.pid) one["pid"] = *target.pid;
    if (target.seconds_before) one["seconds_before"] = *target.seconds_before;
    watched.push_back(one);
  }
  header.environment["watched"] = watched;
  if (const char* token = std::getenv(kNodeToken)) header.environment["node_token"] = token;
  return header;
}

std::optional<double> age_seconds(pid_t pid) {
  const auto line = process_line(pid);
  if (!line || !line->started) return std::nullopt;
  const double since_boot = static_cast<double>(clock_ns(CLOCK_BOOTTIME)) * 1e-9;
  return since_boot -
         static_cast<double>(*line->started) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace memduel
