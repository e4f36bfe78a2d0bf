#include "experiment/metrics/heap_metrics.h"

#include <algorithm>
#include <map>

#include "base/metric_catalogue.h"

namespace memduel {
namespace {

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

Metrics metrics_of(const HeapScope& scope) {
  return {{kPeakHeap, as_double(scope.peak_bytes)},
          {kAllocatedBytes, as_double(scope.allocated_bytes)},
          {kAllocationCount, as_double(scope.allocations)}};
}

/// The stretches of one phase come back in the order in which they were. The recorder gives those
/// outside rounds the number 0.
void add_phases(RoundData& round, const std::vector<HeapScope>& scopes, int number) {
  std::map<std::string, std::vector<const HeapScope*>> stretches;
  for (const HeapScope& scope : scopes) {
    if (scope.round == number && !scope.phase.empty()) stretches[scope.phase].push_back(&scope);
  }
  std::map<std::string, std::size_t> next;
  for (PhaseData& phase : round.phases) {
    const auto& same = stretches[phase.phase];
    const std::size_t at = next[phase.phase]++;
    if (at < same.size()) phase.metrics.merge(metrics_of(*same[at]));
  }
}

/// Only one image of a role sends marks.
void add_rounds(RoleData& data, const std::vector<HeapScope>& scopes) {
  for (RoundData& round : data.rounds.edit()) {
    const auto scope = std::ranges::find_if(scopes, [&](const HeapScope& each) {
      return each.round == round.round && each.phase.empty();
    });
    if (scope == scopes.end()) continue;
    round.metrics.merge(metrics_of(*scope));
    if (scope->end_ns > 0) round.metrics[kEndHeap] = as_double(scope->live_end_bytes);
    add_phases(round, scopes, round.round);
  }
}

/// What a fork had inherited is its parent's.
std::int64_t own_peak(const HeapCounters& image) {
  return std::max<std::int64_t>(0, image.peak_bytes - image.inherited_bytes);
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
std::int64_t most_together(const std::vector<HeapCounters>& images) {
  const std::vector<std::int64_t> ends = ends_of(images);
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // when, by how many bytes
  for (std::size_t i = 0; i < images.size(); ++i) {
    steps.emplace_back(images[i].started_ns, own_peak(images[i]));
    steps.emplace_back(ends[i], -own_peak(images[i]));
  }
  std::ranges::sort(steps);  // what ended at a moment was gone when another began
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const auto& [at, bytes] : steps) most = std::max(most, now += bytes);
  return most;
}

}  // namespace

std::optional<std::int64_t> peak_of_main_image(const std::vector<HeapCounters>& images) {
  constexpr std::int64_t kLeast = 64 << 10;
  constexpr std::int64_t kShare = 200;  // 0.5 %
  if (images.empty()) return std::nullopt;
  const std::int64_t peak = own_peak(*std::ranges::max_element(images, {}, own_peak));
  if (most_together(images) - peak > std::max(kLeast, peak / kShare)) return std::nullopt;
  return peak;
}

void add_heap(RoleData& data, const RoleTrace& trace) {
  if (trace.heap_images.empty()) return;
  std::int64_t peak = 0;
  Metrics own = {{kAllocatedBytes, 0}, {kAllocationCount, 0}, {kLiveAtEnd, 0}};
  for (const HeapCounters& image : trace.heap_images) {
    peak = std::max(peak, image.peak_bytes);
    own[kAllocatedBytes] += as_double(image.allocated_bytes);
    own[kAllocationCount] += as_double(image.allocations);
    if (!image.replaced)
      own[kLiveAtEnd] +=
          as_double(std::max<std::int64_t>(0, image.live_bytes - image.inherited_bytes));
  }
  peak = peak_of_main_image(trace.heap_images)
             .value_or(std::max(peak, largest_between(trace.heap, 0, INT64_MAX).value_or(0)));
  own[kPeakHeap] = as_double(peak);
  if (marks_rounds(trace)) {
    for (const HeapCounters& image : trace.heap_images) add_rounds(data, image.scopes);
  } else if (!data.rounds.empty()) {  // the one round is the process's life
    for (const char* name : {kPeakHeap, kAllocatedBytes, kAllocationCount})
      data.rounds.edit().front().metrics[name] = own[name];
    for (const HeapCounters& image : trace.heap_images)
      add_phases(data.rounds.edit().front(), image.scopes, 0);
  }
  data.metrics.merge(own);
}

void add_tree_heap(RoleData& tree, const TrialTrace& trace, const std::vector<RoleData>& roles) {
  double largest = 0;
  Metrics sums;
  std::vector<HeapCounters> images;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const auto peak = roles[i].metrics.value(kPeakHeap);
    if (!peak) return;
    largest = std::max(largest, *peak);
    const auto& own = trace.roles[i].heap_images;
    images.insert(images.end(), own.begin(), own.end());
    for (const char* name : {kAllocatedBytes, kAllocationCount, kLiveAtEnd})
      sums[name] += roles[i].metrics.at(name);
  }
  const bool one_role = roles.size() == 1;
  if (one_role && peak_of_main_image(images)) {
    for (RoundData& round : tree.rounds.edit()) {
      const auto own =
          std::find_if(roles.front().rounds.begin(), roles.front().rounds.end(),
                       [&](const RoundData& each) { return each.round == round.round; });
      if (own == roles.front().rounds.end()) continue;
      for (const char* name : {kPeakHeap, kAllocatedBytes, kAllocationCount, kEndHeap})
        if (const auto value = own->metrics.value(name)) round.metrics.emplace(name, *value);
    }
  } else {
    const auto sampled = largest_between(trace.tree_heap, 0, INT64_MAX);
    largest = std::max(largest, as_double(sampled.value_or(0)));
    for (RoundData& round : tree.rounds.edit()) {
      const auto peak = largest_between(trace.tree_heap, round.begin_ns, round.end_ns);
      if (peak) round.metrics[kPeakHeap] = as_double(*peak);
    }
  }
  sums[kPeakHeap] = largest;
  tree.metrics.merge(sums);
}

}  // namespace memduel
