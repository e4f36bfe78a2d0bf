#include "watch_logs.h"

#include <unistd.h>

#include <algorithm>

#include "model/metric_catalogue.h"
#include "trial/processes.h"
#include "trial/trial_plan.h"
#include "util/file.h"

namespace memduel {
namespace {

bool never_matched(const Note& note) {
  return note.code == "pattern_never_matched";
}

/// A line is about all that is watched where that is several processes: whose it is, it does not
/// say.
const char* role_of_lines(const WatchOptions& options) {
  return options.pids.size() > 1 ? kTree : "command";
}

}  // namespace

WatchLogs::WatchLogs(const WatchOptions& options, const std::filesystem::path& directory) {
  using From = TextMarkSpec::From;
  const TrialLogs logs{std::filesystem::absolute(directory), 1};
  const bool reads_output =
      !options.command.empty() && options.round_pattern && options.logs.empty();
  if (!options.command.empty() && (options.captures_output || reads_output)) {
    make_directory(logs.directory);
    output_ = OutputFiles{logs.file("command", "stdout"), logs.file("command", "stderr")};
  }
  if (!options.round_pattern) return;
  std::vector<TextMarkSpec> specs;
  for (const auto& log : options.logs)
    specs.push_back({role_of_lines(options), From::file, std::filesystem::absolute(log),
                     *options.round_pattern});
  if (reads_output) {
    for (const From from : {From::standard_output, From::standard_error})
      specs.push_back({"command", from, {}, *options.round_pattern});
    streams_ = specs.size();
  }
  lines_.emplace(logs.located(specs));
}

void WatchLogs::pass_output_on(const WatchOptions& options) {
  if (!output_) return;
  copied_.emplace(std::vector<CopiedLogs::Log>{{output_->standard_output, STDOUT_FILENO},
                                               {output_->standard_error, STDERR_FILENO}},
                  options.pass_on);
}

void WatchLogs::listen(Events& events) {
  if (lines_ && lines_->descriptor() >= 0) events.add_once(lines_->descriptor(), &lines_);
  if (copied_ && copied_->descriptor() >= 0) events.add_once(copied_->descriptor(), &copied_);
}

void WatchLogs::changed(const void* source) {
  if (source == &copied_) copied_->changed();
  if (source != &lines_) return;
  lines_->changed();
  lines_changed_ = true;
}

/// A file that is not there yet, or not yet again, is not asked for as often as in a short trial:
/// this may go on for days.
std::int64_t WatchLogs::lines_due_ns() const {
  constexpr std::int64_t kBetweenLooks = kSecondNs / 10;
  if (!lines_) return INT64_MAX;
  const std::int64_t due = lines_->due_ns();
  return lines_changed_ || due == INT64_MAX ? due : std::max(due, lines_read_ns_ + kBetweenLooks);
}

std::int64_t WatchLogs::due_ns() const {
  return std::min(lines_due_ns(), copied_ ? copied_->due_ns() : INT64_MAX);
}

std::vector<MarkedLine> WatchLogs::read(std::int64_t now_ns, Events& events) {
  std::vector<MarkedLine> found;
  if (now_ns >= lines_due_ns()) {
    lines_read_ns_ = now_ns;
    found = lines_->read(now_ns);
    lines_changed_ = lines_->due_ns() <= now_ns;  // more were there than one look takes
    if (lines_->descriptor() >= 0) events.rearm(lines_->descriptor(), &lines_);
  }
  if (copied_ && now_ns >= copied_->due_ns()) {
    copied_->copy(now_ns);
    if (copied_->descriptor() >= 0) events.rearm(copied_->descriptor(), &copied_);
  }
  return found;
}

std::vector<MarkedLine> WatchLogs::finish_lines() {
  return lines_ ? lines_->finish() : std::vector<MarkedLine>{};
}

void WatchLogs::finish_output() {
  if (copied_) copied_->finish();
}

void WatchLogs::pass_over(const std::string& role) {
  lines_->pass_over(role);
}

std::vector<Note> WatchLogs::limitations() const {
  return lines_ ? lines_->limitations() : std::vector<Note>{};
}

std::vector<Note> WatchLogs::warnings() const {
  std::vector<Note> notes = lines_ ? lines_->warnings() : std::vector<Note>{};
  // A command prints its rounds on one of its two streams.
  const auto silent = static_cast<std::size_t>(std::ranges::count_if(notes, never_matched));
  if (silent < streams_) std::erase_if(notes, never_matched);
  return notes;
}

}  // namespace memduel
