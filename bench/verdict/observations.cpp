// From trials to numbers: what each trial has of a role and metric, and what a row takes of two
// variants.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "analysis_steps.h"
#include "model/metric_catalogue.h"
#include "stats/estimates.h"
#include "trial_growth.h"
#include "util/process.h"
#include "verdict/comparison.h"

namespace memduel {
namespace {

constexpr size_t kSlopePoints = 3;

Metrics without_nan(const Metrics& metrics, int& not_a_number) {
  Metrics kept = metrics;
  not_a_number += static_cast<int>(
      erase_if(kept, [](const auto& metric) { return std::isnan(metric.second); }));
  return kept;
}

double over_rounds(const std::string& metric, const std::vector<double>& values,
                   int warmup_rounds) {
  if (metric.starts_with("peak_")) return *std::ranges::max_element(values);
  if (metric.ends_with("_seconds") && metric != kCpuSeconds) {
    const auto skipped = std::min(values.size() - 1, static_cast<size_t>(warmup_rounds));
    return median({values.begin() + static_cast<std::ptrdiff_t>(skipped), values.end()});
  }
  if (metric.ends_with("_count") || metric == kCpuSeconds) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
  }
  return values.back();
}

/// Whether a metric is of rounds after the warm-up, and not of all of them.
bool is_by_round(const std::string& metric) {
  return !metric.starts_with("peak_") && !metric.ends_with("_count") && metric != kCpuSeconds;
}

/// A metric in the order of the rounds.
struct RoundValues {
  const std::string* name;
  bool is_of_trial;  ///< which has a value of its own, so that these are not needed
  std::vector<double> values = {};
};

/// Equal names have one address. The i-th metric of most rounds is the same, which `place` guesses.
RoundValues& values_of(const std::string& name, std::size_t place, const Metrics& of_trial,
                       std::vector<RoundValues>& all) {
  if (place < all.size() && all[place].name == &name) return all[place];
  const auto found = std::ranges::find(all, &name, &RoundValues::name);
  return found != all.end() ? *found : all.emplace_back(&name, of_trial.contains(name));
}

/// What only the rounds know.
std::vector<RoundValues> per_round_only(const Metrics& of_trial,
                                        const std::vector<RoundData>& rounds, int& not_a_number) {
  std::vector<RoundValues> all;
  for (const RoundData& round : rounds) {
    std::size_t place = 0;
    for (const auto& [name, value] : round.metrics) {
      RoundValues& metric = values_of(name, place++, of_trial, all);
      if (std::isnan(value))
        ++not_a_number;
      else if (!metric.is_of_trial)
        metric.values.push_back(value);
    }
  }
  std::erase_if(all, [](const RoundValues& metric) { return metric.values.empty(); });
  return all;
}

/// By the recorder's exact counters, else as the allocator itself reports.
std::optional<double> heap_at_end(const RoundData& round) {
  static const MetricName exact(kEndHeap);
  static const MetricName reported(kHeapInUse);
  for (const MetricName name : {exact, reported})
    if (const auto at = round.metrics.value(name); at && !std::isnan(*at)) return at;
  return std::nullopt;
}

std::vector<RoundEnd> round_ends(const std::vector<RoundData>& rounds) {
  static const MetricName rss(kEndRss);
  static const MetricName of_files(kPeakRssFile);
  std::vector<RoundEnd> ends;
  for (const RoundData& round : rounds) {
    const auto at = round.metrics.value(rss);
    if (!at || std::isnan(*at)) continue;
    ends.push_back({round.round, round.begin_ns, round.end_ns, *at, heap_at_end(round),
                    round.metrics.value(of_files)});
  }
  return ends;
}

/// The windows of a role's sampled resident set.
std::vector<RoundEnd> windows_of(const RoleData& role) {
  const auto rss = std::ranges::find_if(
      role.series, [](const Series& series) { return series.metric == "rss_bytes"; });
  return rss == role.series.end() ? std::vector<RoundEnd>() : time_windows(*rss);
}

void add_growth(Metrics& metrics, const std::vector<RoundEnd>& rounds, bool by_round,
                int warmup_rounds) {
  const GrowthSlopes slopes = growth_slopes(rounds, warmup_rounds);
  if (slopes.per_round && by_round) metrics[kRssGrowthPerRound] = *slopes.per_round;
  if (slopes.heap_per_round && by_round) metrics[kHeapGrowth] = *slopes.heap_per_round;
  if (slopes.per_minute) metrics[kRssGrowthPerMinute] = *slopes.per_minute;
}

double maximum(const std::vector<double>& values) {
  return *std::ranges::max_element(values);
}

using Combine = double (*)(const std::vector<double>&);

double middle_value(const std::vector<double>& values) {
  return median(values);
}

/// Metrics that all parts have, combined.
Metrics combined(const std::vector<const Metrics*>& parts, Combine combine) {
  Metrics whole;
  for (const auto& [name, first] : *parts.front()) {
    std::vector<double> values;
    for (const Metrics* part : parts) {
      const auto at = part->find(name);
      if (at != part->end()) values.push_back(at->second);
    }
    if (values.size() == parts.size()) whole.emplace(name, combine(values));
  }
  return whole;
}

/// @param likely  its place in most lists of rounds
const RoundEnd* find_round(const std::vector<RoundEnd>& rounds, int number, std::size_t likely) {
  if (likely < rounds.size() && rounds[likely].round == number) return &rounds[likely];
  const auto at = std::ranges::find(rounds, number, &RoundEnd::round);
  return at == rounds.end() ? nullptr : &*at;
}

/// Rounds that all members have; a round lasts from the first one's begin to the last one's end.
std::vector<RoundEnd> combined_rounds(const std::vector<const std::vector<RoundEnd>*>& members,
                                      Combine combine) {
  std::vector<RoundEnd> whole;
  for (std::size_t i = 0; i < members.front()->size(); ++i) {
    RoundEnd round = (*members.front())[i];
    std::vector<double> rss;
    std::vector<double> heap;
    std::vector<double> file;
    for (const auto* rounds : members) {
      const RoundEnd* at = find_round(*rounds, round.round, i);
      if (at == nullptr) break;
      rss.push_back(at->rss_bytes);
      if (at->heap_bytes) heap.push_back(*at->heap_bytes);
      if (at->file_bytes) file.push_back(*at->file_bytes);
      round.begin_ns = std::min(round.begin_ns, at->begin_ns);
      round.end_ns = std::max(round.end_ns, at->end_ns);
    }
    if (rss.size() < members.size()) continue;
    round.rss_bytes = combine(rss);
    round.heap_bytes = heap.size() == rss.size() ? std::optional(combine(heap)) : std::nullopt;
    round.file_bytes = file.size() == rss.size() ? std::optional(combine(file)) : std::nullopt;
    whole.push_back(round);
  }
  return whole;
}

void add_group_ends(std::map<std::string, std::vector<RoundEnd>>& ends, const RoleGroup& group) {
  std::vector<const std::vector<RoundEnd>*> members;
  for (const auto& [role, rounds] : ends) {
    if (group.has(role)) members.push_back(&rounds);
  }
  std::vector<RoundEnd> largest = combined_rounds(members, maximum);
  std::vector<RoundEnd> middle = combined_rounds(members, middle_value);
  ends[group.largest()] = std::move(largest);
  ends[group.median()] = std::move(middle);
}

/// Peak above idle is peak minus idle for a group, too: of the largest the three are of the one
/// member that has the largest peak, of the median the difference is that of the medians.
void add_above_idle(const std::vector<const Metrics*>& members, Metrics& largest, Metrics& middle) {
  if (!largest.contains(kPeakRss) || !largest.contains(kPeakRssAboveIdle)) return;
  const Metrics& member = **std::ranges::max_element(
      members, {}, [](const Metrics* metrics) { return metrics->at(kPeakRss); });
  for (const char* name : {kPeakRssAboveIdle, kIdleRss})
    if (const auto value = member.value(name)) largest[name] = *value;
  if (const auto idle = middle.value(kIdleRss))
    middle[kPeakRssAboveIdle] = middle.at(kPeakRss) - *idle;
}

void add_group(Observation& observation, const RoleGroup& group) {
  std::vector<const Metrics*> metrics;
  for (const auto& [role, values] : observation.roles) {
    if (group.has(role)) metrics.push_back(&values);
  }
  if (metrics.empty()) return;
  Metrics largest = combined(metrics, maximum);
  Metrics middle = combined(metrics, middle_value);
  add_above_idle(metrics, largest, middle);
  observation.roles[group.largest()] = std::move(largest);
  observation.roles[group.median()] = std::move(middle);
  add_group_ends(observation.round_ends, group);
  add_group_ends(observation.time_windows, group);
}

Observation observe_trial(const TrialData& trial, const JobFacts& job, int warmup_rounds,
                          int& not_a_number) {
  Observation observation{trial.id, trial.block, trial.position, trial.status, trial.failure, {},
                          {},       {}};
  for (const RoleData& role : trial.roles) {
    Metrics metrics = without_nan(role.metrics, not_a_number);
    for (const RoundValues& one : per_round_only(metrics, role.rounds, not_a_number)) {
      if (has_rounds_to_judge(role, warmup_rounds) || !is_by_round(*one.name))
        metrics.emplace(*one.name, over_rounds(*one.name, one.values, warmup_rounds));
    }
    observation.roles[role.role] = std::move(metrics);
    auto ends = round_ends(role.rounds);
    observation.time_windows[role.role] = ends.empty() ? windows_of(role) : std::vector<RoundEnd>();
    observation.round_ends[role.role] = std::move(ends);
  }
  for (const RoleGroup& group : job.groups) add_group(observation, group);
  // Last, so that the growth of a group's largest is the slope of its own series: the largest of
  // several noisy slopes would be positive even for members that do not grow.
  for (auto& [role, metrics] : observation.roles) {
    metrics.erase(kRssGrowthPerRound);
    metrics.erase(kRssGrowthPerMinute);
    metrics.erase(kHeapGrowth);
    const auto& rounds = observation.round_ends.at(role);
    const bool by_round = !rounds.empty();
    add_growth(metrics, by_round ? rounds : observation.time_windows.at(role), by_round,
               warmup_rounds);
  }
  return observation;
}

std::set<int> blocks_to_drop(const std::vector<TrialData>& trials) {
  std::set<int> blocks;
  for (const TrialData& trial : trials) {
    if (trial.kind != TrialKind::measure) continue;
    if (trial.harness_fault || trial.status == TrialStatus::dropped) blocks.insert(trial.block);
  }
  return blocks;
}

}  // namespace

bool has_slope(size_t rounds, int warmup_rounds) {
  return rounds >= growth_warmup(rounds, warmup_rounds) + kSlopePoints;
}

bool has_rounds_to_judge(const RoleData& role, int warmup_rounds) {
  const size_t rounds = role.rounds.size();
  return rounds <= 1 || rounds > static_cast<size_t>(std::max(warmup_rounds, 0));
}

const ArmObservations* find_arm(const Observations& observations, const std::string& name) {
  const auto at = std::ranges::find(observations.arms, name, &ArmObservations::arm);
  return at == observations.arms.end() ? nullptr : &*at;
}

bool any_alive(const ArmObservations& arm) {
  return std::ranges::any_of(
      arm.trials, [](const Observation& trial) { return trial.status == TrialStatus::ok; });
}

std::optional<double> value_of(const Observation& trial, const std::string& role,
                               const std::string& metric) {
  const auto of_role = trial.roles.find(role);
  if (of_role == trial.roles.end()) return std::nullopt;
  const auto at = of_role->second.find(metric);
  return at == of_role->second.end() ? std::nullopt : std::optional(at->second);
}

std::vector<double> values_of(const ArmObservations& arm, const std::string& role,
                              const std::string& metric) {
  std::vector<double> values;
  for (const Observation& trial : arm.trials) {
    if (trial.status != TrialStatus::ok) continue;
    if (const auto value = value_of(trial, role, metric)) values.push_back(*value);
  }
  return values;
}

std::vector<std::string> roles_to_compare(const RunData& run, const std::vector<Gate>& gates) {
  std::vector<std::string> roles;
  std::set<std::string> members;
  bool tree = false;
  for (const TrialData& trial : run.trials) {
    for (const RoleData& role : trial.roles) {
      const bool member = is_member(run.job, role.role);
      if (member) members.insert(role.role);
      tree = tree || role.role == kTree;
      const bool named = std::ranges::find(gates, role.role, &Gate::role) != gates.end();
      const bool shown = role.role != kTree && (!member || named);
      if (shown && std::ranges::find(roles, role.role) == roles.end()) {
        roles.push_back(role.role);
      }
    }
  }
  for (const RoleGroup& group : run.job.groups) {
    const bool seen =
        std::ranges::any_of(members, [&](const std::string& role) { return group.has(role); });
    if (seen) roles.insert(roles.end(), {group.largest(), group.median()});
  }
  if (tree) roles.emplace_back(kTree);
  return roles;
}

std::set<std::string> metrics_of(const ArmObservations& arm, const std::string& role) {
  std::set<std::string> metrics;
  for (const Observation& trial : arm.trials) {
    const auto at = trial.roles.find(role);
    if (at == trial.roles.end()) continue;
    for (const auto& [metric, value] : at->second) metrics.insert(metric);
  }
  return metrics;
}

Observations observe(const std::vector<TrialData>& trials, const JobFacts& job,
                     const std::vector<std::string>& arms, int warmup_rounds) {
  Observations all;
  const std::set<int> dropped = blocks_to_drop(trials);
  all.dropped_blocks = static_cast<int>(dropped.size());
  std::vector<const TrialData*> measured;
  for (const TrialData& trial : trials)
    if (trial.kind == TrialKind::measure && !dropped.contains(trial.block) &&
        std::ranges::find(arms, trial.arm) != arms.end())
      measured.push_back(&trial);
  std::vector<Observation> observed(measured.size());
  std::vector<int> not_a_number(measured.size());
  run_parallel(measured.size(), [&](std::size_t i) {
    observed[i] = observe_trial(*measured[i], job, warmup_rounds, not_a_number[i]);
  });
  for (const int count : not_a_number) all.not_a_number += count;
  for (const std::string& arm : arms) {
    std::map<int, Observation> by_block;
    for (std::size_t i = 0; i < measured.size(); ++i)
      if (measured[i]->arm == arm) by_block[measured[i]->block] = std::move(observed[i]);
    ArmObservations observations{arm, {}};
    for (auto& [block, observation] : by_block)
      observations.trials.push_back(std::move(observation));
    all.arms.push_back(std::move(observations));
  }
  return all;
}

namespace {

/// What a trial that failed counts as: of an undeclared metric it is beyond any ceiling.
double worst_of(const MetricInfo& metric) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return metric.better == Direction::higher ? -kInfinity : kInfinity;
}

void note_failure(RowValues& row, const Observation& trial) {
  if (row.candidate_failed++ == 0) row.failure = trial.failure;
  if (trial.status == TrialStatus::killed_for_memory) ++row.candidate_killed_for_memory;
}

/// A superblock's trials of two arms, in the order in which they ran.
using Neighbourhood = std::vector<const Observation*>;

std::map<int, Neighbourhood> neighbourhoods(const ArmObservations& baseline,
                                            const ArmObservations& candidate) {
  std::map<int, Neighbourhood> all;
  for (const auto* arm : {&baseline, &candidate})
    for (const Observation& trial : arm->trials) all[superblock_of(trial.block)].push_back(&trial);
  for (auto& [number, trials] : all)
    std::ranges::sort(trials, [](const Observation* x, const Observation* y) {
      return x->position < y->position;
    });
  return all;
}

PlacedValue placed(const Observation& trial, double value, bool candidate,
                   const Neighbourhood& neighbourhood) {
  PlacedValue place{value, candidate, superblock_of(trial.block), 0, 0};
  const auto at = std::ranges::find(neighbourhood, &trial);
  const auto index = static_cast<int>(at - neighbourhood.begin());
  place.neighbours = 2 * place.superblock + index / 2;
  // Of three that are left nobody knows who was whose neighbour.
  if (neighbourhood.size() % 2 == 0) place.side = index % 2 == 0 ? -0.5 : 0.5;
  return place;
}

/// @param blocks of the values, two by two: the baseline's, then the candidate's.
std::vector<LabelSwaps> restricted_swaps(const RunOrder& order, const ArmPair& pair,
                                         const std::vector<int>& blocks) {
  std::map<int, std::size_t> numbers;  // by block
  for (std::size_t i = 0; i < blocks.size(); ++i) numbers[blocks[i]] = i;
  std::vector<LabelSwaps> all;
  for (PairDeals& segment : pair_deals(order, pair, {blocks.begin(), blocks.end()})) {
    if (segment.places.empty()) continue;
    LabelSwaps& swaps = all.emplace_back();
    for (const PairPlace& place : segment.places)
      swaps.values.push_back(2 * numbers.at(place.block) +
                             static_cast<std::size_t>(place.candidate));
    swaps.deals = std::move(segment.deals);
  }
  return all;
}

RowValues paired_values(const ArmObservations& baseline, const ArmObservations& candidate,
                        const std::string& role, const MetricInfo& metric, Design design,
                        const RunOrder* order) {
  RowValues row;
  std::vector<int> blocks;  // of the placed values
  std::map<int, const Observation*> of_block;
  for (const Observation& b : candidate.trials) of_block[b.block] = &b;
  std::map<int, Neighbourhood> places;
  if (has_places(design)) places = neighbourhoods(baseline, candidate);
  for (const Observation& a : baseline.trials) {
    const auto found = of_block.find(a.block);
    if (found == of_block.end()) continue;
    const Observation& b = *found->second;
    if (a.status != TrialStatus::ok) continue;
    const auto value_a = value_of(a, role, metric.name);
    const auto value_b = value_of(b, role, metric.name);
    if (b.status != TrialStatus::ok) note_failure(row, b);
    if (!value_a || (!value_b && b.status == TrialStatus::ok)) continue;
    row.baseline.push_back(*value_a);
    row.candidate.push_back(b.status == TrialStatus::ok ? *value_b : worst_of(metric));
    if (!has_places(design)) continue;
    blocks.push_back(a.block);
    const Neighbourhood& neighbourhood = places.at(superblock_of(a.block));
    row.placed.values.push_back(placed(a, row.baseline.back(), false, neighbourhood));
    row.placed.values.push_back(placed(b, row.candidate.back(), true, neighbourhood));
  }
  row.placed.removes_places = order != nullptr;
  if (order != nullptr && design == Design::restricted)
    row.placed.swaps = restricted_swaps(*order, order->pair(baseline.arm, candidate.arm), blocks);
  else if (has_places(design))
    row.placed.swaps = swaps_within_superblocks(row.placed.values);
  return row;
}

RowValues unpaired_values(const ArmObservations& baseline, const ArmObservations& candidate,
                          const std::string& role, const MetricInfo& metric) {
  RowValues row;
  for (const Observation& a : baseline.trials) {
    const auto value = value_of(a, role, metric.name);
    if (a.status == TrialStatus::ok && value) row.baseline.push_back(*value);
  }
  for (const Observation& b : candidate.trials) {
    const auto value = value_of(b, role, metric.name);
    if (b.status != TrialStatus::ok) {
      note_failure(row, b);
      row.candidate.push_back(worst_of(metric));
    } else if (value) {
      row.candidate.push_back(*value);
    }
  }
  return row;
}

}  // namespace

RowValues row_values(const ArmObservations& baseline, const ArmObservations& candidate,
                     const std::string& role, const MetricInfo& metric, Design design,
                     const RunOrder* order) {
  return design == Design::unpaired
             ? unpaired_values(baseline, candidate, role, metric)
             : paired_values(baseline, candidate, role, metric, design, order);
}

}  // namespace memduel
