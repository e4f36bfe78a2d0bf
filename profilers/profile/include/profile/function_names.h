// Names for addresses, for functions and for the memory of runtimes. symbolize() names addresses
// after the run and outside the measured process: by build id, with inlined frames, from separate
// debug files where they are installed (libdwfl), and from a cache of what earlier runs learned.
// short_name() is a function's name as people say it; is_everybodys() and leading_frame() tell a
// program's own frames from those that every program has: allocators, the standard library, what
// starts programs and threads, interpreters, places without a name. RuntimeMemory names the memory
// that a language's runtime maps for its own heap, as people who write in that language know it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/profile.h"

namespace memduel {

class TraceCursor;

struct SymbolOptions {
  /// Names that were found are kept here by build id; absent: nowhere.
  std::optional<std::filesystem::path> cache_directory;
  bool debuginfod = false;  ///< ask the servers of DEBUGINFOD_URLS
};

/// $XDG_CACHE_HOME or ~/.cache, then memduel/symbols; absent when there is no home.
std::optional<std::filesystem::path> default_symbol_cache();

/// Fills ProfileLocation::names of native locations that have none. A module whose file is gone or
/// has another build id by now gets `module+0x1234`, never the name of a neighbour, and a note.
void symbolize(Profile& profile, const SymbolOptions& options);

/// A C++ or Rust name as people write it; other names unchanged.
std::string demangle(const std::string& name);

class ModuleSymbols {
 public:
  /// Opens the file and its debug information. `problem()` says why when there is nothing to ask.
  ModuleSymbols(const std::filesystem::path& file, const std::string& expected_build_id);
  ~ModuleSymbols();
  ModuleSymbols(ModuleSymbols&&) = delete;
  ModuleSymbols& operator=(ModuleSymbols&&) = delete;
  ModuleSymbols(const ModuleSymbols&) = delete;
  ModuleSymbols& operator=(const ModuleSymbols&) = delete;

  /// Empty when the file can be asked.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// The functions at an address of the file, innermost first; empty when unknown.
  [[nodiscard]] std::vector<FrameName> names_at(std::uint64_t address) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
  std::string problem_;
};

/// Appends the names of one place, as a finished profile and the cache hold them.
void put_names(std::string& bytes, const std::vector<FrameName>& names);
/// Reads them back. Throws std::out_of_range when they make no sense.
std::vector<FrameName> read_names(TraceCursor& cursor);

class ModuleNames {
 public:
  ModuleNames(const ProfileModule& module, const SymbolOptions& options);

  /// Innermost (inlined) first; empty where nothing is known. Addresses are those of the file.
  const std::vector<FrameName>& at(std::uint64_t address);

  /// Writes what was learned to the cache, and notes why the file could not be asked where it was
  /// needed.
  void finish(std::vector<std::string>& notes) const;

 private:
  std::filesystem::path file_;
  std::string build_id_;
  std::filesystem::path cache_file_;  ///< empty: none
  std::map<std::uint64_t, std::vector<FrameName>> known_;
  std::unique_ptr<ModuleSymbols> symbols_;
  std::string problem_;
  bool learned_ = false;
};

/// Whether a character can stand in an identifier.
bool is_word(char c);

/// Without return type, parameters, unnamed namespaces and what stands in angle brackets, which
/// becomes `‹…›`: `nlohmann::basic_json‹…›::parse`. Of a Rust method `<T as Trait>::f` the type's
/// name and the method; of Python's `rows.<locals>.<listcomp> (a.py)` "rows, list comprehension
/// (a.py)". Names of other languages and of a runtime's memory, and places, are left as they are.
std::string short_name(std::string_view function);

/// `Table<int>::grow(List<int>)` is `Table::grow(List)`.
std::string without_template_arguments(std::string_view function);

/// The name without its return type and parameters: what stands before these, after the last space
/// that is in no bracket.
std::string_view qualified_name(std::string_view function);

/// The C++ and Rust libraries' and the allocators' own.
bool hands_memory_out(std::string_view function);

/// What starts a program or a thread, whatever that does then.
bool starts_something(std::string_view function);

/// `libfoo.so+0x1234`: a place without a name.
bool is_place(std::string_view function);

/// Whether a frame tells nothing of the program whose stack it is in. The places of a program that
/// has no names tell something.
bool is_everybodys(const Profile& profile, const ProfileLocation& location,
                   std::string_view function);

/// A frame, and whether it is everybody's.
struct ToldFrame {
  FrameName name;
  bool own = false;
};

/// The frames of a stack, innermost first; those that are inlined are expanded.
std::vector<ToldFrame> told_frames(const Profile& profile, std::uint32_t stack);

/// The function of a stack (names as StackNames has them, outermost first) that a reader knows, as
/// an index: the name of a runtime's memory, else the innermost one in Python, else the innermost
/// that has a name and is neither a standard library's nor an allocator's nor starts programs or
/// threads, else a place in the program, else the innermost; 0 of an empty stack.
std::size_t telling_frame(const std::vector<std::string>& stack);

/// Its nearest caller that is neither of the C++ library, of LibTorch or of an allocator, nor a
/// method of the same class, nor the Python function that it is nested in, nor an operator. Absent
/// where there is none.
std::optional<std::size_t> telling_caller_frame(const std::vector<std::string>& stack);

/// The same as a name; empty where there is none.
std::string telling_caller(const std::vector<std::string>& stack);

/// The frame whose source line says where a stack's memory comes from: telling_frame, of a
/// runtime's memory its caller. Absent where that has none.
std::optional<std::size_t> frame_with_location(const std::vector<std::string>& stack);

/// That frame and its callers in Python, the nearest first: if the line of one is in Python's
/// standard library, that of a caller tells more. Empty where frame_with_location() is absent.
std::vector<std::size_t> frames_with_locations(const std::vector<std::string>& stack);

/// The number of the innermost frame that tells most: the name of a runtime's memory, else in
/// Python where there is Python, else the program's own, else a library's, else the first.
std::size_t leading_frame(const Profile& profile, std::uint32_t stack);

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

/// Puts a frame with the name of a runtime's memory ("V8 heap") outside of the runtime's own frames
/// in each stack that made a mapping, those of a snapshot among them. After symbolization, once.
void name_runtime_memory(Profile& profile);

/// A stack as far as that frame, without the runtime's own; itself where it has none.
std::uint32_t without_runtime(const Profile& profile, std::uint32_t stack);

/// Stacks that are one without the runtime's own frames as one; the largest first.
std::vector<std::pair<std::uint32_t, Estimate>> without_runtimes(
    const Profile& profile, const std::vector<std::pair<std::uint32_t, Estimate>>& stacks);

}  // namespace memduel
