// Which module holds an address, asked without a lock.
#pragma once

#include <dlfcn.h>

#include "profilers/recorder/thread_state.h"

namespace memduel::recorder {

/// glibc's _dl_find_object, which is there since 2.35; before look_up_find_object(), and where
/// there is none, it finds nothing.
extern int (*find_object)(void* address, dl_find_object* found) MEMDUEL_HIDDEN;

/// Once, before the first stack is walked.
void look_up_find_object() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
