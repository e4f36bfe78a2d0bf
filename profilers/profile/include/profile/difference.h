// What profiles say in a comparison: what the amounts of a tracer mean, by its format and by what
// the profile says of itself, what two profiles can be compared by, what two sides differ in, stack
// by stack, whether or not both sides are one build, the snapshots of processes that ran at once
// with what several of them map counted once, and live bytes by stack at the ends of rounds.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/run_data.h"
#include "profile/profile.h"

namespace memduel {

inline constexpr const char* kBytesOfClasses = "bytes of size classes";

/// The frame that stands for the stacks for which a dump had no room.
inline constexpr const char* kCutOffFrame = "[cut off]";

struct TracerFacts : ToolFacts {
  std::optional<double> interval_bytes;  ///< between samples
  bool denser_at_first = false;          ///< ... but between the first ones less
  bool known_tool = true;  ///< else what it has is taken from the amounts that are there
};

/// Facts of a profile that read_profile gave.
TracerFacts facts_of(const Profile& profile);

/// "requested bytes of every allocation", "bytes of size classes, one sample per 512 KiB".
std::string counting_of(const TracerFacts& facts);

struct Comparability {
  bool one_tool = true;
  std::vector<ProfileKind> kinds;  ///< that both know, in the order of ProfileKind
  std::string warning;  ///< for people; empty where one tool made both and both have all they can
};

/// `names` are the two files', for people. Throws Error(usage) when the profiles have no amount in
/// common: another unit, or other questions.
Comparability comparability_of(const Profile& a, const Profile& b,
                               const std::vector<std::string>& names);

/// Directories that locations in the source are shown relative to, absolute. Of a file below
/// several the first counts; one that is below none is shown by its name alone.
using SourceRoots = std::vector<std::filesystem::path>;

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
  /// "src/state.cpp:88": of frame_with_location() the line whose memory changed most, in the side
  /// that has more; empty: unknown.
  std::string location;
  Estimate baseline;
  Estimate candidate;

  [[nodiscard]] double bytes() const { return candidate.bytes - baseline.bytes; }
  [[nodiscard]] double blocks() const { return candidate.count - baseline.count; }
  /// Half the width of the 95% interval of bytes().
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
  /// Stacks that differ by more than their 95% interval; largest difference first.
  std::vector<StackDifference> stacks;
};

/// The profiles of one side: outer: its trials, over which the mean is taken; inner: the process
/// images of a trial. Of several images of one program the largest counts for peak, live and
/// retained, which say nothing about images that did not live at once; allocations add up. Of
/// resident memory the snapshots of processes that ran at once add up (snapshots_at_once), each
/// page counted once.
using ProfileSide = std::vector<std::vector<Profile>>;

/// Two sides whose stacks are named once, for all questions about them.
///
/// Stacks are matched by their functions. What is left is matched again without the functions that
/// only one side's names know, and where one stack is the other with up to three functions between
/// its frames: calls that one build has inlined.
class ComparedSides {
 public:
  /// Both must outlive this.
  ComparedSides(const ProfileSide& baseline, const ProfileSide& candidate);
  ComparedSides(ComparedSides&&) noexcept;
  ComparedSides& operator=(ComparedSides&&) noexcept;
  ~ComparedSides();

  /// Several threads may ask at once.
  [[nodiscard]] ProfileDifference difference(DifferenceKind kind, Heap heap,
                                             const SourceRoots& roots = {}) const;

 private:
  struct Names;
  const ProfileSide* baseline_;
  const ProfileSide* candidate_;
  std::unique_ptr<const Names> names_;
};

/// Of one question.
ProfileDifference profile_difference(const ProfileSide& baseline, const ProfileSide& candidate,
                                     DifferenceKind kind, Heap heap, const SourceRoots& roots = {});

/// Of all trials of a side the process images with snapshots that ran at one time and have most
/// memory together, in the order of their start. Each snapshot is of its own process's peak. An
/// image of which nothing says when it ran counts by itself. Empty without snapshots.
std::vector<const Profile*> snapshots_at_once(const ProfileSide& side);

/// By process, the parts of its snapshot that no process before it has counted. What a forked
/// process shares is its parent's; where the parent is not among the processes, that of the sibling
/// with most of it. The pages of a file are those of the process with most of them.
std::vector<std::vector<ResidentPart>> parts_counted_once(
    const std::vector<const Profile*>& processes);

/// The same by stacks.
std::vector<LiveSites> sites_counted_once(const std::vector<const Profile*>& processes);

/// Stacks are told apart by their functions. Empty without rounds.
LiveAtRoundEnds live_at_round_ends(const Profile& profile, const SourceRoots& roots = {});

}  // namespace memduel
