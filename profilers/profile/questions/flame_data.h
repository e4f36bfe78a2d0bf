// What the flame graph page draws from: one tree of frames for one profile or two, in columns.
//
// The bytes are a LEB128 number, that many bytes of JSON, and then LEB128 numbers to the end.
// JSON, schema "memduel.flame/1": `profiles` (name, facts, notes, counters; `unit` of the amounts,
// whether blocks are `counted`; `moments`, each a pair of milliseconds and bytes), `phases`,
// `frames` (`names`, `shorts` where people say another, `places`, `kinds`, `everybodys`: see
// own_code.h), `warnings` (of a comparison), `views` (kind, heap; `round`
// of a peak, `born` and `end` of a retention cell; `totals` per
// profile), `first` (index of a view), `nodes`. Numbers: per node in preorder how many levels to
// climb from the node before and its frame; then per profile the count of its sites and for each
// its node (difference, zigzag), round, phase, thread (0: not known); then per view and profile the
// count of its amounts and for each its site (difference, from -1), bytes, blocks and the standard
// deviation of the bytes.
#pragma once

#include <string>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

struct FlameDataOptions {
  std::vector<std::string> names;         ///< of the profiles, for people
  ProfileKind first = ProfileKind::peak;  ///< the view that opens
  std::size_t rounds = 10;                ///< the last ones, whose peaks and retention are kept
};

/// `other` is null, or the profile that is compared with `profile`: Error(usage) when they have
/// nothing in common, see comparability.h. Amounts are rounded to bytes. Moments have views of
/// their own where they have stacks and there is no other profile, in which they would have no
/// match.
std::string flame_data(const Profile& profile, const Profile* other,
                       const FlameDataOptions& options);

}  // namespace memduel
