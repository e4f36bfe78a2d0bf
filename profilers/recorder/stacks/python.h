// The Python functions of the calling thread, and one stack of them and the native frames. Since
// CPython 3.11 nested Python calls share one native frame, so that no native stack tells them
// apart. The interpreter's own chain of frames does: only its own thread changes it, so that it is
// walked without the interpreter's lock, also where numpy or torch have released it. CPython 3.10
// to 3.14 as the program or a library it was started with; elsewhere stacks have native frames
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stacks.h"
#include "thread_state.h"
#include "unwind.h"

namespace memduel::recorder {

struct PythonFrame {
  const char* code;       ///< the code object
  std::uint64_t content;  ///< hash of its names: objects die and their addresses return
  std::uint32_t line;     ///< 0: unknown
};

/// Python frames that share one native frame, innermost first.
struct PythonRun {
  std::uintptr_t at;  ///< an address inside that native frame
  int first;
  int count;
};

struct PythonStack {
  static constexpr int kMostFrames = 1024;
  static constexpr int kMostRuns = 256;
  PythonFrame frames[kMostFrames];
  PythonRun runs[kMostRuns];
  int frame_count;
  int run_count;
};

/// What the interpreter's memory holds there.
template <class Value>
MEMDUEL_HIDDEN inline Value load(const char* at, std::size_t offset) {
  Value value;
  memcpy(&value, at + offset, sizeof value);
  return value;
}

/// Looks for an interpreter whose frames can be read. Before the first walk.
void find_python() MEMDUEL_HIDDEN;

/// Fills `stack` with the calling thread's frames, innermost first. Reads only.
void walk_python(PythonStack& stack) MEMDUEL_HIDDEN;

/// Hash of the code object's qualified name, file and first line.
std::uint64_t python_content(const char* code) MEMDUEL_HIDDEN;

/// The line that `offset` bytes into the code of a code object belong to; 0: unknown. `content` is
/// its hash.
std::uint32_t python_line(const char* code, std::uint64_t content,
                          std::ptrdiff_t offset) MEMDUEL_HIDDEN;

/// The frame as a word of a stack; tells the trace of a code object that it has not heard of. Under
/// the trace's lock. 0: no memory.
FrameWord python_word(const PythonFrame& frame) MEMDUEL_HIDDEN;

/// In a forked child: code objects are numbered anew.
void restart_python_codes() MEMDUEL_HIDDEN;

/// Where CPython keeps what is needed, by version; offsets in bytes.
struct PythonLayout {
  std::size_t current;  ///< thread state: 3.11, 3.12 its _PyCFrame, 3.10, 3.13 its frame
  bool has_cframe;
  std::size_t cframe_frame;  ///< _PyCFrame: the innermost frame
  std::size_t cframe_previous;
  std::size_t frame_code;
  std::size_t frame_previous;
  std::size_t frame_instruction;  ///< 3.10: its index; later: its address
  std::size_t frame_kind;         ///< 3.11: is_entry; later: owner
  std::size_t code_first_line;
  std::size_t code_file;
  std::size_t code_name;  ///< qualified from 3.11 on
  std::size_t code_lines;
  std::size_t code_bytes;  ///< 0 in 3.10, whose bytes are an object of their own
  std::size_t text_ascii;  ///< where the characters of an ASCII string begin
  std::size_t text_compact;
};
extern const PythonLayout* python_layout MEMDUEL_HIDDEN;

inline constexpr int kMostMerged = NativeStack::kMostFrames + PythonStack::kMostFrames;

/// Fills `merged`, innermost first; how many. Under the trace's lock, which may be told of code
/// objects. A run belongs to the native frame that its address lies in, whatever that function is
/// called: an interpreter may be stripped, split into parts or cloned by its compiler.
int merge_stacks(const NativeStack& native, const PythonStack& python,
                 FrameWord* merged) MEMDUEL_HIDDEN;

}  // namespace memduel::recorder
