#include "watch_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <utility>

#include "model/run_data.h"
#include "remote_roles.h"
#include "run/plan.h"
#include "trial/marks.h"
#include "trial/processes.h"
#include "trial/trial_plan.h"
#include "util/bytes.h"
#include "util/command_line.h"
#include "util/text.h"

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

// Redis fills what the title that it gives itself leaves of the arguments' memory with a space,
// too.
std::vector<std::string> command_line_of(pid_t pid) {
  std::vector<std::string> arguments = arguments_of(pid);
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
                       {"variants", {{{"name", kWatchArm}}}},
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

WatchRecord::WatchRecord(const WatchOptions& options, const std::optional<MemoryLimit>& limit,
                         std::int64_t begin_ns)
    : store_(
          Store::create(options.directory, watch_header(options, watch_targets(options), limit))),
      begin_ns_(begin_ns) {}

void WatchRecord::rename(const WatchOptions& options, const std::vector<WatchTarget>& targets) {
  store_.replace_config(watch_config(options, targets));
}

void WatchRecord::add(const std::vector<Note>& limitations, const std::vector<Note>& warnings) {
  for (const Note& note : limitations) store_.add_limitation(note);
  for (const Note& note : warnings) store_.add_warning(note);
}

void WatchRecord::grow(std::vector<RoleData> roles, std::int64_t now_ns) {
  TrialData data;
  data.id = 1;
  data.block = 1;
  data.arm = kWatchArm;
  data.status = killed_for_memory_ ? TrialStatus::killed_for_memory : TrialStatus::ok;
  if (killed_for_memory_) data.failure = "the command was killed for memory";
  data.begin_ns = begin_ns_;
  data.end_ns = now_ns;
  data.harness_cpu_seconds = static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9;
  for (RoleData& role : roles) data.roles.push_back(std::move(role));
  store_.grow_trial(data);
}

namespace {

std::string end_of_command(const ExitRecord& exit, bool for_memory) {
  if (for_memory) return kKilledForMemory;
  return exit.status ? fmt::format("exited with status {}", *exit.status)
                     : fmt::format("was ended by signal {}", exit.signal.value_or(0));
}

}  // namespace

Note joined_late(const WatchTarget& target) {
  return {"joined_late",
          fmt::format("pid {} had run for {} when the watch began: that time is not in the numbers",
                      target.pid.value_or(0), format_seconds(target.seconds_before.value_or(0))),
          "memduel watch -- CMD watches from the start"};
}

Note process_gone(const GoneProcess& gone) {
  const std::string after = format_seconds(gone.after_seconds);
  const std::string goes_on =
      gone.left == 0 ? "" : fmt::format("; the watch goes on with {} of {}", gone.left, gone.of);
  const std::string how = "how a process that memduel did not start ended is not known";
  if (!gone.replaced)
    return {"process_ended", fmt::format("{} ended after {}{}", gone.name, after, goes_on), how};
  return {"pid_reused",
          fmt::format("{} ended, and its number is another process's by now, which is not watched "
                      "(seen after {}){}",
                      gone.name, after, goes_on),
          how};
}

Note command_failed(const std::string& name, const ExitRecord& exit, bool for_memory,
                    std::optional<int> round) {
  return {for_memory ? "killed_for_memory" : "command_failed",
          fmt::format("{} {}{}", name, end_of_command(exit, for_memory),
                      round ? fmt::format(" in round {}", *round) : ""),
          "growth is judged from the rounds that there are"};
}

Note not_interleaved() {
  return {"not_interleaved",
          "one trial of one variant, watched as it ran: nothing was run in turns with it",
          "memduel compare --a 'CMD' --b 'CMD' duels two commands"};
}

Note marks_of_several_processes() {
  return {kMarksOfSeveralProcesses,
          "more than one process sent marks; those of the first one count", ""};
}

Note processes_left_running(std::size_t descendants) {
  return {"processes_left_running",
          fmt::format("{} descendants were still running when the command ended", descendants),
          "memduel watch --pid watches them"};
}

}  // namespace memduel
