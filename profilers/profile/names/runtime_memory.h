// Memory that a language's runtime maps for its own heap, by the name that people who write in that
// language know.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace memduel {

struct RuntimeMemory {
  std::string_view name;    ///< "V8 heap"
  std::string_view advice;  ///< what shows its content; empty where nothing does
};

/// Anonymous memory that nothing is known of.
inline constexpr std::string_view kOtherAnonymous = "other anonymous memory";
/// Of a program that the recorder cannot enter.
inline constexpr std::string_view kGoHeap = "Go heap";

/// From its name; null where no runtime has such memory.
const RuntimeMemory* runtime_memory(std::string_view name);

/// From the kernel's name of a mapping, `[anon: Go: heap]`: a runtime's, else what stands in the
/// brackets, else kOtherAnonymous.
std::string_view name_of_mapping(std::string_view kernel_name);

/// A frame of the stack that made a mapping.
struct CodeFrame {
  std::string_view function;  ///< `python3.11+0x1234` where it has no name
  std::string_view file;      ///< the module's file name; empty of code that was made at run time
  bool is_python = false;
};

struct RuntimeFrames {
  std::string_view name;
  std::size_t count = 0;  ///< of the innermost frames: the runtime's own, and what only starts them
};

/// Whose mapping a stack (innermost first) made. `fills_arena`: it has the size of an arena of
/// CPython, which a program without symbols does not say otherwise.
std::optional<RuntimeFrames> runtime_frames(std::span<const CodeFrame> stack, bool fills_arena);

}  // namespace memduel
