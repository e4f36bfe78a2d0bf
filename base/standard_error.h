// What memduel says beside its results. Nothing that is said there may end a run.
#pragma once

#include <string_view>

namespace memduel {

/// Writes `text` to standard error. A full device, a closed descriptor or a terminal that went away
/// is no reason to stop: what cannot be written is lost.
void say(std::string_view text) noexcept;

/// Opens /dev/null in place of each of the descriptors 0 to 2 that is closed, so that no file of a
/// run becomes one of them, and lets writing to a pipe that nobody reads fail in place of killing
/// this process. Processes that are started later are not affected.
void guard_standard_descriptors() noexcept;

}  // namespace memduel
