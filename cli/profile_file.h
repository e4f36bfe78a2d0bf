// What the verbs that look at profiles share.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "profile/profile.h"

namespace memduel::cli {

inline constexpr const char* kProfileHelp = "file of memduel record or of another profiler";

/// What the help of a command that reads a PROFILE ends with, after its examples.
inline constexpr const char* kProfileNotes =
    "\n\n"
    "PROFILE: a file of memduel record, heaptrack, gperftools (heap), jemalloc, memray "
    "(JSON), pprof or folded stacks; gzip and zstd are unpacked.";

/// The same for --kind.
inline constexpr const char* kKindNotes =
    "\n"
    "KIND: peak, live, allocated, temporary or resident; the default is the first of peak, "
    "live and allocated that PROFILE has. resident needs memduel record --snapshot-at.";

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
