// What two sides' profiles differ in, stack by stack, whether or not both sides are one build.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

/// The question asked of both sides.
enum class DifferenceKind {
  peak,
  live,
  retained,     ///< live at the end of the last round that ended, born in a round
  allocated,    ///< ranked by bytes
  allocations,  ///< ranked by blocks
  resident      ///< owners of resident pages at a snapshot, whose names begin the stacks
};
template <>
inline constexpr NameTable<DifferenceKind, 6> kNameTable<DifferenceKind> = {
    {{DifferenceKind::peak, "peak"},
     {DifferenceKind::live, "live"},
     {DifferenceKind::retained, "retained"},
     {DifferenceKind::allocated, "allocated"},
     {DifferenceKind::allocations, "allocations"},
     {DifferenceKind::resident, "resident"}}};

std::string to_string(DifferenceKind kind);

struct StackDifference {
  std::vector<std::string> stack;  ///< functions, outermost first; see StackNames
  std::string phase;               ///< where most of it was born; empty: in none
  Estimate baseline;
  Estimate candidate;

  [[nodiscard]] double bytes() const { return candidate.bytes - baseline.bytes; }
  [[nodiscard]] double blocks() const { return candidate.count - baseline.count; }
  /// Half the width of the 95 % interval of bytes().
  [[nodiscard]] double half_width() const;
};

struct ProfileDifference {
  DifferenceKind kind = DifferenceKind::peak;
  Heap heap = Heap::malloc;
  Estimate baseline;
  Estimate candidate;
  /// Of a sampled side, what the exact counters beside its samples say in their place.
  std::optional<double> counted_baseline;
  std::optional<double> counted_candidate;
  /// Bytes of both sides in stacks that only one side has, by more than chance in the sampling, or
  /// of which no frame has a name, over all bytes of both sides.
  double unmatched_share = 0;
  /// Bytes of both sides in stacks that were taken for one without being equal, likewise.
  double guessed_share = 0;
  /// Sum over all stacks of the size of their difference, in what the kind is ranked by.
  double moved = 0;
  /// Stacks that differ by more than their 95 % interval; largest difference first.
  std::vector<StackDifference> stacks;
};

/// The profiles of one side: outer: its trials, over which the mean is taken; inner: the process
/// images of a trial. Of several images of one program the largest counts for peak, live and
/// retained, which say nothing about images that did not live at once; allocations add up. Of
/// resident memory the snapshots of processes that ran at once add up (snapshots_at_once), each
/// page counted once.
using ProfileSide = std::vector<std::vector<Profile>>;

/// Stacks are matched by their functions. What is left is matched again without the functions that
/// only one side's names know, and where one stack is the other with up to three functions between
/// its frames: calls that one build has inlined.
ProfileDifference profile_difference(const ProfileSide& baseline, const ProfileSide& candidate,
                                     DifferenceKind kind, Heap heap);

}  // namespace memduel
