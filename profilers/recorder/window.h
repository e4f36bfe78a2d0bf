// A stretch of the program that the program itself asks for (memduel/heap_window.h): a round.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memduel/heap_window.h"
#include "thread_state.h"

namespace memduel::recorder {

/// Its round has begun, on the calling thread. Unless `caller` is 0, the stack address just above
/// the frame that asked for it, counting waits for what the function there calls back.
void begin_window(std::uintptr_t caller) MEMDUEL_HIDDEN;
/// Before the round ends.
void end_window(memduel_heap_window& window) MEMDUEL_HIDDEN;

/// The thread whose window waits; 0: none.
extern std::uint32_t waiting_thread MEMDUEL_HIDDEN;
/// On that thread's slow path, of an allocation that is published: counts from it on, if it was
/// called back, else visits the next.
void look_for_callback(std::size_t requested, std::int64_t bytes) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
