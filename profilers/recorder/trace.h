// The trace of sampled and exact mode: events in one order for all threads, written in blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stacks/unwind.h"
#include "thread_state.h"

namespace memduel::recorder {

/// Creates `<image>.mdp`. False: it cannot be written.
bool open_trace() MEMDUEL_HIDDEN;
/// In a forked child: forgets the parent's lock, file and buffers and, where it traces, starts a
/// file of its own.
bool reopen_trace_after_fork() MEMDUEL_HIDDEN;
/// In a forked child that is not recorded: its parent's file is not its own.
void stop_trace_in_child() MEMDUEL_HIDDEN;
bool is_tracing() MEMDUEL_HIDDEN;

/// Sampled mode: with the stack of the calling function. `interval` is the mean of the draw that
/// the block used up.
void trace_sample(void* block, std::size_t requested, std::int64_t bytes,
                  std::uint64_t interval) MEMDUEL_HIDDEN;
/// Exact mode: with the stack of `caller`.
void trace_birth(const void* block, std::size_t requested, std::int64_t bytes,
                 const Registers& caller) MEMDUEL_HIDDEN;
/// Of a block that may be traced; false: it is not.
bool trace_free(void* block) MEMDUEL_HIDDEN;
/// The block that trace_free just took out is back.
void trace_revival(void* block) MEMDUEL_HIDDEN;
void trace_mapping(void* at, std::size_t bytes) MEMDUEL_HIDDEN;
void trace_unmapping(void* at, std::size_t bytes) MEMDUEL_HIDDEN;
/// Of `bytes` at `at`, which are mapped, `touched` are in memory.
void trace_touched(std::uintptr_t at, std::size_t bytes, std::size_t touched) MEMDUEL_HIDDEN;
/// Also finishes the running block, so that a killed process leaves all finished phases.
void trace_mark(int kind, int round, const char* phase) MEMDUEL_HIDDEN;
void trace_thread_phase(const char* phase) MEMDUEL_HIDDEN;
/// A library was closed: addresses may mean something else from now on.
void trace_unload() MEMDUEL_HIDDEN;
/// Takes a snapshot at this place among the events (resident_pages.h). Threads that allocate wait.
/// False: it cannot be taken.
bool trace_snapshot() MEMDUEL_HIDDEN;
/// A fact about the process, for Profile::info.
void trace_info(const char* key, std::uint64_t value) MEMDUEL_HIDDEN;
/// Writes what is buffered.
void flush_trace() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
