// Bytes of the trace: the running events block and the file behind it. Under the trace's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profilers/recorder/thread_state.h"
#include "profilers/recorder/trace_format.h"

namespace memduel::recorder {

/// Creates the file with its header and info block.
bool open_trace_file() MEMDUEL_HIDDEN;
/// In a forked child: the parent's bytes are the parent's to write.
void drop_trace_file() MEMDUEL_HIDDEN;

/// Starts an event of at most `most_bytes` bytes; finishes the running block first where it is too
/// full, which starts the address difference anew.
void begin_event(Event event, std::size_t most_bytes) MEMDUEL_HIDDEN;
void put_number(std::uint64_t value) MEMDUEL_HIDDEN;
void put_signed(std::int64_t value) MEMDUEL_HIDDEN;
void put_address(const void* address) MEMDUEL_HIDDEN;
void put_text(const char* text, std::size_t bytes) MEMDUEL_HIDDEN;

/// Writes the running block, if there is anything in it.
void finish_block() MEMDUEL_HIDDEN;

/// The longest text of an event; longer ones are cut.
inline constexpr std::size_t kMostText = 4096;

}  // namespace memduel::recorder
