// A function of whatever library the process has loaded; nothing is linked.
#pragma once

#include <dlfcn.h>

namespace memduel {

/// nullptr when nothing that is loaded has it.
template <class Function>
Function loaded_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace memduel
