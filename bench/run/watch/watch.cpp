// A watch: what cannot be watched is refused, then a single-threaded loop over samples, marks and
// ends goes on for as long as it may.

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meters/cgroup.h"
#include "model/run_directory.h"
#include "run/run.h"
#include "run/store.h"
#include "sampling_interval.h"
#include "trial/marks.h"
#include "trial/processes.h"
#include "trial/sampling.h"
#include "util/error.h"
#include "watch_logs.h"
#include "watch_metering.h"
#include "watch_record.h"
#include "watched_command.h"
#include "watched_tree.h"

namespace memduel {

class WatchTime {
 public:
  /// @param duration_seconds none: until nothing is left to watch.
  WatchTime(std::int64_t begin_ns, const std::optional<double>& duration_seconds)
      : begin_ns_(begin_ns),
        due_ns_(duration_seconds ? begin_ns + whole_ns(*duration_seconds)
                                 : std::numeric_limits<std::int64_t>::max()) {}

  [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }
  [[nodiscard]] bool is_over(std::int64_t now_ns) const { return now_ns >= due_ns_; }
  [[nodiscard]] std::int64_t due_ns() const { return due_ns_; }
  [[nodiscard]] double seconds_until(std::int64_t now_ns) const {
    return static_cast<double>(now_ns - begin_ns_) * 1e-9;
  }

 private:
  std::int64_t begin_ns_;
  std::int64_t due_ns_;
};

/// It owns what it is made of and passes on what happens; what is known goes to the store now and
/// then, so that a watch that is cut off is there as far as it went.
class Watching {
 public:
  /// `options` must outlive this.
  explicit Watching(const WatchOptions& options);
  WatchResult run();

 private:
  void start_command();
  void step();
  void take_events(std::int64_t until_ns);
  void take_signals();
  void take_lines(const std::vector<MarkedLine>& lines);
  void look(std::int64_t now_ns);
  void note_gone_roots();
  void note_new_programs();
  void command_ended(const ExitRecord& exit);
  void finish();
  void note_everything();
  [[nodiscard]] WatchSnapshot snapshot() const;

  const WatchOptions& options_;
  WatchTime time_;
  std::int64_t end_ns_ = 0;
  std::optional<std::int64_t> oom_kills_before_;
  WatchSignals signals_;
  WatchRecord record_;
  Events events_;
  WatchLogs logs_;
  std::optional<WatchedCommand> command_;
  WatchedRoots roots_;
  WatchMetering metering_;
  LimitWatch limit_;
  std::vector<WatchTarget> targets_;  ///< as they are now
  std::int64_t look_due_ns_;
  std::int64_t store_due_ns_;
  std::int64_t show_due_ns_ = 0;
  int ended_by_signal_ = 0;
  std::size_t descendants_left_ = 0;  ///< when the command ended
  int alarms_ = 0;
};

namespace {

constexpr std::int64_t kLookInterval = kSecondNs;
constexpr std::int64_t kStoreInterval = 60 * kSecondNs;
/// Rounds that wait for the store.
constexpr std::size_t kMostPending = 1000;

/// The files that are kept open while a tree of hundreds is sampled.
void allow_many_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

std::optional<MemoryLimit> limit_of(const WatchOptions& options) {
  return memory_limit_of(options.pids.empty() ? getpid() : options.pids.front());
}

/// Joins processes that were there already.
void join_processes(const std::vector<WatchTarget>& targets, WatchedRoots& roots,
                    WatchMetering& metering, WatchRecord& record) {
  for (const WatchTarget& target : targets) {
    const auto line = process_line(*target.pid);
    if (!line || is_dead(*line))
      throw Error(ExitCode::cannot_measure, "ended before it could be watched",
                  fmt::format("pid {}", *target.pid));
    roots.add(*line, target.role, fmt::format("pid {}", *target.pid), false);
    metering.add(target.role, *target.pid);
    if (target.seconds_before) record.add_limitation(joined_late(target));
  }
}

}  // namespace

Watching::Watching(const WatchOptions& options)
    : options_(options),
      time_(monotonic_ns(), options.duration_seconds),
      oom_kills_before_(oom_kills_anywhere()),
      record_(options, limit_of(options), time_.begin_ns()),
      logs_(options, options.directory / kLogsFolder),
      roots_(time_.begin_ns()),
      metering_(options, roots_),
      limit_(options, limit_of(options)),
      targets_(watch_targets(options)),
      look_due_ns_(time_.begin_ns()),
      store_due_ns_(time_.begin_ns() + kStoreInterval) {
  if (options.command.empty()) {
    join_processes(targets_, roots_, metering_, record_);
  } else {
    start_command();
  }
  allow_many_files();
  events_.add(signals_.descriptor(), &signals_);
  if (command_) events_.add(command_->marks.descriptor(), &command_);
  logs_.listen(events_);
}

void Watching::start_command() {
  command_.emplace(options_.command, logs_.output());
  const auto line = process_line(command_->pid());
  roots_.add(line.value_or(ProcessLine{command_->pid(), getpid(), 'R'}), "command",
             options_.command.front(), true);
  metering_.add("command", command_->pid());
  logs_.pass_output_on(options_);
}

WatchResult Watching::run() {
  while (ended_by_signal_ == 0 && roots_.living() > 0 && !time_.is_over(monotonic_ns())) step();
  finish();
  WatchResult result;
  result.last = snapshot();
  const WatchedRoot& first = roots_.all().front();
  if (command_) {
    result.status = first.exit->status ? *first.exit->status : 128 + first.exit->signal.value_or(0);
    return result;
  }
  result.status = ended_by_signal_ == 0 ? 0 : 128 + ended_by_signal_;
  if (!metering_.has_samples())
    throw Error(ExitCode::cannot_measure, "it was gone before it could be measured", first.name);
  return result;
}

void Watching::step() {
  take_events(std::min({metering_.due_ns(), look_due_ns_, logs_.due_ns(), time_.due_ns()}));
  const std::int64_t now = monotonic_ns();
  take_lines(logs_.read(now, events_));
  const bool looks = now >= look_due_ns_;
  if (looks) {
    if (!command_) {
      note_gone_roots();
      note_new_programs();
    }
    metering_.add(roots_.find_members(now));
  }
  metering_.sample(now);
  if (looks) look(now);
}

/// What is done once a second, however often is sampled.
void Watching::look(std::int64_t now_ns) {
  look_due_ns_ = now_ns + kLookInterval;
  // However a signal was lost that would have said so.
  if (command_ && roots_.living() > 0) {
    if (const auto exit = command_->reap()) command_ended(*exit);
  }
  metering_.sweep(now_ns);
  if (const auto alarm = limit_.check(metering_.running_round(), time_.seconds_until(now_ns))) {
    options_.say(alarm->message);
    // A use that swings widely crosses a threshold in every round of a week.
    constexpr int kMostKept = 50;
    if (++alarms_ <= kMostKept) record_.add_warning(*alarm);
  }
  if (!metering_.has_samples()) return;
  if (now_ns >= store_due_ns_ || metering_.pending_rounds() >= kMostPending) {
    store_due_ns_ = now_ns + kStoreInterval;
    record_.grow(metering_.take_roles(), now_ns);
  }
  if (!options_.show || now_ns < show_due_ns_) return;
  show_due_ns_ = now_ns + whole_ns(options_.show_interval_seconds);
  options_.show(snapshot());
}

void Watching::take_events(std::int64_t until_ns) {
  for (void* source : events_.wait_until(until_ns)) {
    if (source == &signals_) {
      take_signals();
    } else if (source == &command_) {
      metering_.take_marks(roots_.all().front(), command_->marks);
      if (command_->marks.closed()) events_.remove(command_->marks.descriptor());
    } else {
      logs_.changed(source);
    }
  }
}

/// What a terminal sends goes to the command as well; the others come to us alone.
void Watching::take_signals() {
  while (const auto number = signals_.next()) {
    if (*number == SIGCHLD) {
      if (!command_ || roots_.living() == 0) continue;
      if (const auto exit = command_->reap()) command_ended(*exit);
    } else if (!command_) {
      ended_by_signal_ = *number;
    } else if (*number != SIGINT && *number != SIGQUIT) {
      command_->signal(*number);
    }
  }
}

void Watching::take_lines(const std::vector<MarkedLine>& lines) {
  const bool marks_itself = command_ && command_->marks.marking_pid != 0;
  if (marks_itself) {
    for (const MarkedLine& line : lines) logs_.pass_over(line.role);
  }
  metering_.take_lines(lines, marks_itself);
}

void Watching::note_gone_roots() {
  for (const auto& [root, replaced] : roots_.gone()) {
    const std::int64_t now = monotonic_ns();
    root.ended = true;
    metering_.finish(root, {now, false, std::nullopt});
    const Note note = process_gone(
        {root.name, replaced, time_.seconds_until(now), roots_.living(), roots_.all().size()});
    options_.say(note.message);
    record_.add_limitation(note);
  }
}

/// A process that was joined may execute another program, as a pyenv shim does, whose name people
/// know it by.
void Watching::note_new_programs() {
  bool is_new = false;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (roots_.all()[i].ended) continue;
    std::vector<std::string> now = command_line_of(*targets_[i].pid);
    if (now.empty() || now == targets_[i].argv) continue;
    targets_[i].argv = std::move(now);
    is_new = true;
  }
  if (is_new) record_.rename(options_, targets_);
}

void Watching::command_ended(const ExitRecord& exit) {
  WatchedRoot& root = roots_.all().front();
  metering_.take_marks(root, command_->marks);
  take_lines(logs_.finish_lines());
  const std::optional<int> round = root.role.running_round();
  const auto kills = oom_kills_anywhere();
  const bool for_memory =
      exit.signal == SIGKILL && kills && oom_kills_before_ && *kills > *oom_kills_before_;
  if (for_memory) record_.killed_for_memory();
  root.ended = true;
  root.exit = exit;
  metering_.finish(root, {exit.t_ns, exit.status == 0, exit});
  descendants_left_ = roots_.left_of("command");
  if (exit.status == 0) return;
  record_.add_warning(command_failed(root.name, exit, for_memory, round));
}

void Watching::finish() {
  take_lines(logs_.finish_lines());
  logs_.finish_output();
  end_ns_ = monotonic_ns();
  for (WatchedRoot& root : roots_.all()) {
    // Of one that goes on without us the running round is not at its end.
    if (!root.ended) metering_.finish(root, {end_ns_, false, std::nullopt});
  }
  const WatchedRoot& first = roots_.all().front();
  RoleEnd end{end_ns_, command_ && first.exit->status == 0, std::nullopt};
  if (roots_.all().size() == 1) end.exit = first.exit;
  metering_.finish(end);
  note_everything();
  std::vector<RoleData> roles = metering_.take_roles();
  if (const auto stored = stored_interval_ms(roles))
    if (const auto note = sampled_less_often({*stored}, options_.interval_seconds * 1000,
                                             "a long watch keeps a bounded number of samples, and "
                                             "of each stretch the smallest and the largest"))
      record_.add_limitation(*note);
  record_.grow(std::move(roles), end_ns_);
}

void Watching::note_everything() {
  record_.add_limitation(not_interleaved());
  record_.add(metering_.limitations(), metering_.warnings());
  const std::vector<Note> log_warnings = logs_.warnings();
  record_.add(logs_.limitations(), log_warnings);
  for (const Note& note : log_warnings) {
    if (note.code == "pattern_never_matched" || note.code == "mark_log_missing")
      options_.say("warning: " + note.message);
  }
  if (command_ && command_->marks.foreign_marks > 0)
    record_.add_warning(marks_of_several_processes());
  if (descendants_left_ > 0) record_.add_limitation(processes_left_running(descendants_left_));
  if (const auto limitation = limit_.limitation()) record_.add_limitation(*limitation);
}

WatchSnapshot Watching::snapshot() const {
  const std::int64_t now = end_ns_ != 0 ? end_ns_ : monotonic_ns();
  WatchSnapshot shot = metering_.snapshot(now);
  shot.what = targets_.size() == 1 ? name_of(targets_.front())
                                   : fmt::format("{} processes", targets_.size());
  shot.elapsed_seconds = time_.seconds_until(now);
  shot.limit = limit_.state();
  return shot;
}

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
    if (*pid == getpid()) refuse("that is this memduel", where);
    const auto line = process_line(*pid);
    if (!line && !line.is_gone())
      refuse(fmt::format("/proc/{}/stat: {}", *pid, describe_proc_error(line.error)), where);
    if (!line) refuse("there is no such process", where, "see ps -e");
    if (is_dead(*line))
      refuse("the process has ended, and its parent has not asked for its status", where);
    const auto pages = process_pages(*pid);
    if (pages && pages->total == 0)
      refuse("that is a thread of the kernel, without memory of its own", where);
  }
}

void check_times(const WatchOptions& options) {
  constexpr double kShortest = 0.0005;
  constexpr double kLongest = 86'400;
  const auto check = [&](double seconds, const char* name) {
    if (seconds >= kShortest && seconds <= kLongest) return;
    refuse(fmt::format("found {:g}, expected {} to {} seconds", seconds, kShortest, kLongest),
           name);
  };
  check(options.interval_seconds, "--interval");
  check(options.pss_interval_seconds, "--pss-interval");
  if (!options.duration_seconds) return;
  if (!options.command.empty())
    refuse("a command is watched until it ends", "--duration",
           "end it by another way: memduel watch -- timeout 60 CMD");
  if (!(*options.duration_seconds > 0))
    refuse(fmt::format("found {:g}, expected more than 0 seconds", *options.duration_seconds),
           "--duration");
}

void check_thresholds(const WatchOptions& options) {
  constexpr double kPercent = 100;
  const auto check = [](double ratio, const char* name) {
    if (ratio >= 0 && ratio <= 1) return;
    refuse(fmt::format("found {:g}, expected a share of the memory limit, 0 to 100 percent",
                       ratio * kPercent),
           name);
  };
  check(options.warn_ratio, "--warn");
  check(options.critical_ratio, "--critical");
  if (options.warn_ratio > options.critical_ratio)
    refuse(fmt::format("found {:g}, which is above --critical, {:g}", options.warn_ratio * kPercent,
                       options.critical_ratio * kPercent),
           "--warn", "warn at a smaller share");
}

/// One that is not there yet may come.
void check_logs(const WatchOptions& options) {
  for (const std::filesystem::path& log : options.logs) {
    std::error_code error;
    if (std::filesystem::exists(log, error) && !std::filesystem::is_regular_file(log, error))
      refuse("found no regular file, expected one with lines", "--log " + log.string());
  }
}

void check_patterns(const WatchOptions& options) {
  if (!options.round_pattern) {
    if (!options.logs.empty())
      refuse("found a log but no pattern", "--log",
             "--round-pattern REGEX says which of its lines begin a round");
    return;
  }
  if (options.logs.empty() && options.command.empty())
    refuse("what a process that runs already prints cannot be read", "--round-pattern",
           "name the files that it logs to: --log FILE");
  try {
    TextMarkPattern{*options.round_pattern};
  } catch (const Error& error) {
    refuse(error.what(), "--round-pattern", error.advice());
  }
}

}  // namespace

void check_watch(const WatchOptions& options) {
  if (options.command.empty() == options.pids.empty())
    refuse("expected either --pid PID… or -- CMD…", "watch");
  check_times(options);
  check_thresholds(options);
  check_patterns(options);
  check_logs(options);
  check_pids(options);
  refuse_used_directory(options.directory, "give another --out");
}

WatchResult watch(const WatchOptions& options) {
  check_watch(options);
  std::error_code ignored;
  const bool was_there = std::filesystem::exists(options.directory, ignored);
  try {
    return Watching(options).run();
  } catch (const Error& error) {
    // A command that could not be started leaves no run behind.
    if (error.code() == ExitCode::usage && !was_there)
      std::filesystem::remove_all(options.directory, ignored);
    throw;
  }
}

}  // namespace memduel
