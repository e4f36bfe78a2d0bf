#include "profilers/profile/names/renamed_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_set>

#include "profilers/profile/names/short_name.h"
#include "profilers/profile/names/stack_names.h"

namespace memduel {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// `v9`, `v3_11_2`, and behind an underscore of what stands before.
bool ends_in_version(std::string_view name) {
  std::size_t number = name.size();
  while (number > 0 && (is_digit(name[number - 1]) || name[number - 1] == '_')) --number;
  if (number == 0 || number == name.size() || name[number - 1] != 'v') return false;
  return is_digit(name[number]) && (number == 1 || name[number - 2] == '_');
}

bool is_version(std::string_view name) {
  for (const std::string_view prefix : {"lts_", "icu_"}) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    const std::string_view number = name.substr(prefix.size());
    if (std::ranges::all_of(number, is_digit)) return true;
  }
  return ends_in_version(name);
}

using Key = std::string (*)(const std::string& function);

std::string without_arguments_and_versions(const std::string& function) {
  return without_template_arguments(without_versions(function));
}

std::string short_without_versions(const std::string& function) {
  return short_name(without_versions(function));
}

/// Of each key the function that has it; empty where there are several.
std::map<std::string, std::string> by_key(const std::set<std::string>& functions, Key key) {
  std::map<std::string, std::string> found;
  for (const std::string& function : functions) {
    const auto [entry, first] = found.try_emplace(key(function), function);
    if (!first) entry->second.clear();
  }
  return found;
}

std::set<std::string> only_in(const std::set<std::string>& side,
                              const std::set<std::string>& other) {
  std::set<std::string> only;
  for (const std::string& function : side)
    if (!other.contains(function)) only.insert(function);
  return only;
}

}  // namespace

std::string without_versions(const std::string& function) {
  std::string plain;
  std::size_t kept = 0;
  for (std::size_t end = function.find("::"); end != std::string::npos;
       end = function.find("::", end + 2)) {
    std::size_t begin = end;
    while (begin > 0 && is_word(function[begin - 1])) --begin;
    if (!is_version(std::string_view(function).substr(begin, end - begin))) continue;
    plain += function.substr(kept, begin - kept);
    kept = end + 2;
  }
  return plain + function.substr(kept);
}

RenamedFunctions renamed_functions(const std::set<std::string>& baseline,
                                   const std::set<std::string>& candidate) {
  RenamedFunctions renamed;
  std::set<std::string> of_baseline = only_in(baseline, candidate);
  std::set<std::string> of_candidate = only_in(candidate, baseline);
  for (const Key key : {without_versions, without_arguments_and_versions, short_without_versions}) {
    const auto known = by_key(of_baseline, key);
    for (const auto& [shared, function] : by_key(of_candidate, key)) {
      const auto other = known.find(shared);
      if (function.empty() || other == known.end() || other->second.empty()) continue;
      renamed.emplace(function, other->second);
      of_candidate.erase(function);
      of_baseline.erase(other->second);
    }
  }
  return renamed;
}

std::string describe(const RenamedFunctions& renamed) {
  const bool one = renamed.size() == 1;
  return fmt::format(
      "{} {} in a namespace's version, template arguments or parameters alone, and {} taken for "
      "the same.",
      renamed.size(), one ? "function differs" : "functions differ", one ? "is" : "are");
}

std::set<std::string> compiled_functions(const Profile& profile) {
  // Thousands of places lie in hundreds of functions.
  std::unordered_set<std::string_view> known;
  std::set<std::string> functions;
  for (const ProfileLocation& location : profile.locations) {
    if (location.kind == ProfileLocation::Kind::python) continue;
    for (const FrameName& frame : location.names)
      if (!frame.function.starts_with('[') && known.insert(frame.function).second)
        functions.insert(without_clone(frame.function));
  }
  return functions;
}

}  // namespace memduel
