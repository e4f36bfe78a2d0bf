#include "experiment/watch/watching.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/run_directory.h"
#include "experiment/contract/sampling_interval.h"
#include "experiment/marks/monotonic.h"
#include "experiment/marks/seconds.h"
#include "experiment/watch/watch_header.h"
#include "experiment/watch/watch_notes.h"
#include "profilers/meters/cgroup.h"

namespace memduel {
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

}  // namespace memduel
