// A profile written out: as text (totals, top stacks, sizes, temporary share, rounds, retention),
// as pprof's protobuf and folded stacks for other viewers, and as the data of the flame graph page.
// PprofProfile and the following have the fields of
// https://github.com/google/pprof/blob/main/proto/profile.proto, for export_pprof() and for the
// reader of such files.
//
// flame_data() is one tree of frames for one profile or two, in columns: a LEB128 number, that many
// bytes of JSON, and then LEB128 numbers to the end. JSON, schema "memduel.flame/1": `profiles`
// (name, facts, notes, counters; `unit` of the amounts, whether blocks are `counted`; `moments`,
// each a pair of milliseconds and bytes), `phases`, `frames` (`names`, `shorts` where people say
// another, `places`, `kinds`, `everybodys`: see is_everybodys()), `warnings` (of a comparison),
// `views` (kind, heap; `round` of a peak, `born` and `end` of a retention cell; `totals` per
// profile), `first` (index of a view), `nodes`. Numbers: per node in preorder how many levels to
// climb from the node before and its frame; then per profile the count of its sites and for each
// its node (difference, zigzag), round, phase, thread (0: not known); then per view and profile the
// count of its amounts and for each its site (difference, from -1), bytes, blocks and the standard
// deviation of the bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace memduel {

struct SummaryOptions {
  std::size_t stacks = 10;
  std::size_t frames = 8;   ///< per stack, from the one that tells most outwards
  bool all_frames = false;  ///< also what every program has, innermost first
};

/// One profile of several, in a line.
struct ProfileLine {
  std::string name;  ///< of its file
  std::optional<double> peak_bytes;
  /// Of heap and mappings; of a profile of an earlier version the sum of their peaks.
  std::optional<double> together_peak_bytes;
  std::optional<double> live_bytes;
  std::optional<double> allocated_bytes;
  std::optional<double> allocations;
  std::string top;  ///< the function that most was for
};

/// Block bytes where the profile has exact counters, else what its samples or stacks say.
ProfileLine profile_line(const std::string& name, const Profile& profile);

/// Several profiles side by side, the largest first, by peak heap and mappings.
std::string profile_table(std::vector<ProfileLine> lines);

/// Ends with a newline. Amounts of a sampled profile carry their 95% interval.
std::string summarize(const Profile& profile, const SummaryOptions& options = {});

/// google/pprof's protobuf, gzipped: allocated, live, peak and temporary blocks and bytes, already
/// unbiased; rounds and phases are the labels `round` and `phase` (`pprof -tagroot=round,phase`).
std::string export_pprof(const Profile& profile);

/// One line per stack, outermost frame first, `;` between frames, then its bytes: Brendan Gregg's
/// folded stacks.
std::string export_folded(const Profile& profile, ProfileKind kind);

/// The kind that was asked for, else the first of peak, live, allocated that the profile has.
/// Throws Error(io) when it has none of the kind: naming `file`, with what was noted when it was
/// read.
ProfileKind choose_kind(const Profile& profile, std::optional<ProfileKind> wanted,
                        const std::string& file = {});

struct PprofProfile {
  enum Field : unsigned {
    sample_type = 1,
    sample = 2,
    mapping = 3,
    location = 4,
    function = 5,
    string_table = 6,
    period_type = 11,
    period = 12,
    comment = 13,
    default_sample_type = 14,
  };
};

struct PprofValueType {
  enum Field : unsigned { type = 1, unit = 2 };
};

struct PprofSample {
  enum Field : unsigned { location_id = 1, value = 2, label = 3 };
};

struct PprofLabel {
  enum Field : unsigned { key = 1, str = 2 };
};

struct PprofMapping {
  enum Field : unsigned {
    id = 1,
    memory_start = 2,
    memory_limit = 3,
    file_offset = 4,
    filename = 5,
    build_id = 6,
    has_functions = 7,
    has_filenames = 8,
    has_line_numbers = 9,
    has_inline_frames = 10,
  };
};

struct PprofLocation {
  enum Field : unsigned { id = 1, mapping_id = 2, address = 3, line = 4 };
};

struct PprofLine {
  enum Field : unsigned { function_id = 1, line = 2 };
};

struct PprofFunction {
  enum Field : unsigned { id = 1, name = 2, system_name = 3, filename = 4 };
};

/// The types of values of a heap profile, each followed by _objects and _space.
inline constexpr const char* kPprofAllocated = "alloc";
inline constexpr const char* kPprofLive = "inuse";
inline constexpr const char* kPprofPeak = "peak";
inline constexpr const char* kPprofTemporary = "temporary";
inline constexpr const char* kPprofResident = "resident";  ///< where there is a snapshot

struct FlameDataOptions {
  std::vector<std::string> names;         ///< of the profiles, for people
  ProfileKind first = ProfileKind::peak;  ///< the view that opens
  std::size_t rounds = 10;                ///< the last ones, whose peaks and retention are kept
};

/// `other` is null, or the profile that is compared with `profile`: Error(usage) when they have
/// nothing in common, see comparability_of(). Amounts are rounded to bytes. Moments have views of
/// their own where they have stacks and there is no other profile, in which they would have no
/// match.
std::string flame_data(const Profile& profile, const Profile* other,
                       const FlameDataOptions& options);

}  // namespace memduel
