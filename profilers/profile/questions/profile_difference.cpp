#include "profilers/profile/questions/profile_difference.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "profilers/profile/questions/named_side.h"

namespace memduel {
namespace {

double rank_of(const Estimate& amount, DifferenceKind kind) {
  return kind == DifferenceKind::allocations ? amount.count : amount.bytes;
}

/// The phase whose own difference is the largest in the direction of the whole.
std::string phase_of(const MatchedStack& stack, DifferenceKind kind) {
  std::map<std::string, double> by_phase;
  for (const auto& [phase, amount] : stack.candidate.by_phase)
    by_phase[phase] += rank_of(amount, kind);
  for (const auto& [phase, amount] : stack.baseline.by_phase)
    by_phase[phase] -= rank_of(amount, kind);
  const double whole = rank_of(stack.candidate.total, kind) - rank_of(stack.baseline.total, kind);
  const auto most = std::ranges::max_element(by_phase, [whole](const auto& a, const auto& b) {
    return whole < 0 ? a.second > b.second : a.second < b.second;
  });
  return most == by_phase.end() ? "" : most->first;
}

bool has_name(const NamedStack& stack, const FunctionNames& names) {
  return std::ranges::any_of(stack,
                             [&](std::uint32_t function) { return names.is_function(function); });
}

std::set<std::string> functions_of(const ProfileSide& side) {
  std::set<std::string> functions;
  for (const std::vector<Profile>& trial : side)
    for (const Profile& profile : trial) functions.merge(compiled_functions(profile));
  return functions;
}

/// Both sides have it, though a function of it under another version's name.
bool was_taken(const MatchedStack& stack, const FunctionNames& names) {
  return stack.in_baseline && stack.in_candidate &&
         std::ranges::any_of(stack.stack,
                             [&](std::uint32_t function) { return names.was_taken(function); });
}

/// By more than chance in the sampling explains.
bool differs(const StackDifference& row, DifferenceKind kind) {
  const bool sampled = row.half_width() > 0;
  const bool by_bytes = std::abs(row.bytes()) >= 0.5 && std::abs(row.bytes()) > row.half_width();
  if (kind != DifferenceKind::allocations) return by_bytes;
  return std::abs(row.blocks()) >= 0.5 && (by_bytes || !sampled);
}

}  // namespace

std::string to_string(DifferenceKind kind) {
  return std::string(to_name(kind));
}

double StackDifference::half_width() const {
  Estimate both;
  both.variance = baseline.variance + candidate.variance;
  return both.half_width();
}

ProfileDifference profile_difference(const ProfileSide& baseline, const ProfileSide& candidate,
                                     DifferenceKind kind, Heap heap) {
  FunctionNames names;
  const NamedSide a = named_side(baseline, kind, heap, names);
  names.take(renamed_functions(functions_of(baseline), functions_of(candidate)));
  const NamedSide b = named_side(candidate, kind, heap, names);
  ProfileDifference difference;
  difference.kind = kind;
  difference.heap = heap;
  difference.counted_baseline = counted_total(baseline, kind, heap);
  difference.counted_candidate = counted_total(candidate, kind, heap);
  double unmatched = 0;
  double guessed = 0;
  for (const MatchedStack& stack : match_stacks(a, b)) {
    StackDifference row;
    row.baseline = stack.baseline.total;
    row.candidate = stack.candidate.total;
    difference.baseline += row.baseline;
    difference.candidate += row.candidate;
    const bool one_sided = !stack.in_baseline || !stack.in_candidate;
    if ((one_sided && differs(row, kind)) || !has_name(stack.stack, names))
      unmatched += row.baseline.bytes + row.candidate.bytes;
    else if (stack.guessed || was_taken(stack, names))
      guessed += row.baseline.bytes + row.candidate.bytes;
    difference.moved += std::abs(rank_of(row.candidate, kind) - rank_of(row.baseline, kind));
    if (!differs(row, kind)) continue;
    for (const std::uint32_t function : stack.stack) row.stack.push_back(names.name(function));
    row.phase = phase_of(stack, kind);
    difference.stacks.push_back(std::move(row));
  }
  const double whole = difference.baseline.bytes + difference.candidate.bytes;
  if (whole > 0) difference.unmatched_share = unmatched / whole;
  if (whole > 0) difference.guessed_share = guessed / whole;
  std::ranges::stable_sort(
      difference.stacks, [kind](const StackDifference& x, const StackDifference& y) {
        const auto size = [kind](const StackDifference& row) {
          return std::abs(kind == DifferenceKind::allocations ? row.blocks() : row.bytes());
        };
        return size(x) > size(y);
      });
  return difference;
}

}  // namespace memduel
