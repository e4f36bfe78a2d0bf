// Which library an address belongs to, told to the trace when its first frame appears.
#pragma once

#include <cstdint>

#include "thread_state.h"

namespace memduel::recorder {

/// Writes a module event where `ip` lies in a library that the trace has not heard of.
void tell_module_of(std::uintptr_t ip) MEMDUEL_HIDDEN;

/// A library was closed, or the trace starts anew: tell all again.
void forget_modules() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
