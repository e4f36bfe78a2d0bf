// Stacks as nodes of a tree that grows from the outermost frame inwards; the same stack is the same
// node. All functions under the trace's lock.
#pragma once

#include <cstdint>

#include "thread_state.h"

namespace memduel::recorder {

/// A frame as one word: a native address, or a Python frame (code number and line).
using FrameWord = std::uint64_t;
inline constexpr FrameWord kPythonFrame = FrameWord{1} << 63;

inline FrameWord python_frame(std::uint32_t code, std::uint32_t line) {
  return kPythonFrame | (FrameWord{code} << 24) | (line & 0xffffff);
}

inline std::uint64_t code_of(FrameWord python) {
  return (python & ~kPythonFrame) >> 24;
}
inline std::uint64_t line_of(FrameWord python) {
  return python & 0xffffff;
}

/// Finds the child of `parent` for `frame`, or makes it and says so. 0: no memory.
std::uint32_t find_or_make_node(std::uint32_t parent, FrameWord frame, bool& made) MEMDUEL_HIDDEN;

/// The number of a node in the trace. Where it is not there yet `tell` writes its event, after
/// those of its parents, each with the number of its own parent.
std::uint32_t told_number(std::uint32_t node,
                          void (*tell)(std::uint32_t parent, FrameWord frame)) MEMDUEL_HIDDEN;
/// The number of the next node that is told: readers see by it that a block is missing.
std::uint32_t next_untold_node() MEMDUEL_HIDDEN;

/// Frames mean something else from now on: no node is found any more, numbers go on.
void forget_nodes() MEMDUEL_HIDDEN;
/// Whether nodes take as much memory as they may: some 6 MiB with the table that finds them.
bool has_most_nodes() MEMDUEL_HIDDEN;
/// Forgets them, where nothing refers to a node any more. Their numbers in the trace go on.
void discard_nodes() MEMDUEL_HIDDEN;
/// In a forked child: numbers start again.
void restart_nodes() MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
