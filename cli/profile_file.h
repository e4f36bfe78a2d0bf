// What the verbs that look at profiles share.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "profile/profile.h"

namespace memduel::cli {

/// Of the argument PROFILE.
inline constexpr const char* kProfileHelp =
    "of memduel record, heaptrack, gperftools (heap), jemalloc, memray (JSON), pprof or folded "
    "stacks, packed with gzip or zstd or not: the file's content tells";

/// Reads a profile of any tool that memduel knows, and finds names for its addresses.
/// Throws Error(io) naming the file.
Profile open_profile(const std::filesystem::path& file);

/// The same, and of a recording with several process images the one that people mean. `file` is the
/// first image's file: the result is image `image`, or the largest if it is absent, and a line on
/// standard error names it. Any other file is read as it is. Throws Error(usage) for an image that
/// the recording does not have.
Profile open_recording(const std::filesystem::path& file,
                       std::optional<std::size_t> image = std::nullopt);

/// --process, for open_recording.
void add_image_option(CLI::App& verb, std::optional<std::size_t>& image);

/// --kind; `purpose` says what it is to this verb.
void add_kind_option(CLI::App& verb, std::string& word, const std::string& purpose);
/// -o, a file of `type` such as FILE.html.
void add_output_option(CLI::App& verb, std::string& file, const std::string& type,
                       const std::string& purpose);

/// The value of --kind, if it was given.
std::optional<ProfileKind> kind_from(const std::string& word);

}  // namespace memduel::cli
