#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "stats/estimates.h"
#include "util/process.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

constexpr int kFewestBuckets = 60;
constexpr int kMostBuckets = 1000;
constexpr size_t kMostDrawnRounds = 1000;

double seconds_since(std::int64_t begin_ns, std::int64_t t_ns) {
  return static_cast<double>(t_ns - begin_ns) * 1e-9;
}

const RoleData* find_role(const TrialData& trial, const std::string& name) {
  for (const RoleData& role : trial.roles)
    if (role.role == name) return &role;
  return nullptr;
}

const Series* find_series(const RoleData& role, const std::string& metric) {
  for (const Series& series : role.series)
    if (series.metric == metric && !series.t_ns.empty()) return &series;
  return nullptr;
}

/// The role's own rounds, or for groups without marks (`all`) those of the first role that has
/// any.
const RoleData* rounds_for(const TrialData& trial, const std::string& role) {
  const RoleData* own = find_role(trial, role);
  if (own != nullptr && !own->rounds.empty()) return own;
  for (const RoleData& other : trial.roles)
    if (!other.rounds.empty()) return &other;
  return nullptr;
}

/// Maps a time to a position in rounds, linearly between the beginnings of rounds.
class RoundClock {
 public:
  RoundClock(std::int64_t trial_begin_ns, const std::vector<RoundData>& rounds) {
    if (rounds.empty()) return;
    knots_.emplace_back(trial_begin_ns, rounds.front().round - 1.0);
    for (const RoundData& round : rounds) knots_.emplace_back(round.begin_ns, round.round);
    if (rounds.back().end_ns > rounds.back().begin_ns)
      knots_.emplace_back(rounds.back().end_ns, rounds.back().round + 1.0);
    std::ranges::sort(knots_);
  }

  /// Absent before the trial's start and after the last round. Fastest for times that ascend.
  [[nodiscard]] std::optional<double> position(std::int64_t t_ns) {
    if (knots_.empty() || t_ns < knots_.front().first || t_ns > knots_.back().first) return {};
    find_after(t_ns);
    if (after_ == knots_.size()) return knots_.back().second;
    const auto& after = knots_[after_];
    const auto& before = knots_[after_ - 1];
    const auto width = static_cast<double>(after.first - before.first);
    return before.second +
           (after.second - before.second) * static_cast<double>(t_ns - before.first) / width;
  }

 private:
  void find_after(std::int64_t t_ns) {
    if (after_ == 0 || knots_[after_ - 1].first > t_ns)
      after_ = static_cast<std::size_t>(
          std::ranges::upper_bound(knots_, t_ns, {}, &std::pair<std::int64_t, double>::first) -
          knots_.begin());
    while (after_ < knots_.size() && knots_[after_].first <= t_ns) ++after_;
  }

  std::vector<std::pair<std::int64_t, double>> knots_;
  std::size_t after_ = 0;  ///< of the last time, the first knot after it
};

/// Collects values into buckets in time order; a bucket between two samples that has none of its
/// own repeats the value before it, since memory stays as it was until it is seen to change.
class EnvelopeBuilder {
 public:
  void add(int bucket, std::int64_t value) {
    if (envelope_.high.empty()) envelope_.first = bucket;
    const auto index = static_cast<size_t>(std::max(0, bucket - envelope_.first));
    while (envelope_.high.size() <= index) {
      const bool is_new = envelope_.high.size() == index;
      envelope_.low.push_back(is_new ? value : last_);
      envelope_.high.push_back(is_new ? value : last_);
    }
    envelope_.low[index] = std::min(envelope_.low[index], value);
    envelope_.high[index] = std::max(envelope_.high[index], value);
    last_ = value;
  }
  Envelope take() { return std::move(envelope_); }

 private:
  Envelope envelope_;
  std::int64_t last_ = 0;
};

int bucket_of(double value, double width, int count) {
  return static_cast<int>(std::clamp(value / width, 0.0, count - 1.0));
}

TrialTimeline build_trial(const TrialData& trial, const RoleTimeline& frame, const Series& series) {
  EnvelopeBuilder by_time;
  EnvelopeBuilder by_round;
  const RoleData* rounds = rounds_for(trial, frame.role);
  RoundClock clock(trial.begin_ns, rounds == nullptr ? SharedVector<RoundData>() : rounds->rounds);
  const size_t count = std::min(series.t_ns.size(), series.values.size());
  for (size_t i = 0; i < count; ++i) {
    const double seconds = seconds_since(trial.begin_ns, series.t_ns[i]);
    by_time.add(bucket_of(seconds, frame.seconds_per_bucket, frame.time_buckets), series.values[i]);
    const std::optional<double> position = clock.position(series.t_ns[i]);
    if (position && frame.round_buckets > 0)
      by_round.add(
          bucket_of(*position - frame.first_position, frame.rounds_per_bucket, frame.round_buckets),
          series.values[i]);
  }
  return {trial.id, by_time.take(), by_round.take()};
}

/// To a millionth: finer than a chart shows, and digits of thousands of rounds are most of a page.
Span median_span(const std::vector<Span>& spans) {
  constexpr double kUnits = 1e6;
  const auto middle = [&spans](const auto& value_of) {
    std::vector<double> values;
    values.reserve(spans.size());
    for (const Span& span : spans) values.push_back(value_of(span));
    return std::round(median(std::move(values)) * kUnits) / kUnits;
  };
  return {{middle([](const Span& span) { return span.seconds.first; }),
           middle([](const Span& span) { return span.seconds.second; })},
          {middle([](const Span& span) { return span.position.first; }),
           middle([](const Span& span) { return span.position.second; })}};
}

Span span_of(const TrialData& trial, RoundClock& clock, std::int64_t begin_ns,
             std::int64_t end_ns) {
  return {{seconds_since(trial.begin_ns, begin_ns), seconds_since(trial.begin_ns, end_ns)},
          {clock.position(begin_ns).value_or(0), clock.position(end_ns).value_or(0)}};
}

/// Medians over the arm's trials, phase by phase in their order within the round. Empty where a
/// trial has more rounds than a chart has places for.
ArmRounds typical_rounds(const std::vector<const TrialData*>& trials, const std::string& role) {
  struct PhaseSpans {
    std::string phase;
    std::vector<Span> spans;
  };
  struct RoundSpans {
    std::vector<Span> spans;
    std::vector<PhaseSpans> phases;
  };
  std::map<int, RoundSpans> rounds;
  for (const TrialData* trial : trials) {
    const RoleData* source = rounds_for(*trial, role);
    if (source == nullptr) continue;
    if (source->rounds.size() > kMostDrawnRounds) return {};
    RoundClock clock(trial->begin_ns, source->rounds);
    auto next = rounds.begin();
    for (const RoundData& round : source->rounds) {
      const auto at = rounds.try_emplace(next, round.round);
      next = std::next(at);
      auto& [spans, slots] = at->second;
      spans.push_back(span_of(*trial, clock, round.begin_ns, round.end_ns));
      for (size_t i = 0; i < round.phases.size(); ++i) {
        const PhaseData& phase = round.phases[i];
        if (i >= slots.size()) slots.push_back({phase.phase, {}});
        if (slots[i].phase == phase.phase)
          slots[i].spans.push_back(span_of(*trial, clock, phase.begin_ns, phase.end_ns));
      }
    }
  }
  ArmRounds arm;
  for (const auto& [number, of_trials] : rounds) {
    RoundSpan round{median_span(of_trials.spans), number, {}};
    for (const PhaseSpans& slot : of_trials.phases)
      if (!slot.spans.empty()) round.phases.push_back({median_span(slot.spans), slot.phase});
    arm.rounds.push_back(std::move(round));
  }
  return arm;
}

struct SeriesKey {
  std::string role;
  std::string metric;
};

std::vector<SeriesKey> series_of(const std::vector<const TrialData*>& trials) {
  std::vector<SeriesKey> keys;
  for (const TrialData* trial : trials)
    for (const RoleData& role : trial->roles)
      for (const Series& series : role.series) {
        const bool known = std::ranges::any_of(keys, [&](const SeriesKey& key) {
          return key.role == role.role && key.metric == series.metric;
        });
        if (!known && !series.t_ns.empty()) keys.push_back({role.role, series.metric});
      }
  return keys;
}

/// The grid that all trials of one series share.
RoleTimeline frame_for(const SeriesKey& key, const std::vector<const TrialData*>& trials,
                       int buckets) {
  RoleTimeline frame;
  frame.role = key.role;
  frame.metric = key.metric;
  double longest = 0;
  int last_round = 0;
  std::optional<int> first_round;
  bool starts_up = false;
  for (const TrialData* trial : trials) {
    const RoleData* role = find_role(*trial, key.role);
    const Series* series = role == nullptr ? nullptr : find_series(*role, key.metric);
    const bool sampled = series != nullptr && !series->t_ns.empty();
    if (sampled)
      longest = std::max(longest,
                         seconds_since(trial->begin_ns, *std::ranges::max_element(series->t_ns)));
    const RoleData* rounds = rounds_for(*trial, key.role);
    if (rounds == nullptr) continue;
    const RoundData& opening = rounds->rounds.front();
    frame.rounds_of = rounds->role;
    first_round = std::min(first_round.value_or(opening.round), opening.round);
    last_round = std::max(last_round, rounds->rounds.back().round);
    if (sampled && *std::ranges::min_element(series->t_ns) < opening.begin_ns) starts_up = true;
  }
  frame.time_buckets = buckets;
  frame.seconds_per_bucket = std::max(longest, 1e-9) / buckets;
  if (first_round) {
    frame.round_buckets = buckets;
    frame.first_position = *first_round - (starts_up ? 1.0 : 0.0);
    frame.rounds_per_bucket = (last_round + 1.0 - frame.first_position) / buckets;
  }
  return frame;
}

}  // namespace

std::vector<RoleTimeline> build_timelines(const RunData& run, int bucket_budget) {
  std::vector<const TrialData*> trials;
  std::vector<std::string> arms;
  for (const TrialData& trial : run.trials) {
    if (trial.kind != TrialKind::measure) continue;
    trials.push_back(&trial);
    if (std::ranges::find(arms, trial.arm) == arms.end()) arms.push_back(trial.arm);
  }
  const std::vector<SeriesKey> keys = series_of(trials);
  const auto envelopes = static_cast<int>(std::max<size_t>(1, keys.size() * trials.size() * 2));
  const int buckets = std::clamp(bucket_budget / envelopes, kFewestBuckets, kMostBuckets);

  std::vector<RoleTimeline> timelines(keys.size());
  run_parallel(keys.size(), [&](std::size_t i) {
    const SeriesKey& key = keys[i];
    RoleTimeline timeline = frame_for(key, trials, buckets);
    for (const TrialData* trial : trials) {
      const RoleData* role = find_role(*trial, key.role);
      const Series* series = role == nullptr ? nullptr : find_series(*role, key.metric);
      if (series != nullptr) timeline.trials.push_back(build_trial(*trial, timeline, *series));
    }
    for (const std::string& arm : arms) {
      std::vector<const TrialData*> of_arm;
      for (const TrialData* trial : trials)
        if (trial->arm == arm && trial->status == TrialStatus::ok) of_arm.push_back(trial);
      ArmRounds rounds = typical_rounds(of_arm, key.role);
      rounds.arm = arm;
      if (!rounds.rounds.empty()) timeline.arms.push_back(std::move(rounds));
    }
    timelines[i] = std::move(timeline);
  });
  return timelines;
}

}  // namespace memduel
