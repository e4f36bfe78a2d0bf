// Which pages of the process are the recorder's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profilers/recorder/thread_state.h"

namespace memduel::recorder {

/// Calls `visit(address, bytes)` for each range that own_memory gave and that is not released, as
/// far as there was room to note it.
void visit_own_ranges(void (*visit)(std::uintptr_t at, std::size_t bytes)) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
