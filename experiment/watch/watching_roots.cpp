// Whom a watch is about: the command or the processes, how they end, and who descends from them.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/error.h"
#include "base/text.h"
#include "experiment/marks/monotonic.h"
#include "experiment/watch/watch_header.h"
#include "experiment/watch/watching.h"
#include "profilers/meters/cgroup.h"

namespace memduel {
namespace {

constexpr std::size_t kRootPssPoints = 2048;

/// What a log may take on disk, about.
constexpr std::int64_t kLogBytes = std::int64_t{64} << 20;

std::int64_t cpu_now() {
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

std::string end_of_command(const ExitRecord& exit) {
  return exit.status ? fmt::format("exited with status {}", *exit.status)
                     : fmt::format("was ended by signal {}", exit.signal.value_or(0));
}

}  // namespace

void Watching::add_root(const ProcessLine& process, const std::string& role,
                        const std::string& name) {
  const bool is_new = command_.has_value();
  roots_.push_back({process.pid,
                    name,
                    WatchedRole(role, begin_ns_, is_new),
                    {},
                    ThinnedSeries("pss_bytes", kRootPssPoints),
                    {},
                    std::nullopt,
                    false});
  tree_.add_root(role, process);
  meter_.add(role, process.pid);
}

void Watching::start_command() {
  const bool reads_output = options_.round_pattern && options_.logs.empty();
  const bool captures = options_.captures_output || reads_output;
  std::optional<OutputFiles> output;
  if (captures) {
    std::filesystem::create_directories(plan_.log_dir);
    output =
        OutputFiles{log_file(plan_, "command", "stdout"), log_file(plan_, "command", "stderr")};
  }
  using From = TextMarkSpec::From;
  const std::string pattern = options_.round_pattern.value_or("");
  for (const auto& log : options_.logs)
    plan_.text_marks.push_back({"command", From::file, std::filesystem::absolute(log), pattern});
  if (reads_output) {
    for (const From from : {From::standard_output, From::standard_error})
      plan_.text_marks.push_back({"command", from, {}, pattern});
  }
  if (options_.round_pattern) text_marks_.emplace(text_marks_of(plan_));
  command_.emplace(options_.command, output);
  const auto line = process_line(command_->pid());
  add_root(line.value_or(ProcessLine{command_->pid(), getpid(), 'R'}), "command",
           options_.command.front());
  what_ = name_of(watch_targets(options_).front());
  if (!output) return;
  copied_.emplace(std::vector<CopiedLogs::Log>{{output->standard_output, STDOUT_FILENO},
                                               {output->standard_error, STDERR_FILENO}},
                  options_.pass_on);
  log_limits_.emplace_back(output->standard_output, kLogBytes);
  log_limits_.emplace_back(output->standard_error, kLogBytes);
}

void Watching::find_pids() {
  const std::vector<WatchTarget> targets = watch_targets(options_);
  for (const WatchTarget& target : targets) {
    const auto line = process_line(*target.pid);
    if (!line || is_dead(*line))
      throw Error(ExitCode::cannot_measure, "ended before it could be watched",
                  fmt::format("pid {}", *target.pid));
    add_root(*line, target.role, fmt::format("pid {}", *target.pid));
    if (target.seconds_before)
      store_.add_limitation(
          {"joined_late",
           fmt::format("{} had run for {} when the watch began: that time is not in the numbers",
                       name_of(target), format_seconds(*target.seconds_before)),
           "memduel watch -- CMD watches from the start"});
  }
  what_ =
      targets.size() == 1 ? name_of(targets.front()) : fmt::format("{} processes", targets.size());
  if (!options_.round_pattern) return;
  for (const auto& log : options_.logs)
    plan_.text_marks.push_back({targets.size() == 1 ? "command" : "tree", TextMarkSpec::From::file,
                                std::filesystem::absolute(log), *options_.round_pattern});
  text_marks_.emplace(text_marks_of(plan_));
}

void Watching::check_roots() {
  for (Root& root : roots_) {
    if (root.ended) continue;
    const auto found = tree_.look_at_root(root.pid, process_line(root.pid));
    if (found == WatchedTree::Root::lives) continue;
    const std::string after =
        format_seconds(static_cast<double>(monotonic_ns() - begin_ns_) * 1e-9);
    const bool replaced = found == WatchedTree::Root::replaced;
    end_root(root, std::nullopt, false);
    const auto left =
        std::count_if(roots_.begin(), roots_.end(), [](const Root& other) { return !other.ended; });
    const std::string goes_on =
        left == 0 ? "" : fmt::format("; the watch goes on with {} of {}", left, roots_.size());
    const std::string sentence =
        replaced ? fmt::format(
                       "{} ended, and its number is another process's by now, which is not "
                       "watched (seen after {}){}",
                       root.name, after, goes_on)
                 : fmt::format("{} ended after {}{}", root.name, after, goes_on);
    say(sentence);
    store_.add_limitation({replaced ? "pid_reused" : "process_ended", sentence,
                           "how a process that memduel did not start ended is not known"});
  }
}

void Watching::end_root(Root& root, const std::optional<ExitRecord>& exit, bool well) {
  root.ended = true;
  root.exit = exit;
  root.role.finish({exit ? exit->t_ns : monotonic_ns(), well, exit});
  gather_rounds();
}

void Watching::command_ended(const ExitRecord& exit) {
  take_marks();
  if (text_marks_) take_lines(text_marks_->finish());
  Root& root = roots_.front();
  const std::optional<int> round = root.role.running_round();
  const auto kills = oom_kills_anywhere();
  command_was_killed_for_memory_ =
      exit.signal == SIGKILL && kills && oom_kills_before_ && *kills > *oom_kills_before_;
  end_root(root, exit, exit.status == 0);
  tree_.update(all_processes(), getpid());
  descendants_left_ = tree_.members("command").size();
  if (exit.status == 0) return;
  const std::string where = round ? fmt::format(" in round {}", *round) : "";
  const std::string what =
      command_was_killed_for_memory_ ? "was killed for memory" : end_of_command(exit);
  store_.add_warning({command_was_killed_for_memory_ ? "killed_for_memory" : "command_failed",
                      fmt::format("{} {}{}", root.name, what, where),
                      "growth is judged from the rounds that there are"});
}

/// All of /proc is read, which takes milliseconds where there are many processes: as often as its
/// share of the time allows.
void Watching::find_members(std::int64_t now) {
  if (!scans_.affordable(now)) return;
  const std::int64_t before = cpu_now();
  for (const Member& member : tree_.update(all_processes(), getpid())) {
    meter_.add(member.role, member.pid);
    whole_.has_several_processes();
    for (Root& root : roots_) {
      if (root.role.role() == member.role) root.role.has_several_processes();
    }
  }
  scans_.spent(cpu_now() - before);
}

}  // namespace memduel
