// How many bytes a property of a tracer can be about, from the stacks of both profiles.
#pragma once

#include <functional>

#include "profilers/profile/agreement/agreement_reasons.h"

namespace memduel {

/// Half the width of a standard normal's 99.9 % interval.
inline constexpr double k999 = 3.290527;

/// Whether the stack begins in the dynamic loader: a library's constructor, before main.
bool is_while_loading(const Profile& profile, std::uint32_t stack);

/// Whether the function that asked for the block is libc's or libstdc++'s own.
bool is_in_pool(const Profile& profile, std::uint32_t stack);

/// Mean over the trials of what is in the stacks for which `belongs`.
Estimate amount_where(const TracerSide& side, DifferenceKind kind,
                      const std::function<bool(const Profile&, std::uint32_t)>& belongs);

/// Of what `stopped` has live, what `late` saw allocated in the same stacks and has not live
/// itself. What libraries' constructors allocated counts as one stack, because a sampler sees few
/// of theirs. None where `late` does not know what was allocated.
double freed_after_stop(const TracerSide& stopped, const TracerSide& late);

/// What `side` has more than `other` in stacks that lie in the tools' own libraries and in those
/// which these need, the loader and libc aside: a program that needs them, too, has it in both.
double brought_bytes(const TracerSide& side, const TracerSide& other, DifferenceKind kind);

}  // namespace memduel
