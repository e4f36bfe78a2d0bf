#include "profilers/profile/questions/stack_matching.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace memduel {
namespace {

/// A call that one build has inlined hides so many frames; more is another call path.
constexpr std::size_t kMostHiddenFrames = 3;
/// Looking for inlined calls compares every remaining stack with every other; small ones are left.
constexpr std::size_t kMostCompared = 500;

/// Stacks of both sides that look the same without the functions that only one side knows.
struct Leftover {
  MatchedStack matched;
  double largest = -1;   ///< bytes of the stack that gave `matched.stack`
  bool has_own = false;  ///< there were such functions
};

/// Keyed by the stack without those functions.
using Leftovers = std::map<NamedStack, Leftover>;

bool knows(const std::vector<std::uint32_t>& common, std::uint32_t function) {
  return std::ranges::binary_search(common, function);
}

NamedStack known_to_both(const NamedStack& stack, const std::vector<std::uint32_t>& common) {
  NamedStack kept;
  for (const std::uint32_t function : stack) {
    if (knows(common, function) && (kept.empty() || kept.back() != function))
      kept.push_back(function);
  }
  return kept;
}

void add(Leftover& into, const NamedStack& stack, const StackAmount& amount, bool baseline) {
  (baseline ? into.matched.baseline : into.matched.candidate) += amount;
  (baseline ? into.matched.in_baseline : into.matched.in_candidate) = true;
  if (baseline) into.matched.of_baseline.push_back(stack);
  if (amount.total.bytes <= into.largest) return;
  into.largest = amount.total.bytes;
  into.matched.stack = stack;
}

bool is_within(const NamedStack& shorter, const NamedStack& longer) {
  auto at = shorter.begin();
  for (const std::uint32_t function : longer)
    if (at != shorter.end() && *at == function) ++at;
  return at == shorter.end();
}

/// How many frames one has more than the other, where it is the other with frames in between.
std::optional<std::size_t> hidden_frames(const NamedStack& a, const NamedStack& b) {
  const NamedStack& shorter = a.size() < b.size() ? a : b;
  const NamedStack& longer = a.size() < b.size() ? b : a;
  const std::size_t hidden = longer.size() - shorter.size();
  const bool possible = hidden <= kMostHiddenFrames && hidden <= shorter.size();
  return possible && is_within(shorter, longer) ? std::optional(hidden) : std::nullopt;
}

bool only_in_baseline(const MatchedStack& stack) {
  return stack.in_baseline && !stack.in_candidate;
}

bool only_in_candidate(const MatchedStack& stack) {
  return stack.in_candidate && !stack.in_baseline;
}

double bytes_of(const MatchedStack& stack) {
  return stack.baseline.total.bytes + stack.candidate.total.bytes;
}

/// The largest stacks of one side alone, largest first.
template <class Belongs>
std::vector<Leftovers::iterator> alone(Leftovers& leftovers, Belongs belongs) {
  std::vector<Leftovers::iterator> found;
  for (auto at = leftovers.begin(); at != leftovers.end(); ++at)
    if (belongs(at->second.matched)) found.push_back(at);
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    return bytes_of(a->second.matched) > bytes_of(b->second.matched);
  });
  if (found.size() > kMostCompared) found.resize(kMostCompared);
  return found;
}

void unite(Leftover& into, Leftover& from) {
  const bool longer = from.matched.stack.size() > into.matched.stack.size();
  if (longer) into.matched.stack = from.matched.stack;
  into.matched.baseline += from.matched.baseline;
  into.matched.candidate += from.matched.candidate;
  into.matched.in_baseline = into.matched.in_candidate = true;
  into.matched.of_baseline.insert(into.matched.of_baseline.end(), from.matched.of_baseline.begin(),
                                  from.matched.of_baseline.end());
}

/// Joins pairs that differ by inlined calls, the largest first, each with the one that differs
/// least.
void join_inlined(Leftovers& leftovers) {
  const auto of_candidate = alone(leftovers, only_in_candidate);
  for (const auto& mine : alone(leftovers, only_in_baseline)) {
    std::optional<std::size_t> least;
    Leftovers::iterator best;
    for (const auto& other : of_candidate) {
      if (!only_in_candidate(other->second.matched)) continue;  // joined already
      // A function of its own stands where the other's frames would be hidden: another call.
      const auto& shorter = mine->first.size() < other->first.size() ? mine : other;
      if (shorter->second.has_own) continue;
      const auto hidden = hidden_frames(mine->first, other->first);
      if (!hidden || (least && *hidden >= *least)) continue;
      least = hidden;
      best = other;
    }
    if (!least) continue;
    unite(best->second, mine->second);
    leftovers.erase(mine);
  }
}

}  // namespace

StackAmount& StackAmount::operator+=(const StackAmount& other) {
  total += other.total;
  for (const auto& [phase, amount] : other.by_phase) by_phase[phase] += amount;
  return *this;
}

std::vector<MatchedStack> match_stacks(const NamedSide& baseline, const NamedSide& candidate) {
  std::vector<std::uint32_t> common;
  std::set_intersection(baseline.functions.begin(), baseline.functions.end(),
                        candidate.functions.begin(), candidate.functions.end(),
                        std::back_inserter(common));
  std::vector<MatchedStack> matched;
  Leftovers leftovers;
  const auto leave = [&](const NamedStack& stack, const StackAmount& amount, bool of_baseline) {
    const NamedStack key = known_to_both(stack, common);
    Leftover alone;  // nothing in it is known to the other side
    Leftover& into = key.empty() ? alone : leftovers[key];
    into.has_own = into.has_own || !std::ranges::all_of(stack, [&](auto function) {
                     return knows(common, function);
                   });
    add(into, stack, amount, of_baseline);
    if (key.empty()) matched.push_back(std::move(alone.matched));
  };
  for (const auto& [stack, amount] : baseline.amounts) {
    const auto other = candidate.amounts.find(stack);
    if (other == candidate.amounts.end())
      leave(stack, amount, true);
    else
      matched.push_back({stack, amount, other->second, true, true, false, {stack}});
  }
  for (const auto& [stack, amount] : candidate.amounts)
    if (!baseline.amounts.contains(stack)) leave(stack, amount, false);
  join_inlined(leftovers);
  for (auto& [key, leftover] : leftovers) {
    leftover.matched.guessed = leftover.matched.in_baseline && leftover.matched.in_candidate;
    matched.push_back(std::move(leftover.matched));
  }
  return matched;
}

}  // namespace memduel
