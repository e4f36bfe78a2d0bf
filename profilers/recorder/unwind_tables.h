// The unwind tables of loaded modules as pages of the program under test.
#pragma once

#include <dlfcn.h>

#include "profilers/recorder/thread_state.h"

namespace memduel::recorder {

/// Says that the tables of `module` were read. Now and then unmaps them: they are pages of its
/// file, come back when they are touched, and would otherwise stay resident, ten MiB for a library
/// of a hundred. Tables that somebody may have written to are left alone. Any thread, no lock.
void tables_were_read(const dl_find_object& module) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
