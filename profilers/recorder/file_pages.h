// How much of the process's resident memory are pages of mapped files, before they go: a reader
// outside sees them only when it samples, and the kernel keeps no peak of them.
#pragma once

#include <cstddef>

#include "thread_state.h"

namespace memduel::recorder {

/// Before `length` bytes are unmapped that are none of the program's anonymous mappings.
void look_at_files_before_unmapping(std::size_t length) MEMDUEL_HIDDEN;
/// At the end of the image.
void look_at_last_files() MEMDUEL_HIDDEN;
/// In a forked child, whose parent may have been at it.
void restart_file_looks() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
