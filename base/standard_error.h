// What memduel says beside its results. Nothing that is said there may end a run.
#pragma once

#include <string_view>

namespace memduel {

/// Writes `text` to standard error. A full device, a closed descriptor or a terminal that went away
/// is no reason to stop: what cannot be written is lost.
void say(std::string_view text) noexcept;

}  // namespace memduel
