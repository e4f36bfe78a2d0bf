// A watch as a run: what cannot be watched is refused before anything is started or written.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "memory/memory_limit.h"
#include "model/metric_catalogue.h"
#include "run/run.h"
#include "run/store.h"
#include "trial/marks.h"
#include "trial/processes.h"
#include "util/error.h"
#include "verdict/gates.h"
#include "watch_record.h"

namespace memduel {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& where,
                         const std::string& advice = {}) {
  throw Error(ExitCode::usage, what, where, advice);
}

void check_pids(const WatchOptions& options) {
  for (auto pid = options.pids.begin(); pid != options.pids.end(); ++pid) {
    const std::string where = fmt::format("--pid {}", *pid);
    if (std::find(options.pids.begin(), pid, *pid) != pid)
      refuse("found the same process twice", where);
    if (*pid == getpid()) refuse("this is the PID of this memduel", where);
    const auto line = process_line(*pid);
    if (!line && !line.is_gone())
      refuse(fmt::format("/proc/{}/stat: {}", *pid, describe_proc_error(line.error)), where);
    if (!line) refuse("found no such process", where, "see ps -e");
    if (is_dead(*line)) refuse("the process has exited but is still a zombie", where);
    const auto pages = process_pages(*pid);
    if (pages && pages->total == 0) refuse("this is a kernel thread without its own memory", where);
  }
}

void check_times(const WatchOptions& options) {
  constexpr double kShortest = 0.0005;
  constexpr double kLongest = 86'400;
  const auto check = [&](double seconds, const char* name) {
    if (seconds >= kShortest && seconds <= kLongest) return;
    refuse(fmt::format("expected {1} to {2} seconds, found {0:g}", seconds, kShortest, kLongest),
           name);
  };
  check(options.interval_seconds, "--interval");
  check(options.pss_interval_seconds, "--pss-interval");
  if (!options.duration_seconds) return;
  if (!options.command.empty())
    refuse("found --duration with a command, which is watched until it exits", "--duration",
           "limit the command instead: memduel watch -- timeout 60 CMD");
  if (!(*options.duration_seconds > 0))
    refuse(fmt::format("expected more than 0 seconds, found {:g}", *options.duration_seconds),
           "--duration");
}

void check_thresholds(const WatchOptions& options) {
  constexpr double kPercent = 100;
  const auto check = [](double ratio, const char* name) {
    if (ratio >= 0 && ratio <= 1) return;
    refuse(fmt::format("expected a share of the memory limit, 0 to 100 percent, found {:g}",
                       ratio * kPercent),
           name);
  };
  check(options.warn_ratio, "--warn");
  check(options.critical_ratio, "--critical");
  if (options.warn_ratio > options.critical_ratio)
    refuse(fmt::format("found {:g}, which is above --critical, {:g}", options.warn_ratio * kPercent,
                       options.critical_ratio * kPercent),
           "--warn", "use a smaller percentage for --warn");
}

/// One that is not there yet may come.
void check_logs(const WatchOptions& options) {
  for (const std::filesystem::path& log : options.logs) {
    std::error_code error;
    if (std::filesystem::exists(log, error) && !std::filesystem::is_regular_file(log, error))
      refuse("expected a regular file, found another kind of file", "--log " + log.string());
  }
}

void check_patterns(const WatchOptions& options) {
  check_round_pattern(options.round_pattern, !options.logs.empty());
  if (options.round_pattern && options.logs.empty() && options.command.empty())
    refuse("the output of a running process cannot be read", "--round-pattern",
           "name its log files: --log FILE");
}

void check_gates(const WatchOptions& options, const std::vector<WatchTarget>& targets) {
  std::vector<std::string> roles = {kTree};
  for (const WatchTarget& target : targets) roles.push_back(target.role);
  for (const std::string& text : options.gates) {
    if (text == kDefaultGates)
      refuse("the default gates need a baseline, but a watch has one variant", "--gate",
             "name a gate, for example --gate 'all.peak_rss_bytes<=900MiB'");
    const Gate gate = parse_gate(text);
    check_gates_before_run({gate}, roles, {}, true);
    refuse_unjudgeable({gate}, true, true);
  }
}

}  // namespace

void check_round_pattern(const std::optional<std::string>& pattern, bool has_logs) {
  if (!pattern) {
    if (has_logs)
      refuse("found a log but no pattern", "--log",
             "add --round-pattern REGEX for the lines that begin a round");
    return;
  }
  try {
    TextMarkPattern{*pattern};
  } catch (const Error& error) {
    refuse(error.what(), "--round-pattern", error.advice());
  }
}

void check_watch(const WatchOptions& options) {
  if (options.command.empty() == options.pids.empty())
    refuse("expected either --pid PID… or -- CMD…", "watch");
  check_times(options);
  check_thresholds(options);
  check_patterns(options);
  check_logs(options);
  check_pids(options);
  check_gates(options, watch_targets(options));
  refuse_used_directory(options.directory, "use another --out");
}

WatchResult watch(const WatchOptions& options) {
  check_watch(options);
  std::error_code ignored;
  const bool was_there = std::filesystem::exists(options.directory, ignored);
  try {
    const auto limit = memory_limit_of(options.pids.empty() ? getpid() : options.pids.front());
    const std::vector<WatchTarget> targets = watch_targets(options);
    WatchRecord record(options, targets, limit);
    const WatchResult result = watch_job(options, targets, limit, record);
    record.note_interval();
    return result;
  } catch (const Error& error) {
    // A command that could not be started leaves no run behind.
    if (error.code() == ExitCode::usage && !was_there)
      std::filesystem::remove_all(options.directory, ignored);
    throw;
  }
}

}  // namespace memduel
