// What the verbs that look at profiles share.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "profilers/profile/model/profile.h"

namespace memduel::cli {

/// Of the argument PROFILE.
inline constexpr const char* kProfileHelp =
    "of memduel record, heaptrack, gperftools (heap), jemalloc, memray (JSON), pprof or folded "
    "stacks, packed with gzip or zstd or not: the file's content tells";

/// Reads a profile of any tool that memduel knows, and finds names for its addresses.
/// Throws Error(io) naming the file.
Profile open_profile(const std::filesystem::path& file);

/// --kind; `purpose` says what it is to this verb.
void add_kind_option(CLI::App& verb, std::string& word, const std::string& purpose);
/// -o, a file of `type` such as FILE.html.
void add_output_option(CLI::App& verb, std::string& file, const std::string& type,
                       const std::string& purpose);

/// Throws Error(usage) when `output` is `profile` itself, by whatever name.
void refuse_to_replace(const std::filesystem::path& profile, const std::filesystem::path& output);

/// The value of --kind, if it was given.
std::optional<ProfileKind> kind_from(const std::string& word);

}  // namespace memduel::cli
