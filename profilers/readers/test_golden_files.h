// Files that the real tools made, read for a test; testdata/make.sh made them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "readers/plain_source.h"
#include "readers/read_profile.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel::testing_golden {

inline std::filesystem::path golden_file(const std::string& name) {
  return std::filesystem::path(MEMDUEL_READERS_TESTDATA) / name;
}

/// Whatever names this machine has for its own libraries; none are cached.
inline Profile read_golden(const std::string& name) {
  PlainSource source(golden_file(name));
  return read_foreign_profile(source, {std::nullopt, false});
}

inline Profile read_text(std::string_view text) {
  PlainSource source(text, "text");
  return read_foreign_profile(source, {std::nullopt, false});
}

/// What is thrown for `text`, in one line; empty when it can be read.
inline std::string problem_of(std::string_view text) {
  try {
    read_text(text);
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

inline Estimate total_of(const Profile& profile, ProfileKind kind) {
  Estimate total;
  for (const auto& entry : sites_of(profile, kind)) total += entry.second;
  return total;
}

/// Bytes of the stacks in which a frame's name begins with `function`.
inline double bytes_below(const Profile& profile, ProfileKind kind, std::string_view function) {
  double bytes = 0;
  for (const auto& [stack, amount] : stacks_of(profile, sites_of(profile, kind))) {
    for (const FrameName& frame : frames_of(profile, stack)) {
      if (!frame.function.starts_with(function)) continue;
      bytes += amount.bytes;
      break;
    }
  }
  return bytes;
}

/// The names of the largest stack, outermost first.
inline std::vector<std::string> largest_stack(const Profile& profile, ProfileKind kind) {
  std::vector<std::string> names;
  const auto stacks = stacks_of(profile, sites_of(profile, kind));
  for (const FrameName& frame : frames_of(profile, stacks.at(0).first)) {
    names.push_back(frame.function);
  }
  return names;
}

}  // namespace memduel::testing_golden
