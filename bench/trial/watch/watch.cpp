// A watch: the job's loop, over processes that run already or a command of its own, for as long as
// it may go on; its screen, its memory limit and the notes about what happened.

#include "trial/watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copied_logs.h"
#include "job_loop.h"
#include "meters/procfs_meter.h"
#include "model/metric_catalogue.h"
#include "model/run_directory.h"
#include "process_table.h"
#include "trial/processes.h"
#include "trial_failure.h"
#include "util/error.h"
#include "util/file.h"
#include "util/signal_queue.h"
#include "util/text.h"
#include "watched_command.h"
#include "watched_job.h"

namespace memduel {
namespace {

constexpr std::int64_t kLookInterval = kSecondNs;
constexpr std::int64_t kStoreInterval = 60 * kSecondNs;
/// Prometheus scrapes every 15 to 60 seconds.
constexpr std::int64_t kPublishInterval = 10 * kSecondNs;
/// Rounds that wait for the store.
constexpr std::size_t kMostWaiting = 1000;
/// Of each series in the store; a day at a second is 86,400.
constexpr std::size_t kSeriesPoints = 8192;
/// A log that is not there yet, or not yet again, is not asked for as often as in a short trial:
/// this may go on for days.
constexpr std::int64_t kLogPollInterval = kSecondNs / 10;
/// For looking at /proc, as if the watch had gone on so long: jobs start their processes early.
constexpr std::int64_t kHeadStart = 30 * kSecondNs;

// Redis fills what the title that it gives itself leaves of the arguments' memory with a space,
// too.
std::vector<std::string> command_line_of(pid_t pid) {
  std::vector<std::string> arguments = arguments_of(pid);
  if (arguments.size() == 1) arguments.front().erase(arguments.front().find_last_not_of(' ') + 1);
  return arguments;
}

/// How long `pid` has run; absent when it is gone.
std::optional<double> age_seconds(pid_t pid) {
  const auto line = process_line(pid);
  if (!line || !line->started) return std::nullopt;
  const double since_boot = static_cast<double>(clock_ns(CLOCK_BOOTTIME)) * 1e-9;
  return since_boot -
         static_cast<double>(*line->started) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// The files that are kept open while a tree of hundreds is sampled.
void allow_many_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

std::vector<TextMarkSpec> text_marks_of(const WatchOptions& options) {
  using From = TextMarkSpec::From;
  std::vector<TextMarkSpec> specs;
  if (!options.round_pattern) return specs;
  // A line is about all of several processes: whose it is, it does not say.
  const char* role = options.pids.size() > 1 ? kTree : "command";
  for (const auto& log : options.logs)
    specs.push_back({role, From::file, std::filesystem::absolute(log), *options.round_pattern});
  if (specs.empty()) {
    for (const From from : {From::standard_output, From::standard_error})
      specs.push_back({role, from, {}, *options.round_pattern});
  }
  return specs;
}

TrialPlan plan_of(const WatchOptions& options, const std::vector<WatchTarget>& targets) {
  TrialPlan plan;
  plan.id = 1;
  plan.pss_interval_seconds = options.pss_interval_seconds;
  plan.text_marks = text_marks_of(options);
  for (const WatchTarget& target : targets) {
    ProcessSpec& process = plan.processes.emplace_back();
    process.role = target.role;
    process.argv = target.argv;
    process.joined = target.pid;
  }
  const bool reads_output = options.round_pattern && options.logs.empty();
  if (!options.command.empty() && (options.captures_output || reads_output)) {
    plan.log_dir = std::filesystem::absolute(options.directory / kLogsFolder);
    make_directory(plan.log_dir);
  }
  return plan;
}

/// A program that has just been started holds nothing yet.
std::int64_t first_sweep_after(const WatchOptions& options) {
  constexpr double kStartUpSeconds = 5;
  return options.command.empty()
             ? 0
             : whole_ns(std::min(kStartUpSeconds, options.pss_interval_seconds));
}

Note joined_late(const WatchTarget& target) {
  return {"joined_late",
          fmt::format("pid {} had run for {} when the watch began; that time is not measured",
                      target.pid.value_or(0), format_seconds(target.seconds_before.value_or(0))),
          "to measure from the start, run memduel watch -- CMD"};
}

Note not_interleaved() {
  return {"not_interleaved",
          "one trial of one variant: nothing was compared or interleaved with it",
          "to compare two commands, run memduel compare --a 'CMD' --b 'CMD'"};
}

/// SIGCHLD, SIGTERM, and the others that people send, where they are not ignored already (nohup).
std::vector<int> signals_of_a_watch() {
  std::vector<int> numbers = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};
  std::erase_if(numbers, [](int number) {
    struct sigaction action{};
    return number != SIGCHLD && number != SIGTERM && sigaction(number, nullptr, &action) == 0 &&
           action.sa_handler == SIG_IGN;
  });
  return numbers;
}

}  // namespace

/// How much of the memory limit is used.
class LimitWatch {
 public:
  /// @param limit absent: none can be read, and nothing is ever said.
  LimitWatch(const WatchOptions& options, std::optional<MemoryLimit> limit)
      : options_(options),
        limit_(std::move(limit)),
        alarm_(options.warn_ratio, options.critical_ratio) {}

  /// The warning, once a threshold is reached.
  std::optional<Note> check(std::optional<int> round, double elapsed_seconds);
  [[nodiscard]] std::optional<WatchSnapshot::Limit> state() const;
  /// What a reader of shares has to know.
  [[nodiscard]] std::optional<Note> limitation() const;

 private:
  [[nodiscard]] std::string scope() const {
    return limit_->group.empty() ? "this machine" : "its cgroup";
  }

  const WatchOptions& options_;
  std::optional<MemoryLimit> limit_;
  std::optional<std::int64_t> used_bytes_;
  MemoryAlarm alarm_;
};

std::optional<Note> LimitWatch::check(std::optional<int> round, double elapsed_seconds) {
  if (!limit_) return std::nullopt;
  used_bytes_ = used_bytes_of(*limit_);
  if (!used_bytes_) return std::nullopt;
  const double share = static_cast<double>(*used_bytes_) / static_cast<double>(limit_->bytes);
  const auto level = alarm_.reached(share);
  if (!level) return std::nullopt;
  const bool critical = *level == MemoryLevel::critical;
  return Note{critical ? "memory_critical" : "memory_warning",
              fmt::format("{}: {:.0f}% of the {} of {} is used{} after {}",
                          critical ? "critical" : "warning", 100 * share,
                          format_bytes(static_cast<double>(limit_->bytes)), scope(),
                          round ? fmt::format(", in round {},", *round) : "",
                          format_seconds(elapsed_seconds)),
              critical ? "the kernel may kill a process soon"
                       : "see the growth for how fast the rest is used up"};
}

std::optional<WatchSnapshot::Limit> LimitWatch::state() const {
  if (!limit_ || !used_bytes_) return std::nullopt;
  return WatchSnapshot::Limit{scope(), static_cast<double>(limit_->bytes),
                              static_cast<double>(*used_bytes_), options_.warn_ratio,
                              options_.critical_ratio};
}

std::optional<Note> LimitWatch::limitation() const {
  if (!limit_)
    return Note{"no_memory_limit", "no memory limit could be read",
                "thresholds and projections are omitted"};
  if (limit_->group.empty())
    return Note{"no_group_limit",
                "no cgroup limits the memory of the watched processes, so percentages refer to the "
                "whole machine",
                ""};
  return std::nullopt;
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

/// What is known goes to the sink now and then, so that a watch that is cut off is there as far as
/// it went.
class Watching {
 public:
  Watching(const WatchOptions& options, std::vector<WatchTarget> targets,
           const std::optional<MemoryLimit>& limit, WatchSink& sink);
  WatchResult run();

 private:
  using State = SupervisedProcess::State;

  void start_command();
  void join_processes();
  void step();
  void act(std::int64_t now_ns);
  void look(std::int64_t now_ns);
  void take_event(const void* source);
  void take_signals();
  void find_members(std::int64_t now_ns);
  void note_gone_processes(std::int64_t now_ns);
  void note_new_programs();
  void end(std::size_t process, const RoleEnd& end);
  void command_ended(const ExitRecord& exit);
  void finish();
  void note_everything();
  void store(std::int64_t now_ns, std::vector<RoleData> roles);
  [[nodiscard]] std::size_t living() const;
  /// For people: "pid 812", "python3".
  [[nodiscard]] std::string name(std::size_t process) const;
  [[nodiscard]] double seconds_until(std::int64_t now_ns) const {
    return static_cast<double>(now_ns - begin_ns_) * 1e-9;
  }
  [[nodiscard]] WatchSnapshot snapshot() const;

  const WatchOptions& options_;
  std::vector<WatchTarget> targets_;  ///< as they are now
  WatchSink& sink_;
  std::int64_t begin_ns_ = monotonic_ns();
  std::int64_t over_ns_;  ///< when the duration is over
  std::int64_t end_ns_ = 0;
  MemoryKills memory_kills_;
  SignalQueue signals_{signals_of_a_watch()};
  TrialPlan plan_;
  ProcessTable table_;
  std::unique_ptr<ProcfsMeter> owned_meter_ = std::make_unique<ProcfsMeter>(kSeriesPoints);
  const ProcfsMeter& meter_ = *owned_meter_;
  JobLoop loop_;
  WatchedJob job_;
  std::optional<WatchedCommand> command_;
  std::optional<CopiedLogs> copied_;
  std::vector<std::optional<std::uint64_t>> started_;  ///< of each process, see ProcessLine
  LimitWatch limit_;
  CostlyReadings scans_;
  std::int64_t look_due_ns_ = begin_ns_;
  std::int64_t store_due_ns_ = begin_ns_ + kStoreInterval;
  std::int64_t show_due_ns_ = 0;
  std::int64_t publish_due_ns_ = 0;
  TrialStatus status_ = TrialStatus::ok;
  int ended_by_signal_ = 0;
  std::size_t descendants_left_ = 0;  ///< when the command ended
  int alarms_ = 0;
};

Watching::Watching(const WatchOptions& options, std::vector<WatchTarget> targets,
                   const std::optional<MemoryLimit>& limit, WatchSink& sink)
    : options_(options),
      targets_(std::move(targets)),
      sink_(sink),
      over_ns_(options.duration_seconds ? begin_ns_ + whole_ns(*options.duration_seconds)
                                        : std::numeric_limits<std::int64_t>::max()),
      plan_(plan_of(options, targets_)),
      loop_(plan_, TrialMeters(std::move(owned_meter_), options.interval_seconds),
            {.living = [this] { return table_.update(all_processes(), getpid()); },
             .origin_of = [this](pid_t pid, const ProcessOrigin*) { return table_.origin_of(pid); },
             .log_poll_interval_ns = kLogPollInterval,
             .first_sweep_after_ns = first_sweep_after(options)}),
      job_(loop_, meter_, options.pids.empty()),
      limit_(options, limit),
      scans_(begin_ns_ - kHeadStart, false) {
  loop_.events.add(signals_.descriptor(), &signals_);
  options.command.empty() ? join_processes() : start_command();
}

void Watching::start_command() {
  SupervisedProcess& process = loop_.processes.started().front();
  command_.emplace(process);
  process.state = State::running;
  process.is_ready = true;
  loop_.processes.runs_as(process, command_->pid());
  loop_.listen_to(process);
  allow_many_files();  // the command has the limit that it would have without us
  if (plan_.log_dir.empty()) return;
  const TrialLogs logs = logs_of(plan_);
  copied_.emplace(
      std::vector<CopiedLogs::Log>{{logs.file(process.role(), "stdout"), STDOUT_FILENO},
                                   {logs.file(process.role(), "stderr"), STDERR_FILENO}},
      options_.pass_on);
  if (copied_->descriptor() >= 0) loop_.events.add_once(copied_->descriptor(), &copied_);
}

void Watching::join_processes() {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    SupervisedProcess& process = loop_.processes.started()[i];
    const pid_t pid = *process.spec().joined;
    const auto line = process_line(pid);
    if (!line || is_dead(*line))
      throw Error(ExitCode::cannot_measure, "ended before it could be watched",
                  fmt::format("pid {}", pid));
    started_.push_back(line->started);
    process.state = State::running;
    process.is_ready = true;
    loop_.processes.runs_as(process, pid);
    if (targets_[i].seconds_before) sink_.add_limitation(joined_late(targets_[i]));
  }
}

std::size_t Watching::living() const {
  return static_cast<std::size_t>(
      std::ranges::count(loop_.processes.started(), State::running, &SupervisedProcess::state));
}

std::string Watching::name(std::size_t process) const {
  const WatchTarget& target = targets_[process];
  return target.pid ? fmt::format("pid {}", *target.pid) : target.argv.front();
}

WatchResult Watching::run() {
  while (ended_by_signal_ == 0 && living() > 0 && monotonic_ns() < over_ns_) step();
  finish();
  WatchResult result;
  result.last = snapshot();
  if (command_) {
    const ExitRecord& exit = *loop_.processes.started().front().trace.exit;
    result.status = exit.status ? *exit.status : 128 + exit.signal.value_or(0);
    return result;
  }
  result.status = ended_by_signal_ == 0 ? 0 : 128 + ended_by_signal_;
  if (!job_.has_samples())
    throw Error(ExitCode::cannot_measure, "it was gone before it could be measured", name(0));
  return result;
}

void Watching::step() {
  const std::int64_t copy_due_ns = copied_ ? copied_->due_ns() : INT64_MAX;
  const bool sampled = loop_.turn(
      std::min({look_due_ns_, copy_due_ns, over_ns_}),
      [this](const void* source) { take_event(source); },
      [this](std::int64_t now_ns) { act(now_ns); });
  const std::int64_t now = monotonic_ns();
  job_.take(sampled, now);
  if (now >= look_due_ns_) look(now);
}

/// Before the sample: who is there.
void Watching::act(std::int64_t now_ns) {
  if (copied_ && now_ns >= copied_->due_ns()) {
    copied_->copy(now_ns);
    if (copied_->descriptor() >= 0) loop_.events.rearm(copied_->descriptor(), &copied_);
  }
  if (now_ns < look_due_ns_) return;
  if (!command_) {
    note_gone_processes(now_ns);
    note_new_programs();
  }
  find_members(now_ns);
}

/// All of /proc is read, which takes milliseconds where there are many processes: as often as its
/// share of the time allows.
void Watching::find_members(std::int64_t now_ns) {
  if (!scans_.affordable(now_ns)) return;
  const std::int64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  loop_.processes.renew(now_ns);
  scans_.spent(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before);
}

/// What is done once a second, however often is sampled.
void Watching::look(std::int64_t now_ns) {
  look_due_ns_ = now_ns + kLookInterval;
  // However a signal was lost that would have said so.
  if (command_ && living() > 0) {
    if (const auto exit = command_->reap()) command_ended(*exit);
  }
  if (const auto alarm = limit_.check(job_.running_round(), seconds_until(now_ns))) {
    options_.say(alarm->message);
    // A use that swings widely crosses a threshold in every round of a week.
    constexpr int kMostKept = 50;
    if (++alarms_ <= kMostKept) sink_.add_warning(*alarm);
  }
  if (!job_.has_samples()) return;
  if (now_ns >= store_due_ns_ || job_.rounds_waiting() >= kMostWaiting) {
    store_due_ns_ = now_ns + kStoreInterval;
    store(now_ns, job_.take_roles());
  }
  if (options_.publish && now_ns >= publish_due_ns_) {
    publish_due_ns_ = now_ns + kPublishInterval;
    options_.publish(snapshot());
  }
  if (!options_.show || now_ns < show_due_ns_) return;
  show_due_ns_ = now_ns + whole_ns(options_.show_interval_seconds);
  options_.show(snapshot());
}

void Watching::take_event(const void* source) {
  if (source == &signals_) take_signals();
  if (source == &copied_) copied_->changed();
}

/// What a terminal sends goes to the command as well; the others come to us alone.
void Watching::take_signals() {
  while (const auto number = signals_.next()) {
    if (*number == SIGCHLD) {
      if (!command_ || living() == 0) continue;
      if (const auto exit = command_->reap()) command_ended(*exit);
    } else if (!command_) {
      ended_by_signal_ = *number;
    } else if (*number != SIGINT && *number != SIGQUIT) {
      command_->signal(*number);
    }
  }
}

void Watching::note_gone_processes(std::int64_t now_ns) {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const SupervisedProcess& process = loop_.processes.started()[i];
    if (process.state != State::running) continue;
    const auto line = process_line(process.pid);
    const bool replaced = line && line->started != started_[i];
    if (line && !replaced && !is_dead(*line)) continue;
    end(i, {now_ns, false, std::nullopt});
    const std::string after = format_seconds(seconds_until(now_ns));
    const std::string goes_on = living() == 0 ? ""
                                              : fmt::format("; the watch continues with {} of {}",
                                                            living(), targets_.size());
    const Note note{
        replaced ? "pid_reused" : "process_ended",
        replaced ? fmt::format("{} ended, and its PID now belongs to another process, which is not "
                               "watched (seen after {}){}",
                               name(i), after, goes_on)
                 : fmt::format("{} ended after {}{}", name(i), after, goes_on),
        "the exit status of a process that memduel did not start is unknown"};
    options_.say(note.message);
    sink_.add_limitation(note);
  }
}

/// A process that was joined may execute another program, as a pyenv shim does, whose name people
/// know it by.
void Watching::note_new_programs() {
  bool is_new = false;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (loop_.processes.started()[i].state != State::running) continue;
    std::vector<std::string> now = command_line_of(*targets_[i].pid);
    if (now.empty() || now == targets_[i].argv) continue;
    targets_[i].argv = std::move(now);
    is_new = true;
  }
  if (is_new) sink_.rename(targets_);
}

/// The last one's end is that of all logs.
void Watching::end(std::size_t process, const RoleEnd& end) {
  SupervisedProcess& ended = loop_.processes.started()[process];
  if (living() == 1) loop_.metering.take_lines(loop_.lines.finish());
  loop_.end(ended);
  job_.take(false, end.t_ns);
  job_.finish(ended, end);
}

void Watching::command_ended(const ExitRecord& exit) {
  SupervisedProcess& process = loop_.processes.started().front();
  loop_.take_marks(process);
  process.trace.exit = exit;
  const bool for_memory = exit.signal == SIGKILL && memory_kills_.grew();
  if (for_memory) status_ = TrialStatus::killed_for_memory;
  end(0, {exit.t_ns, exit.status == 0, exit});
  loop_.processes.renew(monotonic_ns());
  descendants_left_ = process.members.size();
  if (exit.status == 0) return;
  ExitContext context;
  context.was_ready = true;
  context.killed_for_memory = for_memory;
  context.round = process.running_round;
  sink_.add_warning({for_memory ? "killed_for_memory" : "command_failed",
                     fmt::format("{} {}", name(0), describe_exit(exit, context)),
                     "growth is judged from the rounds before that"});
}

void Watching::finish() {
  loop_.metering.take_lines(loop_.lines.finish());
  if (copied_) copied_->finish();
  end_ns_ = monotonic_ns();
  job_.take(false, end_ns_);
  for (const SupervisedProcess& process : loop_.processes.started()) {
    // Of one that goes on without us the running round is not at its end.
    if (process.state == State::running) job_.finish(process, {end_ns_, false, std::nullopt});
  }
  const auto& exit = loop_.processes.started().front().trace.exit;
  job_.finish({end_ns_, exit && exit->status == 0, exit});
  note_everything();
  store(end_ns_, job_.take_roles());
}

void Watching::note_everything() {
  sink_.add_limitation(not_interleaved());
  std::vector<Note> limitations = job_.limitations(options_.interval_seconds);
  for (Note& note : loop_.lines.limitations()) limitations.push_back(std::move(note));
  if (descendants_left_ > 0)
    limitations.push_back(
        {"processes_left_running",
         fmt::format("{} descendants were still running when the command ended", descendants_left_),
         "to watch them, run memduel watch --pid PID"});
  if (const auto limitation = limit_.limitation()) limitations.push_back(*limitation);
  for (const Note& note : limitations) sink_.add_limitation(note);
  for (const Note& note : job_.warnings()) sink_.add_warning(note);
  for (const Note& note : loop_.lines.warnings()) {
    sink_.add_warning(note);
    if (is_of_unmatched_log(note)) options_.say("warning: " + note.message);
  }
  if (loop_.processes.started().front().marks.foreign_marks > 0)
    sink_.add_warning({kMarksOfSeveralProcesses,
                       "more than one process sent markers; only those of the first one count",
                       ""});
}

void Watching::store(std::int64_t now_ns, std::vector<RoleData> roles) {
  TrialData trial;
  trial.id = 1;
  trial.block = 1;
  trial.status = status_;
  if (status_ != TrialStatus::ok) trial.failure = "the command was killed for memory";
  trial.begin_ns = begin_ns_;
  trial.end_ns = now_ns;
  trial.harness_cpu_seconds = static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9;
  for (RoleData& role : roles) trial.roles.push_back(std::move(role));
  sink_.grow(std::move(trial));
}

WatchSnapshot Watching::snapshot() const {
  const std::int64_t now = end_ns_ != 0 ? end_ns_ : monotonic_ns();
  WatchSnapshot shot = job_.snapshot(now);
  shot.what = targets_.size() == 1 ? name_of(targets_.front())
                                   : fmt::format("{} processes", targets_.size());
  shot.elapsed_seconds = seconds_until(now);
  shot.limit = limit_.state();
  return shot;
}

WatchResult watch_job(const WatchOptions& options, std::vector<WatchTarget> targets,
                      const std::optional<MemoryLimit>& limit, WatchSink& sink) {
  if (options.command.empty()) allow_many_files();
  return Watching(options, std::move(targets), limit, sink).run();
}

}  // namespace memduel
