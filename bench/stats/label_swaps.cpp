#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "stats/trial_order.h"

namespace memduel {
namespace {

constexpr double kSame = 1e-9;

/// One way to deal the labels of a superblock: the arm of each of the pair's places.
struct Pattern {
  std::uint32_t labels = 0;  ///< of the places that count, from bit 0
  std::vector<Imbalance> imbalances;
};

/// The order with the labels of `pair` dealt as the bits of `mask` say.
TrialOrder relabelled(const TrialOrder& order, std::span<const std::size_t> places,
                      std::uint32_t mask, const ArmPair& pair) {
  TrialOrder dealt = order;
  for (std::size_t i = 0; i < places.size(); ++i)
    dealt[places[i]] = (mask >> i & 1) != 0 ? pair.candidate : pair.baseline;
  return dealt;
}

/// Which of the pair's places count, by place: those whose arm is there for the n-th time in a
/// block that counts.
std::vector<bool> counting(const TrialOrder& order, std::span<const std::size_t> places,
                           int superblock, const std::set<int>& blocks) {
  std::map<std::size_t, int> times;
  std::vector<bool> counts;
  for (const std::size_t place : places)
    counts.push_back(blocks.contains(2 * superblock + 1 + times[order[place]]++));
  return counts;
}

bool keeps_what_is_left_out(std::uint32_t mask, std::uint32_t observed,
                            const std::vector<bool>& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (!counts[i] && (mask >> i & 1) != (observed >> i & 1)) return false;
  return true;
}

std::uint32_t labels_that_count(std::uint32_t mask, const std::vector<bool>& counts) {
  std::uint32_t labels = 0;
  int bit = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i]) labels |= (mask >> i & 1) << bit++;
  return labels;
}

class Superblock {
 public:
  Superblock(const TrialOrder& order, int number, const ArmPair& pair, const std::set<int>& blocks,
             std::span<const std::size_t> candidates, std::size_t restricted_from)
      : number_(number) {
    for (std::size_t place = 0; place < order.size(); ++place)
      if (order[place] == pair.baseline || order[place] == pair.candidate) places_.push_back(place);
    counts_ = counting(order, places_, number, blocks);
    std::uint32_t observed = 0;
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (order[places_[i]] == pair.candidate) observed |= 1U << i;
    add_places(observed);
    for (std::uint32_t mask = 0; mask < 1U << places_.size(); ++mask) {
      if (2 * std::popcount(mask) != static_cast<int>(places_.size())) continue;
      if (!keeps_what_is_left_out(mask, observed, counts_)) continue;
      const TrialOrder dealt = relabelled(order, places_, mask, pair);
      if (counting(dealt, places_, number, blocks) != counts_) continue;
      Pattern pattern{labels_that_count(mask, counts_), {}};
      for (const std::size_t candidate : candidates)
        pattern.imbalances.push_back(imbalance_of(dealt, restricted_from, candidate));
      patterns_.push_back(std::move(pattern));
    }
  }

  [[nodiscard]] const std::vector<Pattern>& patterns() const { return patterns_; }
  [[nodiscard]] const std::vector<PairPlace>& kept() const { return kept_; }

 private:
  void add_places(std::uint32_t observed) {
    int times[2] = {0, 0};
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const bool candidate = (observed >> i & 1) != 0;
      const int block = 2 * number_ + 1 + times[candidate ? 1 : 0]++;
      if (counts_[i]) kept_.push_back({block, candidate});
    }
  }

  int number_;
  std::vector<std::size_t> places_;
  std::vector<bool> counts_;
  std::vector<PairPlace> kept_;
  std::vector<Pattern> patterns_;
};

/// Every way to take one pattern of each superblock that is accepted as a whole.
void combine(std::span<const Superblock> superblocks, std::uint32_t labels, int bit,
             std::span<const Imbalance> sums, std::vector<std::uint32_t>& deals) {
  if (superblocks.empty()) {
    if (std::ranges::all_of(sums, &Imbalance::is_accepted)) deals.push_back(labels);
    return;
  }
  const Superblock& next = superblocks.front();
  std::vector<Imbalance> with(sums.size());
  for (const Pattern& pattern : next.patterns()) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      with[i] = sums[i];
      with[i] += pattern.imbalances[i];
    }
    combine(superblocks.subspan(1), labels | pattern.labels << bit,
            bit + static_cast<int>(next.kept().size()), with, deals);
  }
}

void deal(std::uint32_t labels, std::size_t from, std::size_t values, int left,
          std::vector<std::uint32_t>& deals) {
  if (left == 0) {
    deals.push_back(labels);
    return;
  }
  for (std::size_t i = from; i + static_cast<std::size_t>(left) <= values; ++i)
    deal(labels | 1U << i, i + 1, values, left - 1, deals);
}

}  // namespace

PairDeals accepted_deals(const Segment& segment, std::size_t arms, std::size_t restricted_from,
                         const ArmPair& pair, const std::set<int>& blocks) {
  const std::vector<std::size_t> candidates = restricted_candidates(arms, restricted_from);
  std::vector<Superblock> superblocks;
  PairDeals result;
  int number = segment.first;
  for (const TrialOrder& order : segment.superblocks) {
    superblocks.emplace_back(order, number++, pair, blocks, candidates, restricted_from);
    const auto& kept = superblocks.back().kept();
    result.places.insert(result.places.end(), kept.begin(), kept.end());
  }
  const std::vector<Imbalance> none(candidates.size());
  combine(superblocks, 0, 0, none, result.deals);
  return result;
}

std::vector<LabelSwaps> swaps_within_superblocks(std::span<const PlacedValue> values) {
  std::map<int, LabelSwaps> by_number;
  for (std::size_t i = 0; i < values.size(); ++i)
    by_number[values[i].superblock].values.push_back(i);
  std::vector<LabelSwaps> swaps;
  for (auto& [number, superblock] : by_number) {
    const auto candidates = std::ranges::count_if(
        superblock.values, [&](std::size_t i) { return values[i].candidate; });
    deal(0, 0, superblock.values.size(), static_cast<int>(candidates), superblock.deals);
    swaps.push_back(std::move(superblock));
  }
  return swaps;
}

double count_of(std::span<const LabelSwaps> swaps) {
  double count = 1;
  for (const LabelSwaps& segment : swaps) count *= static_cast<double>(segment.deals.size());
  return count;
}

double smallest_p(std::span<const PairDeals> segments) {
  // The share of deals by how many of the candidate's places they leave to it.
  std::vector<double> share = {1};
  double mean = 0;
  double all = 0;
  for (const PairDeals& segment : segments) {
    std::uint32_t own = 0;
    for (std::size_t i = 0; i < segment.places.size(); ++i)
      if (segment.places[i].candidate) own |= 1U << i;
    const auto most = static_cast<std::size_t>(std::popcount(own));
    std::vector<double> next(share.size() + most, 0.0);
    const double each = 1.0 / static_cast<double>(segment.deals.size());
    for (const std::uint32_t labels : segment.deals) {
      const auto kept = static_cast<std::size_t>(std::popcount(labels & own));
      mean += each * static_cast<double>(kept);
      for (std::size_t k = 0; k < share.size(); ++k) next[k + kept] += each * share[k];
    }
    all += static_cast<double>(most);
    share = std::move(next);
  }
  double p = 0;
  for (std::size_t k = 0; k < share.size(); ++k)
    if (std::abs(static_cast<double>(k) - mean) >= all - mean - kSame) p += share[k];
  return std::min(1.0, p);
}

}  // namespace memduel
