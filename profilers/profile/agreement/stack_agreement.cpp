#include "profilers/profile/agreement/stack_agreement.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "profilers/profile/questions/named_side.h"

namespace memduel {
namespace {

constexpr std::size_t kTopStacks = 10;
constexpr double kSameStackShare = 0.01;

/// A stack of the reference: whole, and as far as the other tracer keeps it.
struct TopStack {
  NamedStack whole;
  NamedStack cut;
  double bytes = 0;
};

/// The ten largest, and how far each is seen within `depth` frames.
std::vector<TopStack> top_stacks(const TracerSide& side, DifferenceKind kind, FunctionNames& names,
                                 std::size_t depth) {
  std::map<NamedStack, TopStack> by_stack;
  for (const std::vector<Profile>& trial : side.trials) {
    const Profile& profile = trial.front();
    const StackNames stacks(profile, names);
    for (const auto& [number, amount] : sites_for(profile, kind, Heap::malloc)) {
      const std::uint32_t stack = profile.sites[number].stack;
      TopStack& top = by_stack[stacks.of(stack)];
      top.cut = stacks.of(stack, depth);
      top.bytes += amount.bytes / static_cast<double>(side.trials.size());
    }
  }
  std::vector<TopStack> largest;
  for (auto& [whole, top] : by_stack) {
    top.whole = whole;
    largest.push_back(std::move(top));
  }
  std::ranges::stable_sort(largest,
                           [](const TopStack& a, const TopStack& b) { return a.bytes > b.bytes; });
  if (largest.size() > kTopStacks) largest.resize(kTopStacks);
  return largest;
}

bool has_same_bytes(const MatchedStack& row) {
  const double difference = row.candidate.total.bytes - row.baseline.total.bytes;
  const double one = row.candidate.total.half_width();
  const double other = row.baseline.total.half_width();
  const double chance = std::sqrt(one * one + other * other);
  return std::abs(difference) <= std::max(kSameStackShare * row.baseline.total.bytes, chance);
}

/// The rows that the other side has, by the reference's stacks in them.
using RowOfStack = std::map<NamedStack, const MatchedStack*>;

RowOfStack rows_of_both(const std::vector<MatchedStack>& matched) {
  RowOfStack rows;
  for (const MatchedStack& row : matched) {
    if (!row.in_candidate) continue;
    for (const NamedStack& stack : row.of_baseline) rows[stack] = &row;
  }
  return rows;
}

}  // namespace

StackAgreement stack_agreement(const TracerSide& reference, const TracerSide& other,
                               DifferenceKind kind) {
  FunctionNames names(Nameless::library);
  const std::size_t depth = other.facts.most_frames.value_or(kWholeStack);
  const std::vector<MatchedStack> matched =
      match_stacks(named_side(reference.trials, kind, Heap::malloc, names, depth),
                   named_side(other.trials, kind, Heap::malloc, names,
                              reference.facts.most_frames.value_or(kWholeStack)));
  const RowOfStack rows = rows_of_both(matched);

  StackAgreement found;
  found.summary.kind = to_string(kind);
  for (const TopStack& top : top_stacks(reference, kind, names, depth)) {
    ++found.summary.of;
    AgreementStack stack{found.summary.kind, {}, top.bytes, {}};
    for (const std::uint32_t function : top.whole) stack.stack.push_back(names.name(function));
    if (const auto row = rows.find(top.cut); row != rows.end()) {
      ++found.summary.found;
      if (has_same_bytes(*row->second)) ++found.summary.same;
      stack.cells.push_back(
          {other.tracer, row->second->candidate.total.bytes, row->second->baseline.total.bytes});
    }
    found.stacks.push_back(std::move(stack));
  }
  return found;
}

}  // namespace memduel
