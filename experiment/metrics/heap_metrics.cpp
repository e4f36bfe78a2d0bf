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

/// The stretches of one phase come back in the order in which they were.
void add_phases(RoundData& round, const std::vector<HeapScope>& scopes) {
  std::map<std::string, std::vector<const HeapScope*>> stretches;
  for (const HeapScope& scope : scopes) {
    if (scope.round == round.round && !scope.phase.empty())
      stretches[scope.phase].push_back(&scope);
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
    add_phases(round, scopes);
  }
}

bool sent_marks(const RoleTrace& trace) {
  return std::ranges::any_of(trace.marks, [](const MarkEvent& event) {
    return event.mark.kind != Mark::Kind::gauge && event.mark.kind != Mark::Kind::start;
  });
}

}  // namespace

std::optional<std::int64_t> peak_of_main_image(const std::vector<HeapCounters>& images) {
  constexpr std::int64_t kLeast = 64 << 10;
  constexpr std::int64_t kShare = 200;  // 0.5 %
  std::int64_t peak = 0;
  std::int64_t sum = 0;
  for (const HeapCounters& image : images) {
    const std::int64_t own = std::max<std::int64_t>(0, image.peak_bytes - image.inherited_bytes);
    peak = std::max(peak, own);
    sum += own;
  }
  if (images.empty() || sum - peak > std::max(kLeast, peak / kShare)) return std::nullopt;
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
    own[kLiveAtEnd] +=
        as_double(std::max<std::int64_t>(0, image.live_bytes - image.inherited_bytes));
  }
  peak = peak_of_main_image(trace.heap_images)
             .value_or(std::max(peak, largest_between(trace.heap, 0, INT64_MAX).value_or(0)));
  own[kPeakHeap] = as_double(peak);
  if (sent_marks(trace)) {
    for (const HeapCounters& image : trace.heap_images) add_rounds(data, image.scopes);
  } else if (!data.rounds.empty()) {  // the one round is the process's life
    for (const char* name : {kPeakHeap, kAllocatedBytes, kAllocationCount})
      data.rounds.edit().front().metrics[name] = own[name];
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
