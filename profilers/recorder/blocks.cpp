#include "profilers/recorder/blocks.h"

#include "profilers/recorder/system.h"

namespace memduel::recorder {

std::uint8_t* filter = nullptr;

bool make_filter() {
  auto* made = static_cast<std::uint8_t*>(own_memory(kFilterBytes));
  if (made == nullptr) return false;
  made[0] = 1;
  filter = made;
  return true;
}

}  // namespace memduel::recorder
