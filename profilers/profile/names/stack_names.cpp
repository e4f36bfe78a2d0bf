#include "profilers/profile/names/stack_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace memduel {
namespace {

/// What g++ and clang append to a function that they specialised, split or moved.
constexpr std::array kCloneSuffixes = {".constprop.", ".isra.",      ".part.", ".cold",
                                       ".lto_priv.",  ".localalias", ".llvm."};

std::string without_version(std::string file) {
  const std::size_t version = file.find(".so.");
  if (version != std::string::npos) file.resize(version + 3);
  return file;
}

std::uint32_t nameless(const Profile& profile, const ProfileLocation& location,
                       FunctionNames& names) {
  if (location.kind == ProfileLocation::Kind::lost) return names.number_of("[lost]");
  if (!location.module) return names.number_of("[unknown]");
  if (names.nameless() == Nameless::offset) {
    const ProfileModule& module = profile.modules[*location.module];
    return names.number_of(describe(profile, location),
                           module.build_id.empty() ? module.path : module.build_id);
  }
  const std::string library = library_of(profile, location);
  return names.number_of("[" + (library.empty() ? "program" : library) + "]");
}

/// No name has a NUL.
std::string key_of(const std::string& name, const std::string& build) {
  return build.empty() ? name : name + '\0' + build;
}

std::string shown_name(const FrameName& frame, ProfileLocation::Kind kind) {
  // Readers of other tools' profiles have named such frames for the file that the tool names.
  if (frame.function.starts_with('[') && frame.function.ends_with(']'))
    return "[" + without_version(frame.function.substr(1, frame.function.size() - 2)) + "]";
  if (kind != ProfileLocation::Kind::python) return without_clone(frame.function);
  return fmt::format("{} ({})", frame.function,
                     std::filesystem::path(frame.file).filename().string());
}

/// By the name in the profile, of functions that are not Python's: thousands of places lie in
/// hundreds of them.
using KnownNumbers = std::unordered_map<std::string_view, std::uint32_t>;

std::uint32_t number_of(const FrameName& frame, ProfileLocation::Kind kind, FunctionNames& names,
                        KnownNumbers& known) {
  if (kind == ProfileLocation::Kind::python) return names.number_of(shown_name(frame, kind));
  const auto found = known.find(frame.function);
  if (found != known.end()) return found->second;
  return known[frame.function] = names.number_of(shown_name(frame, kind));
}

/// Innermost first.
NamedStack functions_at(const Profile& profile, const ProfileLocation& location,
                        FunctionNames& names, KnownNumbers& known) {
  if (location.names.empty()) return {nameless(profile, location, names)};
  NamedStack functions;
  for (const FrameName& frame : location.names)
    functions.push_back(number_of(frame, location.kind, names, known));
  return functions;
}

}  // namespace

std::string library_of(const Profile& profile, const ProfileLocation& location) {
  if (!location.module) return {};
  const std::string& path = profile.modules[*location.module].path;
  const auto program = profile.info.find("program");
  if (program != profile.info.end() && program->second == path) return {};
  return without_version(std::filesystem::path(path).filename().string());
}

std::uint32_t FunctionNames::number_of(const std::string& name, const std::string& build) {
  const auto other = renamed_.find(name);
  if (other != renamed_.end()) {
    const std::uint32_t number = numbers_.at(key_of(other->second, build));
    taken_.insert(number);
    return number;
  }
  const auto [entry, made] =
      numbers_.try_emplace(key_of(name, build), static_cast<std::uint32_t>(names_.size()));
  if (made) names_.push_back(name);
  return entry->second;
}

bool FunctionNames::is_function(std::uint32_t number) const {
  return !names_[number].starts_with('[');
}

std::string without_clone(const std::string& function) {
  std::string name = function.substr(0, function.find(" [clone "));
  if (name.find('.') == std::string::npos) return name;  // as nearly all
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view suffix : kCloneSuffixes) {
      const std::size_t at = name.rfind(suffix);
      if (at == std::string::npos || at == 0) continue;
      const std::string_view rest = std::string_view(name).substr(at + suffix.size());
      if (rest.find_first_not_of("0123456789.") != std::string_view::npos) continue;
      name.resize(at);
      found = true;
    }
  }
  return name;
}

StackNames::StackNames(const Profile& profile, FunctionNames& names) : profile_(profile) {
  KnownNumbers known;
  of_location_.reserve(profile.locations.size());
  for (const ProfileLocation& location : profile.locations)
    of_location_.push_back(functions_at(profile, location, names, known));
}

NamedStack StackNames::of(std::uint32_t stack, std::size_t depth) const {
  NamedStack functions;
  for (std::uint32_t node = stack; node != 0 && depth > 0; node = profile_.stacks[node].parent) {
    --depth;
    for (const std::uint32_t function : of_location_[profile_.stacks[node].location])
      if (functions.empty() || functions.back() != function) functions.push_back(function);
  }
  std::ranges::reverse(functions);
  return functions;
}

std::vector<std::uint32_t> StackNames::functions() const {
  std::vector<std::uint32_t> all;
  for (const NamedStack& functions : of_location_)
    all.insert(all.end(), functions.begin(), functions.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace memduel
