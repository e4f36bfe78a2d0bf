#include "experiment/watch/watching.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "experiment/marks/monotonic.h"
#include "experiment/marks/seconds.h"
#include "experiment/trial/event_wait.h"
#include "experiment/watch/watch_header.h"
#include "profilers/meters/cgroup.h"

namespace memduel {
namespace {

/// Of each series in the store; a day at a second is 86,400.
constexpr std::size_t kSeriesPoints = 8192;
/// Of PSS, which is read once a minute.
constexpr std::size_t kPssPoints = 2048;
constexpr std::size_t kShownRounds = 128;
constexpr std::int64_t kLookInterval = kSecondNs;
/// For looking at /proc, as if the watch had gone on so long: jobs start their processes early.
constexpr std::int64_t kHeadStart = 30 * kSecondNs;
constexpr std::int64_t kStoreInterval = 60 * kSecondNs;

enum Source : std::uint32_t { signals, marks, texts, copies };

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

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(seconds_as_ns(seconds));
}

/// A program that has just been started holds nothing yet.
std::int64_t first_sweep_after(const WatchOptions& options) {
  constexpr double kStartUpSeconds = 5;
  return options.command.empty()
             ? 0
             : nanoseconds(std::min(kStartUpSeconds, options.pss_interval_seconds));
}

}  // namespace

Watching::Watching(const WatchOptions& options)
    : options_(options),
      begin_ns_(monotonic_ns()),
      store_(Store::create(options.directory,
                           watch_header(options, watch_targets(options), limit_of(options)))),
      poll_(epoll_create1(EPOLL_CLOEXEC)),
      meter_(kSeriesPoints),
      whole_("tree", begin_ns_, options.pids.empty()),
      whole_pss_("pss_bytes", kPssPoints),
      round_ends_(kShownRounds),
      limit_(limit_of(options)),
      alarm_(options.warn_ratio, options.critical_ratio),
      scans_(begin_ns_ - kHeadStart, false),
      sweeps_(begin_ns_, false),
      counters_(begin_ns_, false),
      oom_kills_before_(oom_kills_anywhere()),
      sample_due_ns_(begin_ns_),
      look_due_ns_(begin_ns_),
      sweep_due_ns_(begin_ns_ + first_sweep_after(options)),
      store_due_ns_(begin_ns_ + kStoreInterval) {
  plan_.id = 1;
  plan_.log_dir = std::filesystem::absolute(options.directory) / "logs";
  options.command.empty() ? find_pids() : start_command();
  allow_many_files();
  listen(signals_.descriptor(), signals);
  if (command_) listen(command_->marks.descriptor(), marks);
  if (text_marks_ && text_marks_->descriptor() >= 0)
    listen_once(EPOLL_CTL_ADD, text_marks_->descriptor(), texts);
  if (copied_ && copied_->descriptor() >= 0)
    listen_once(EPOLL_CTL_ADD, copied_->descriptor(), copies);
}

WatchResult Watching::run() {
  while (!over()) step();
  finish();
  WatchResult result;
  result.last = snapshot();
  if (!command_) {
    result.status = ended_by_signal_ == 0 ? 0 : 128 + ended_by_signal_;
    if (samples_ == 0)
      throw Error(ExitCode::cannot_measure, "it was gone before it could be measured",
                  roots_.front().name);
    return result;
  }
  const ExitRecord& exit = *roots_.front().exit;
  result.status = exit.status ? *exit.status : 128 + exit.signal.value_or(0);
  return result;
}

void Watching::step() {
  wait_for_events(next_due());
  const std::int64_t now = monotonic_ns();
  if (text_marks_ && now >= texts_due()) {
    texts_changed_ = false;
    texts_read_ns_ = now;
    take_lines(text_marks_->read(now));
    texts_changed_ = text_marks_->due_ns() <= now;  // more of them were there than one look takes
    listen_once(EPOLL_CTL_MOD, text_marks_->descriptor(), texts);
  }
  if (copied_ && now >= copied_->due_ns()) {
    copied_->copy(now);
    listen_once(EPOLL_CTL_MOD, copied_->descriptor(), copies);
  }
  const bool looks = now >= look_due_ns_;
  if (looks) {
    if (!command_) check_roots();
    find_members(now);
  }
  if (now >= sample_due_ns_) sample(now);
  if (looks) look(now);
}

/// What is done once a second, however often is sampled.
void Watching::look(std::int64_t now) {
  look_due_ns_ = now + kLookInterval;
  if (now >= sweep_due_ns_) sweep(now);
  check_limit();
  limit_logs();
  store_when_due(now);
  if (!options_.show || samples_ == 0 || now < show_due_ns_) return;
  show_due_ns_ = now + nanoseconds(options_.show_interval_seconds);
  options_.show(snapshot());
}

bool Watching::over() const {
  if (ended_by_signal_ != 0) return true;
  if (options_.duration_seconds &&
      monotonic_ns() - begin_ns_ >= nanoseconds(*options_.duration_seconds))
    return true;
  return std::all_of(roots_.begin(), roots_.end(), [](const Root& root) { return root.ended; });
}

void Watching::listen(int descriptor, std::uint32_t source) const {
  epoll_event event{EPOLLIN, {.u32 = source}};
  epoll_ctl(poll_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

/// Once for each look: a log that is written without pause would wake us for every line.
void Watching::listen_once(int operation, int descriptor, std::uint32_t source) const {
  epoll_event event{EPOLLIN | EPOLLONESHOT, {.u32 = source}};
  epoll_ctl(poll_.get(), operation, descriptor, &event);
}

/// A file that is not there yet, or not yet again, is not asked for as often as in a short trial:
/// this may go on for days.
std::int64_t Watching::texts_due() const {
  constexpr std::int64_t kBetweenLooks = kSecondNs / 10;
  const std::int64_t due = text_marks_->due_ns();
  return texts_changed_ || due == INT64_MAX ? due : std::max(due, texts_read_ns_ + kBetweenLooks);
}

std::int64_t Watching::next_due() const {
  std::int64_t due = std::min(sample_due_ns_, look_due_ns_);
  if (text_marks_) due = std::min(due, texts_due());
  if (copied_) due = std::min(due, copied_->due_ns());
  if (options_.duration_seconds)
    due = std::min(due, begin_ns_ + nanoseconds(*options_.duration_seconds));
  return due;
}

void Watching::wait_for_events(std::int64_t until_ns) {
  std::array<epoll_event, 8> events{};
  const int count = wait_for_events_until(poll_.get(), events, until_ns);
  for (int at = 0; at < count; ++at) {
    switch (events[static_cast<std::size_t>(at)].data.u32) {
      case signals:
        take_signals();
        break;
      case marks:
        take_marks();
        break;
      case texts:
        text_marks_->changed();
        texts_changed_ = true;
        break;
      default:
        copied_->changed();
        break;
    }
  }
}

/// What a terminal sends goes to the command as well; the others come to us alone.
void Watching::take_signals() {
  while (const auto number = signals_.next()) {
    if (*number == SIGCHLD) {
      if (!command_ || roots_.front().ended) continue;
      if (const auto exit = command_->reap()) command_ended(*exit);
    } else if (!command_) {
      ended_by_signal_ = *number;
    } else if (*number != SIGINT && *number != SIGQUIT) {
      command_->signal(*number);
    }
  }
}

void Watching::finish() {
  if (text_marks_) take_lines(text_marks_->finish());
  if (copied_) copied_->finish();
  end_ns_ = monotonic_ns();
  for (Root& root : roots_) {
    // Of one that goes on without us the running round is not at its end.
    if (!root.ended) root.role.finish({end_ns_, false, std::nullopt});
  }
  const bool well = command_ && roots_.front().exit->status == 0;
  RoleEnd end{end_ns_, well, std::nullopt};
  if (roots_.size() == 1) end.exit = roots_.front().exit;
  whole_.finish(end);
  gather_rounds();
  note_everything();
  store_.grow_trial(trial());
}

}  // namespace memduel
