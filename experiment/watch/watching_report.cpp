// What a watch shows while it goes on, and what it leaves.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "experiment/marks/log_limit.h"
#include "experiment/marks/monotonic.h"
#include "experiment/watch/watch_header.h"
#include "experiment/watch/watching.h"

namespace memduel {
namespace {

constexpr std::int64_t kBetweenStores = 60 * kSecondNs;
/// Rounds that wait for the store.
constexpr std::size_t kMostPending = 1000;

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

}  // namespace

WatchSnapshot Watching::snapshot() const {
  const std::int64_t now = end_ns_ != 0 ? end_ns_ : monotonic_ns();
  WatchSnapshot shot;
  shot.what = what_;
  shot.elapsed_seconds = seconds_between(begin_ns_, now);
  for (const Root& root : roots_) {
    const ProcfsMeter::Latest latest = meter_.latest(root.role.role());
    if (root.ended) continue;
    shot.processes += latest.processes;
    if (latest.rss_bytes) shot.rss_bytes = shot.rss_bytes.value_or(0) + *latest.rss_bytes;
  }
  shot.samples = samples_;
  if (samples_ > 0) shot.peak_rss_bytes = peak_rss_bytes_;
  shot.pss_bytes = pss_bytes_;
  shot.pss_age_seconds = seconds_between(pss_read_ns_, now);
  shot.running_round = whole_.running_round();
  shot.rounds_ended = round_ends_.count();
  shot.round_ends = round_ends_.kept();
  shot.rss = meter_.series_of("tree");
  if (limit_ && used_bytes_)
    shot.limit =
        WatchSnapshot::Limit{limit_->group.empty() ? "this machine" : "its control group",
                             static_cast<double>(limit_->bytes), static_cast<double>(*used_bytes_),
                             options_.warn_ratio, options_.critical_ratio};
  return shot;
}

RoleData Watching::role_data(const WatchedRole& role, const ThinnedSeries& pss,
                             std::vector<RoundData>& pending) const {
  RoleData data;
  data.role = role.role();
  data.metrics = role.metrics();
  data.rounds = std::exchange(pending, {});
  Series rss = meter_.series_of(role.role());
  if (!rss.t_ns.empty()) data.series.push_back(std::move(rss));
  if (!pss.empty()) data.series.push_back(pss.series());
  return data;
}

/// The rounds that are not stored yet, and all that else is known.
TrialData Watching::trial() {
  TrialData data;
  data.id = plan_.id;
  data.block = 1;
  data.arm = kWatchArm;
  data.status = command_was_killed_for_memory_ ? TrialStatus::killed_for_memory : TrialStatus::ok;
  if (command_was_killed_for_memory_) data.failure = "the command was killed for memory";
  data.begin_ns = begin_ns_;
  data.end_ns = end_ns_ != 0 ? end_ns_ : monotonic_ns();
  data.harness_cpu_seconds = static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9;
  for (Root& root : roots_) {
    data.roles.push_back(role_data(root.role, root.pss, root.pending));
    if (!root.exit) continue;
    data.roles.back().exit_status = root.exit->status;
    data.roles.back().exit_signal = root.exit->signal;
  }
  data.roles.push_back(role_data(whole_, whole_pss_, whole_pending_));
  return data;
}

void Watching::store_when_due(std::int64_t now) {
  if (samples_ == 0 || (now < store_due_ns_ && whole_pending_.size() < kMostPending)) return;
  store_due_ns_ = now + kBetweenStores;
  store_.grow_trial(trial());
}

void Watching::note_everything() {
  store_.add_limitation(
      {"not_interleaved",
       "one trial of one arm, watched as it ran: nothing was run in turns with it",
       "memduel compare --a 'CMD' --b 'CMD' duels two commands"});
  if (!round_ends_.count() && !whole_.marks_dropped())
    store_.add_limitation({"peaks_sampled_from_outside",
                           fmt::format("no round ended: one round, with peaks sampled each {}",
                                       format_seconds(options_.interval_seconds)),
                           "mark rounds with memduel/annotate.h, or name them with "
                           "--round-pattern"});
  note_text_marks();
  if (command_ && command_->marks.foreign_marks > 0)
    store_.add_warning({"marks_of_several_processes",
                        "more than one process sent marks; those of the first one count", ""});
  if (whole_.marks_dropped() > 0)
    store_.add_warning({"marks_dropped",
                        fmt::format("{} phases and gauges of rounds with more than 10000 of them "
                                    "were left out",
                                    whole_.marks_dropped()),
                        "mark less often"});
  if (descendants_left_ > 0)
    store_.add_limitation(
        {"processes_left_running",
         fmt::format("{} descendants were still running when the command ended", descendants_left_),
         "memduel watch --pid watches them"});
  finish_logs();
  note_meters();
}

void Watching::note_text_marks() {
  if (!text_marks_) return;
  for (const Note& note : text_marks_->limitations()) store_.add_limitation(note);
  std::vector<Note> warnings = text_marks_->warnings();
  const auto never_matched = [](const Note& note) { return note.code == "pattern_never_matched"; };
  // A command prints its rounds on one of its two streams.
  const auto count = std::count_if(warnings.begin(), warnings.end(), never_matched);
  if (options_.logs.empty() && count < static_cast<std::ptrdiff_t>(plan_.text_marks.size()))
    std::erase_if(warnings, never_matched);
  for (const Note& note : warnings) {
    store_.add_warning(note);
    if (never_matched(note) || note.code == "mark_log_missing") say("warning: " + note.message);
  }
}

void Watching::note_meters() {
  if (pss_missing_)
    store_.add_limitation({"pss_not_readable",
                           "PSS could not be read of every process: they are of another user, or "
                           "ended meanwhile",
                           "watch as their user or as root"});
  if (sweep_was_late_)
    store_.add_limitation({"pss_rationed",
                           "PSS was read more rarely than asked for, to keep its cost below 0.15 % "
                           "of a CPU",
                           ""});
  if (!limit_) {
    store_.add_limitation({"no_memory_limit", "no memory limit could be read",
                           "thresholds and projections are left out"});
  } else if (limit_->group.empty()) {
    store_.add_limitation({"no_group_limit",
                           "no control group of what was watched limits its memory: shares are "
                           "those of the whole machine",
                           ""});
  }
}

void Watching::limit_logs() {
  for (LogLimit& limit : log_limits_) limit.check();
}

/// Once nobody writes them any more.
void Watching::finish_logs() {
  if (descendants_left_ > 0) return;
  std::int64_t dropped = 0;
  for (LogLimit& limit : log_limits_) dropped += limit.finish();
  if (dropped > 0)
    store_.add_limitation({"log_cut",
                           fmt::format("{} of the command's output are not in logs/: its beginning "
                                       "and its end are",
                                       format_bytes(static_cast<double>(dropped))),
                           "have it log less"});
}

void Watching::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

}  // namespace memduel
