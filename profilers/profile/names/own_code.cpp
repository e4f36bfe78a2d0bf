#include "profilers/profile/names/own_code.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "profilers/profile/names/runtime_memory.h"
#include "profilers/profile/names/rust_names.h"
#include "profilers/profile/names/stack_names.h"

namespace memduel {
namespace {

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

std::string file_name(const Profile& profile, const ProfileLocation& location) {
  if (!location.module) return {};
  return std::filesystem::path(profile.modules[*location.module].path).filename().string();
}

bool is_interpreter(std::string_view file) {
  return begins_with_one_of(file, {"python3", "libpython3"});
}

bool is_loader(std::string_view file) {
  return begins_with_one_of(file, {"ld-linux", "ld.so"});
}

/// How much a frame tells, see leading_frame().
int rank_of(const Profile& profile, const ProfileLocation& location, std::string_view function) {
  if (location.kind == ProfileLocation::Kind::owner && runtime_memory(function) != nullptr)
    return 5;
  if (is_everybodys(profile, location, function)) return 0;
  if (location.kind == ProfileLocation::Kind::python) return 4;
  if (is_place(function) || location.kind == ProfileLocation::Kind::owner) return 1;
  return library_of(profile, location).empty() ? 3 : 2;
}

}  // namespace

std::string_view qualified_name(std::string_view function) {
  int depth = 0;
  std::size_t begin = 0;
  std::size_t end = function.size();
  for (std::size_t i = 0; i < end; ++i) {
    const std::string_view rest = function.substr(i);
    // What follows it may be a bracket, and a space of its own: operator<, operator new.
    if (depth == 0 && rest.starts_with("operator") && (i == begin || function[i - 1] == ':'))
      return function.substr(begin);
    const char c = function[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth > 0) continue;
    if (c == '(' && !rest.starts_with("(anonymous")) end = i;
    if (c == ' ' && !function.substr(0, i).ends_with("(anonymous")) begin = i + 1;
  }
  return function.substr(begin, end - begin);
}

bool hands_memory_out(std::string_view function) {
  const std::string_view name = qualified_name(function);
  if (is_one_of(name, {"allocate", "malloc", "calloc", "realloc", "reallocarray", "aligned_alloc",
                       "posix_memalign", "memalign", "valloc", "mmap", "mmap64", "mremap",
                       "__libc_malloc", "__libc_calloc", "__libc_realloc", "__rust_alloc"}) ||
      begins_with_one_of(name, {"std::", "__gnu_cxx::", "operator new", "c10::alloc_cpu", "["}) ||
      name.ends_with("Allocator::allocate"))
    return true;
  // Names of Rust have no parameters. A C++ namespace may be called core.
  return name.size() == function.size() && is_of_rust(name);
}

bool starts_something(std::string_view function) {
  const std::string_view name = qualified_name(function);
  // A C function has no parameters in its name: clone(State) is somebody's.
  if (function.find('(') != std::string_view::npos) return false;
  return is_one_of(name, {"_start", "start_thread", "clone", "clone3", "__clone", "__clone3"}) ||
         begins_with_one_of(name, {"__libc_start_", "_dl_"});
}

bool is_place(std::string_view function) {
  const std::size_t at = function.rfind("+0x");
  return at != std::string_view::npos && at + 3 < function.size() &&
         function.find_first_not_of("0123456789abcdef", at + 3) == std::string_view::npos;
}

bool is_everybodys(const Profile& profile, const ProfileLocation& location,
                   std::string_view function) {
  if (location.kind == ProfileLocation::Kind::lost) return true;
  if (location.kind == ProfileLocation::Kind::owner) return false;
  if (location.kind == ProfileLocation::Kind::python)
    return !location.names.empty() &&
           location.names.front().file.find("importlib") != std::string::npos;
  const std::string file = file_name(profile, location);
  if (is_interpreter(file) || is_loader(file)) return true;
  if (location.names.empty()) return !library_of(profile, location).empty() || !location.module;
  return hands_memory_out(function) || starts_something(function);
}

std::vector<ToldFrame> told_frames(const Profile& profile, std::uint32_t stack) {
  std::vector<ToldFrame> frames;
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    const ProfileLocation& location = profile.locations[profile.stacks[node].location];
    std::vector<FrameName> names = location.names;
    if (names.empty()) names.push_back({describe(profile, location), {}, 0});
    for (FrameName& name : names) {
      const bool own = !is_everybodys(profile, location, name.function);
      frames.push_back({std::move(name), own});
    }
  }
  return frames;
}

std::size_t leading_frame(const Profile& profile, std::uint32_t stack) {
  std::size_t number = 0;
  std::size_t best = 0;
  int best_rank = 0;
  for (std::uint32_t node = stack; node != 0; node = profile.stacks[node].parent) {
    const ProfileLocation& location = profile.locations[profile.stacks[node].location];
    const std::size_t count = std::max<std::size_t>(1, location.names.size());
    for (std::size_t i = 0; i < count; ++i, ++number) {
      const int rank = rank_of(
          profile, location,
          location.names.empty() ? describe(profile, location) : location.names[i].function);
      if (rank > best_rank) {
        best_rank = rank;
        best = number;
      }
    }
  }
  return best;
}

}  // namespace memduel
