#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>

#include "stats/hypothesis_tests.h"
#include "stats/samples.h"

namespace memduel {
namespace {

std::vector<size_t> ascending(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t i, size_t j) { return p[i] < p[j]; });
  return order;
}

constexpr size_t kMostSwaps = 10000;
constexpr double kRoundP = 1e-12;

/// The deals of all segments together, one number for each segment.
struct JointDeals {
  std::vector<std::vector<size_t>> deals;
  bool are_drawn = false;  ///< the first is the one that was made
};

JointDeals joint_deals(const PlacedValues& values) {
  size_t count = 1;
  for (const LabelSwaps& swaps : values.swaps)
    count = std::min(kMostSwaps + 1, count * swaps.deals.size());
  JointDeals joint;
  auto& deals = joint.deals;
  if (count <= kMostSwaps) {
    for (size_t number = 0; number < count; ++number) {
      size_t rest = number;
      std::vector<size_t>& deal = deals.emplace_back();
      for (const LabelSwaps& swaps : values.swaps) {
        deal.push_back(rest % swaps.deals.size());
        rest /= swaps.deals.size();
      }
    }
    return joint;
  }
  joint.are_drawn = true;
  std::vector<size_t>& made = deals.emplace_back();
  for (const LabelSwaps& swaps : values.swaps) {
    std::uint32_t labels = 0;
    for (size_t i = 0; i < swaps.values.size(); ++i)
      labels |= static_cast<std::uint32_t>(values.values[swaps.values[i]].candidate) << i;
    made.push_back(
        static_cast<size_t>(std::ranges::find(swaps.deals, labels) - swaps.deals.begin()));
  }
  Random random(1);
  while (deals.size() < kMostSwaps) {
    std::vector<size_t>& deal = deals.emplace_back();
    for (const LabelSwaps& swaps : values.swaps) deal.push_back(random.below(swaps.deals.size()));
  }
  return joint;
}

/// For each joint deal, the p that the test would have had.
std::vector<double> p_of_deals(const PlacedValues& values, std::span<const int> ranks,
                               const std::vector<std::vector<size_t>>& deals) {
  std::vector<std::vector<double>> parts;  // of each segment's deals, less their mean
  for (const LabelSwaps& swaps : values.swaps) {
    std::vector<double>& part = parts.emplace_back();
    for (const std::uint32_t labels : swaps.deals) {
      int sum = 0;
      for (size_t i = 0; i < swaps.values.size(); ++i)
        if ((labels >> i & 1) != 0) sum += ranks[swaps.values[i]];
      part.push_back(sum);
    }
    const double mean =
        std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size());
    for (double& sum : part) sum -= mean;
  }
  std::vector<std::int64_t> distances;  // rounded, so that equal ones are
  for (const std::vector<size_t>& deal : deals) {
    double t = 0;
    for (size_t s = 0; s < deal.size(); ++s) t += parts[s][deal[s]];
    distances.push_back(std::llround(std::abs(t) * 1e6));
  }
  std::vector<std::int64_t> descending = distances;
  std::ranges::sort(descending, std::greater<>());
  std::vector<double> p;
  for (const std::int64_t distance : distances) {
    const auto end = std::ranges::upper_bound(descending, distance, std::greater<>());
    p.push_back(static_cast<double>(end - descending.begin()) / static_cast<double>(deals.size()));
  }
  return p;
}

}  // namespace

std::vector<double> westfall_young(const PlacedValues& values, std::span<const SwappedTest> tests) {
  const auto [deals, are_drawn] = joint_deals(values);
  std::vector<double> alone;
  for (const SwappedTest& test : tests) alone.push_back(test.p);
  const std::vector<size_t> order = ascending(alone);
  // From the largest p on: the smallest of all tests that are not smaller.
  std::vector<double> smallest(deals.size(), 1.0);
  std::vector<double> adjusted(tests.size(), 1.0);
  for (size_t k = order.size(); k-- > 0;) {
    const std::vector<double> p = p_of_deals(values, tests[order[k]].ranks, deals);
    for (size_t d = 0; d < deals.size(); ++d) smallest[d] = std::min(smallest[d], p[d]);
    const double own = std::max(alone[order[k]], are_drawn ? p.front() : 0);
    const auto reached =
        std::ranges::count_if(smallest, [&](double least) { return least <= own + kRoundP; });
    adjusted[order[k]] =
        std::max(own, static_cast<double>(reached) / static_cast<double>(deals.size()));
  }
  double so_far = 0;
  for (const size_t i : order) adjusted[i] = so_far = std::max(so_far, adjusted[i]);
  return adjusted;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  double so_far = 0;
  size_t left = p.size();
  for (const size_t i : ascending(p)) {
    so_far = std::max(so_far, std::min(1.0, static_cast<double>(left--) * p[i]));
    adjusted[i] = so_far;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<double> adjusted(p.size());
  const std::vector<size_t> order = ascending(p);
  double so_far = 1;
  for (size_t k = order.size(); k-- > 0;) {
    const double scaled = p[order[k]] * static_cast<double>(p.size()) / static_cast<double>(k + 1);
    so_far = std::min(so_far, scaled);
    adjusted[order[k]] = so_far;
  }
  return adjusted;
}

}  // namespace memduel
