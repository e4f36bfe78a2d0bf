#include "stats/trial_order.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "stats/samples.h"

namespace memduel {
namespace {

/// Uniform in 0..bound-1. The standard fixes mt19937_64's numbers, but not those of its
/// distributions, nor what std::shuffle draws.
std::uint64_t below(std::mt19937_64& engine, std::uint64_t bound) {
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t unbiased = largest - largest % bound;
  std::uint64_t draw = engine();
  while (draw >= unbiased) draw = engine();
  return draw % bound;
}

void shuffle(std::mt19937_64& engine, TrialOrder& order) {
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[below(engine, left)]);
  }
}

enum class Use : std::uint64_t { block = 0, superblock = 1 };

constexpr int kMostDrift = 12;  ///< doubled, as Imbalance counts
constexpr int kMostParity = 4;
constexpr std::size_t kMostRestricted = 3;
constexpr int kLongestSegment = 8;
constexpr int kSegment = 6;

/// An engine of its own for each number, so that no order depends on how many came before.
std::mt19937_64 engine_for(std::uint64_t seed, int number, Use use) {
  const std::uint64_t place =
      2 * static_cast<std::uint64_t>(number) + static_cast<std::uint64_t>(use);
  return std::mt19937_64(Random(Random(seed).next() + place).next());
}

/// Every arm so many times.
TrialOrder dealt(std::mt19937_64& engine, std::size_t times, std::size_t arms) {
  TrialOrder order(times * arms);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % arms;
  shuffle(engine, order);
  return order;
}

bool are_accepted(std::span<const TrialOrder> superblocks, std::size_t baseline,
                  std::span<const std::size_t> candidates) {
  return std::ranges::all_of(candidates, [&](std::size_t candidate) {
    Imbalance sum;
    for (const TrialOrder& order : superblocks) sum += imbalance_of(order, baseline, candidate);
    return sum.is_accepted();
  });
}

Segment drawn_segment(const OrderPlan& plan, int first, int blocks) {
  std::mt19937_64 engine = engine_for(plan.seed, first, Use::superblock);
  const std::vector<std::size_t> candidates = restricted_candidates(plan.arms, plan.baseline);
  Segment segment{first, {}};
  do {
    segment.superblocks.clear();
    for (int left = blocks; left > 0; left -= 2)
      segment.superblocks.push_back(
          dealt(engine, static_cast<std::size_t>(std::min(2, left)), plan.arms));
  } while (!are_accepted(segment.superblocks, plan.baseline, candidates));
  return segment;
}

}  // namespace

TrialOrder block_order(std::uint64_t seed, int number, std::size_t arms) {
  std::mt19937_64 engine = engine_for(seed, number, Use::block);
  TrialOrder order(arms);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(engine, order);
  return order;
}

TrialOrder superblock_order(std::uint64_t seed, int number, std::size_t arms) {
  std::mt19937_64 engine = engine_for(seed, number, Use::superblock);
  return dealt(engine, 2, arms);
}

bool Imbalance::is_accepted() const {
  return std::abs(drift) <= kMostDrift && std::abs(parity) <= kMostParity;
}

Imbalance imbalance_of(const TrialOrder& order, std::size_t baseline, std::size_t candidate) {
  const auto places = static_cast<int>(
      std::ranges::count_if(order, [&](std::size_t a) { return a == baseline || a == candidate; }));
  Imbalance sum;
  int place = 0;
  for (const std::size_t arm : order) {
    if (arm != baseline && arm != candidate) continue;
    const int sign = arm == candidate ? 1 : -1;
    sum.drift += sign * (2 * place - (places - 1));
    sum.parity += place % 2 == 0 ? sign : -sign;
    ++place;
  }
  return sum;
}

std::vector<std::size_t> restricted_candidates(std::size_t arms, std::size_t baseline) {
  std::vector<std::size_t> candidates;
  if (arms > kMostRestricted + 1) return candidates;
  for (std::size_t arm = 0; arm < arms; ++arm)
    if (arm != baseline) candidates.push_back(arm);
  return candidates;
}

std::vector<int> segments_of(int blocks) {
  std::vector<int> segments;
  for (; blocks > kLongestSegment; blocks -= kSegment) segments.push_back(kSegment);
  if (blocks > 0) segments.push_back(blocks);
  return segments;
}

int accepted_orders(int blocks) {
  static const std::array<TrialOrder, 6> kSuperblocks = {
      {{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}, {1, 0, 0, 1}, {1, 0, 1, 0}, {1, 1, 0, 0}}};
  static const std::array<TrialOrder, 2> kBlocks = {{{0, 1}, {1, 0}}};
  std::map<std::pair<int, int>, int> counts = {{{0, 0}, 1}};  // by drift and parity
  for (int left = blocks; left > 0; left -= 2) {
    std::map<std::pair<int, int>, int> next;
    const auto add = [&](const TrialOrder& order) {
      const Imbalance one = imbalance_of(order, 0, 1);
      for (const auto& [sum, count] : counts)
        next[{sum.first + one.drift, sum.second + one.parity}] += count;
    };
    if (left > 1)
      std::ranges::for_each(kSuperblocks, add);
    else
      std::ranges::for_each(kBlocks, add);
    counts = std::move(next);
  }
  int accepted = 0;
  for (const auto& [sum, count] : counts)
    if (Imbalance{sum.first, sum.second}.is_accepted()) accepted += count;
  return accepted;
}

Segment segment_at(const OrderPlan& plan, int superblock, int blocks_beyond) {
  int first = 0;
  for (const int blocks : plan.segments) {
    const int end = first + (blocks + 1) / 2;
    if (superblock < end) return drawn_segment(plan, first, blocks);
    first = end;
  }
  return drawn_segment(plan, superblock, blocks_beyond);
}

std::vector<Segment> segments_of(const OrderPlan& plan) {
  std::vector<Segment> segments;
  int first = 0;
  for (const int blocks : plan.segments) {
    segments.push_back(drawn_segment(plan, first, blocks));
    first += (blocks + 1) / 2;
  }
  return segments;
}

}  // namespace memduel
