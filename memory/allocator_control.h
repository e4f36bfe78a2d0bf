// What each allocator can be asked to give back.
#pragma once

#include "memduel/memory.h"

namespace memduel {

struct HeapOutcome {
  HeapAction action = HeapAction::none;
  std::optional<int> trim_result;
  std::string note;  ///< why not all was done that was asked for; else empty
};

HeapOutcome clean_heap_up(HeapCleanup how);

}  // namespace memduel
