#include "profilers/recorder/find_object.h"

namespace memduel::recorder {

namespace {

int find_nothing(void* /*address*/, dl_find_object* /*found*/) {
  return -1;
}

}  // namespace

int (*find_object)(void* address, dl_find_object* found) = find_nothing;

void look_up_find_object() {
  if (void* const found = dlsym(RTLD_DEFAULT, "_dl_find_object"); found != nullptr)
    find_object = reinterpret_cast<decltype(find_object)>(found);
}

}  // namespace memduel::recorder
