#include "heap_metrics.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

#include "meters/meter.h"
#include "model/metric_catalogue.h"

namespace memduel {
namespace {

/// An amount that the recorder counts in each image, and what was sampled of it.
struct Amount {
  const char* peak_metric;
  const char* end_metric;
  std::int64_t HeapCounters::* peak;
  std::int64_t (*inherited)(const HeapCounters&);  ///< at a fork: it is its parent's
  std::int64_t HeapScope::* scope_peak;
  std::int64_t HeapScope::* scope_end;
  Series Samples::* sampled;
  bool needs_samples;  ///< for what is touched of large mappings, and for uncounted processes
};

constexpr std::array kAmounts = {
    Amount{kPeakHeap, kEndHeap, &HeapCounters::peak_bytes,
           [](const HeapCounters& image) { return image.inherited_bytes; }, &HeapScope::peak_bytes,
           &HeapScope::live_end_bytes, &Samples::heap, false},
    Amount{kPeakMapped, kEndMapped, &HeapCounters::mapping_peak_bytes,
           [](const HeapCounters& image) { return image.inherited_mapping_bytes; },
           &HeapScope::mapping_peak_bytes, &HeapScope::mapping_end_bytes, &Samples::mapped, false},
    Amount{kPeakHeapAndMapped, kEndHeapAndMapped, &HeapCounters::together_peak_bytes,
           [](const HeapCounters& image) {
             return image.inherited_bytes + image.inherited_dense_bytes;
           },
           &HeapScope::together_peak_bytes, &HeapScope::together_end_bytes,
           &Samples::heap_and_mapped, true}};
constexpr const Amount& kHeapAmount = kAmounts.front();

/// Whether the counters alone do not tell the amount.
bool is_sampled(const Amount& amount, const RoleTrace& trace) {
  return amount.needs_samples && touches_are_sampled(trace);
}

/// What was sampled last, however long ago: a round may be shorter than the time between samples.
std::optional<std::int64_t> last_before(const Series& series, std::int64_t to_ns) {
  const auto after = std::ranges::upper_bound(series.t_ns, to_ns);
  if (after == series.t_ns.begin()) return std::nullopt;
  return series.values[static_cast<std::size_t>(after - series.t_ns.begin()) - 1];
}

std::optional<std::int64_t> largest_within(const Series& series, std::int64_t from_ns,
                                           std::int64_t to_ns) {
  const auto largest = largest_between(series, from_ns, to_ns);
  return largest ? largest : last_before(series, to_ns);
}

/// @param place a round or a phase, in which `scope` was.
template <class Place>
void add_scope(Place& place, const HeapScope& scope, const RoleTrace& trace) {
  place.metrics.emplace(kAllocatedBytes, as_double(scope.allocated_bytes));
  place.metrics.emplace(kAllocationCount, as_double(scope.allocations));
  for (const Amount& amount : kAmounts) {
    std::int64_t peak = scope.*amount.scope_peak;
    if (is_sampled(amount, trace))
      peak = std::max(
          peak, largest_within(trace.*amount.sampled, place.begin_ns, place.end_ns).value_or(peak));
    place.metrics.emplace(amount.peak_metric, as_double(peak));
  }
}

void add_ends(RoundData& round, const HeapScope& scope, const RoleTrace& trace) {
  if (scope.end_ns == 0) return;
  for (const Amount& amount : kAmounts) {
    std::int64_t end = scope.*amount.scope_end;
    if (is_sampled(amount, trace))
      end = last_before(trace.*amount.sampled, round.end_ns).value_or(end);
    round.metrics[amount.end_metric] = as_double(end);
  }
}

/// The stretches of one phase come back in the order in which they were. The recorder gives those
/// outside rounds the number 0.
void add_phases(RoundData& round, const HeapCounters& image, const RoleTrace& trace, int number) {
  std::map<std::string, std::vector<const HeapScope*>> stretches;
  for (const HeapScope& scope : image.scopes) {
    if (scope.round == number && !scope.phase.empty()) stretches[scope.phase].push_back(&scope);
  }
  std::map<std::string, std::size_t> next;
  for (PhaseData& phase : round.phases) {
    const auto& same = stretches[phase.phase];
    const std::size_t at = next[phase.phase]++;
    if (at < same.size()) add_scope(phase, *same[at], trace);
  }
}

/// Only one image of a role sends marks.
void add_rounds(RoleData& data, const HeapCounters& image, const RoleTrace& trace) {
  for (RoundData& round : data.rounds.edit()) {
    const auto scope = std::ranges::find_if(image.scopes, [&](const HeapScope& each) {
      return each.round == round.round && each.phase.empty();
    });
    if (scope == image.scopes.end()) continue;
    add_scope(round, *scope, trace);
    add_ends(round, *scope, trace);
    add_phases(round, image, trace, round.round);
  }
}

std::int64_t own_peak(const HeapCounters& image, const Amount& amount) {
  return std::max<std::int64_t>(0, image.*amount.peak - amount.inherited(image));
}

/// When each image ended, in their order. One that did not say when has ended at the latest when
/// its process executed the next program.
std::vector<std::int64_t> ends_of(const std::vector<HeapCounters>& images) {
  std::map<std::int64_t, std::vector<std::int64_t>> starts;  // by pid
  for (const HeapCounters& image : images) starts[image.pid].push_back(image.started_ns);
  for (auto& [pid, times] : starts) std::ranges::sort(times);
  std::vector<std::int64_t> ends;
  for (const HeapCounters& image : images) {
    const std::vector<std::int64_t>& times = starts[image.pid];
    const auto next = std::ranges::upper_bound(times, image.started_ns);
    ends.push_back(image.ended_ns != 0 ? image.ended_ns : next != times.end() ? *next : INT64_MAX);
  }
  return ends;
}

/// The most that images could have held at one moment if each had its own peak as long as it ran.
std::int64_t most_together(const std::vector<HeapCounters>& images, const Amount& amount) {
  const std::vector<std::int64_t> ends = ends_of(images);
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // when, by how many bytes
  for (std::size_t i = 0; i < images.size(); ++i) {
    steps.emplace_back(images[i].started_ns, own_peak(images[i], amount));
    steps.emplace_back(ends[i], -own_peak(images[i], amount));
  }
  std::ranges::sort(steps);  // what ended at a moment was gone when another began
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const auto& [at, bytes] : steps) most = std::max(most, now += bytes);
  return most;
}

std::optional<std::int64_t> peak_of_main_image(const std::vector<HeapCounters>& images,
                                               const Amount& amount) {
  constexpr std::int64_t kLeast = 64 << 10;
  constexpr std::int64_t kShare = 200;  // 0.5%
  std::int64_t peak = 0;
  for (const HeapCounters& image : images) peak = std::max(peak, own_peak(image, amount));
  if (images.empty() || most_together(images, amount) - peak > std::max(kLeast, peak / kShare))
    return std::nullopt;
  return peak;
}

std::optional<std::int64_t> peak_of(const Amount& amount, const RoleTrace& trace) {
  const auto main = peak_of_main_image(trace.heap_images, amount);
  if (main && !is_sampled(amount, trace)) return main;
  auto peak = largest_between(trace.*amount.sampled, 0, INT64_MAX);
  for (const HeapCounters& image : trace.heap_images)
    peak = std::max(peak.value_or(0), main.value_or(image.*amount.peak));
  return peak;
}

/// The one round of a program that marks none is its life.
void add_whole_life(RoundData& round, const Metrics& own, const RoleTrace& trace) {
  for (const auto& [name, value] : own)
    if (name != kLiveAtEnd) round.metrics[name] = value;
  for (const HeapCounters& image : trace.heap_images) add_phases(round, image, trace, 0);
}

/// Whether the counters of one image tell the amount of the whole job.
bool is_counted(const Amount& amount, const TrialTrace& trace) {
  return trace.roles.size() == 1 && !is_sampled(amount, trace.roles.front()) &&
         peak_of_main_image(trace.roles.front().heap_images, amount);
}

const RoundData* same_round(const RoleData& role, int number) {
  const auto found = std::find_if(role.rounds.begin(), role.rounds.end(),
                                  [&](const RoundData& each) { return each.round == number; });
  return found == role.rounds.end() ? nullptr : &*found;
}

void copy_to(Metrics& metrics, const Metrics& own, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto value = own.value(name)) metrics.emplace(name, *value);
}

void add_tree_rounds(RoleData& tree, const Amount& amount, const TrialTrace& trace,
                     const std::vector<RoleData>& roles, bool by_counters) {
  for (RoundData& round : tree.rounds.edit()) {
    if (!by_counters) {
      const Series& series = trace.tree.*amount.sampled;
      const auto peak = amount.needs_samples
                            ? largest_within(series, round.begin_ns, round.end_ns)
                            : largest_between(series, round.begin_ns, round.end_ns);
      if (peak) round.metrics[amount.peak_metric] = as_double(*peak);
      const auto end = last_before(series, round.end_ns);
      if (end && amount.needs_samples) round.metrics[amount.end_metric] = as_double(*end);
      continue;
    }
    if (const RoundData* own = same_round(roles.front(), round.round))
      copy_to(round.metrics, own->metrics, {amount.peak_metric, amount.end_metric});
  }
}

void add_tree_amount(RoleData& tree, const Amount& amount, const TrialTrace& trace,
                     const std::vector<RoleData>& roles) {
  double largest = 0;
  for (const RoleData& role : roles) {
    const auto peak = role.metrics.value(amount.peak_metric);
    if (!peak) return;
    largest = std::max(largest, *peak);
  }
  const bool by_counters = is_counted(amount, trace);
  add_tree_rounds(tree, amount, trace, roles, by_counters);
  if (!by_counters) {
    const auto sampled = largest_between(trace.tree.*amount.sampled, 0, INT64_MAX);
    largest = std::max(largest, as_double(sampled.value_or(0)));
  }
  tree.metrics.emplace(amount.peak_metric, largest);
}

}  // namespace

bool touches_are_sampled(const RoleTrace& trace) {
  return !trace.uncounted.values.empty() ||
         std::ranges::any_of(trace.heap_images, &HeapCounters::has_sparse);
}

std::optional<std::int64_t> peak_of_main_image(const std::vector<HeapCounters>& images) {
  return peak_of_main_image(images, kHeapAmount);
}

void add_heap(RoleData& data, const RoleTrace& trace) {
  Metrics own;
  if (!trace.heap_images.empty()) own.emplace(kLiveAtEnd, 0);
  for (const HeapCounters& image : trace.heap_images) {
    own[kAllocatedBytes] += as_double(image.allocated_bytes);
    own[kAllocationCount] += as_double(image.allocations);
    if (image.replaced) continue;
    own[kLiveAtEnd] +=
        as_double(std::max<std::int64_t>(0, image.live_bytes - image.inherited_bytes));
  }
  for (const Amount& amount : kAmounts)
    if (const auto peak = peak_of(amount, trace)) own[amount.peak_metric] = as_double(*peak);
  if (marks_rounds(trace)) {
    for (const HeapCounters& image : trace.heap_images) add_rounds(data, image, trace);
  } else if (!data.rounds.empty()) {
    add_whole_life(data.rounds.edit().front(), own, trace);
  }
  data.metrics.merge(own);
}

void add_tree_heap(RoleData& tree, const TrialTrace& trace, const std::vector<RoleData>& roles) {
  for (const Amount& amount : kAmounts) add_tree_amount(tree, amount, trace, roles);
  if (is_counted(kHeapAmount, trace)) {
    for (RoundData& round : tree.rounds.edit())
      if (const RoundData* own = same_round(roles.front(), round.round))
        copy_to(round.metrics, own->metrics, {kAllocatedBytes, kAllocationCount});
  }
}

}  // namespace memduel
