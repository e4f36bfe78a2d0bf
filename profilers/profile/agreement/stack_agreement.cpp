#include "profilers/profile/agreement/stack_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "profilers/profile/agreement/agreement_bounds.h"
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
  double blocks = 0;
  bool while_loading = false;
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
      top.blocks += amount.count / static_cast<double>(side.trials.size());
      top.while_loading = is_while_loading(profile, stack);
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

/// Why a stack that the reference has is not there, as far as a fact says so.
AgreementReason why_missing(const TopStack& stack, const TracerSide& other, double total,
                            DifferenceKind kind) {
  const TracerFacts& facts = other.facts;
  const double cut_off =
      kind == DifferenceKind::live ? facts.cut_off_live : facts.cut_off_allocated;
  if (stack.while_loading && !facts.sees_loading)
    return {"before_main", "allocated while libraries were loaded, which it does not see", {}, {}};
  if (stack.bytes < facts.threshold * total)
    return {"threshold",
            fmt::format("below its threshold of {:g} % of all bytes", 100 * facts.threshold),
            {},
            {}};
  if (cut_off > 0)
    return {"truncated",
            fmt::format("its dump is cut off: stacks of {} are not in it", format_bytes(cut_off)),
            {},
            {}};
  if (facts.interval_bytes) {
    const double mean = stack.blocks > 0 ? stack.bytes / stack.blocks : stack.bytes;
    const double per_block = -std::expm1(-mean / *facts.interval_bytes);
    const double none = std::exp(std::max(stack.blocks, 1.0) * std::log1p(-per_block));
    if (none > 0.001)
      return {"sampling",
              fmt::format("no sample of it, which happens in {:.1f} % of trials", 100 * none),
              {},
              {}};
  }
  if (kind == DifferenceKind::live && facts.frees_pools)
    return {"pools_at_exit", "libc and libstdc++ freed it at exit", {}, {}};
  return {"not_found", "no stack of it has these functions", {}, {}};
}

/// "2 of them below its threshold of 1 % of all bytes", one line per reason.
std::vector<AgreementReason> counted_reasons(const std::vector<AgreementReason>& each) {
  std::vector<AgreementReason> counted;
  std::map<std::string, int> times;
  for (const AgreementReason& reason : each) {
    if (times[reason.code]++ == 0) counted.push_back(reason);
  }
  for (AgreementReason& reason : counted)
    reason.text = fmt::format("{} not found: {}", times[reason.code], reason.text);
  return counted;
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
  double total = 0;
  for (const MatchedStack& row : matched) total += row.baseline.total.bytes;

  StackAgreement found;
  found.summary.kind = to_string(kind);
  std::vector<AgreementReason> missing;
  for (const TopStack& top : top_stacks(reference, kind, names, depth)) {
    ++found.summary.of;
    AgreementStack stack{found.summary.kind, {}, top.bytes, {}};
    for (const std::uint32_t function : top.whole) stack.stack.push_back(names.name(function));
    if (const auto row = rows.find(top.cut); row == rows.end()) {
      missing.push_back(why_missing(top, other, total, kind));
    } else {
      ++found.summary.found;
      if (has_same_bytes(*row->second)) ++found.summary.same;
      stack.cells.push_back(
          {other.tracer, row->second->candidate.total.bytes, row->second->baseline.total.bytes});
    }
    found.stacks.push_back(std::move(stack));
  }
  found.summary.reasons = counted_reasons(missing);
  return found;
}

}  // namespace memduel
