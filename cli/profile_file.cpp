#include "profile_file.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "cli/option_checks.h"
#include "cli/verbs.h"
#include "profile/recorded_files.h"
#include "readers/read_profile.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel::cli {
namespace {

/// Its place among the process images of a recording.
struct ImagePlace {
  std::size_t number = 1;
  std::size_t count = 1;
  std::size_t largest = 1;
};

/// Absent for the only image, and for other tools' profiles.
std::optional<ImagePlace> image_of(const Profile& profile) {
  const std::string image = profile.fact("image");
  if (image.empty() || profile.info.contains("profiler")) return std::nullopt;
  ImagePlace place;
  if (std::sscanf(image.c_str(), "%zu of %zu", &place.number, &place.count) != 2)
    return std::nullopt;
  if (const std::string largest = profile.fact("largest_image_number"); !largest.empty())
    place.largest = std::strtoull(largest.c_str(), nullptr, 10);
  return place;
}

/// Absent if its file is not there, or is of another recording: the first may have been renamed.
std::optional<Profile> image_beside(const std::filesystem::path& first, std::size_t number,
                                    std::size_t count) {
  const auto file = file_of_image(first, number);
  if (!file) return std::nullopt;
  Profile profile = open_profile(*file);
  const auto place = image_of(profile);
  if (!place || place->number != number || place->count != count) return std::nullopt;
  return profile;
}

std::string program_of(const Profile& profile) {
  return profile.fact("program", "a program");
}

}  // namespace

Profile open_profile(const std::filesystem::path& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown))
    throw Error(ExitCode::io, "expected a profile, found a folder", file.string(),
                "memduel summary " + quoted_command_line({file.string()}) + " lists those in it");
  return read_profile(file);
}

Profile open_recording(const std::filesystem::path& file, std::optional<std::size_t> image) {
  Profile given = open_profile(file);
  const auto own = image_of(given);
  if (!own || own->number != 1) {
    if (!image || image == (own ? own->number : 1)) return given;
    throw Error(ExitCode::usage,
                own ? fmt::format("--process {}: the file is itself process {} of {}", *image,
                                  own->number, own->count)
                    : fmt::format("--process {}: the file has one process", *image),
                file.string(), own ? "give the file of the first process" : "omit --process");
  }
  const std::size_t wanted = image.value_or(own->largest);
  if (wanted < 1 || wanted > own->count)
    throw Error(ExitCode::usage,
                fmt::format("expected a process from 1 to {1}, found {0}", wanted, own->count),
                file.string());
  if (wanted == 1) return given;
  std::optional<Profile> other = image_beside(file, wanted, own->count);
  if (!other && image)
    throw Error(ExitCode::io, fmt::format("process {} is not beside the recording's first", wanted),
                file.string(), "these files belong together: FILE.mdp, FILE.2.mdp, FILE.images/");
  if (!other) return given;
  if (!image)
    say(
        fmt::format("memduel: this is {}, process {} of {} and the largest {}; --process N selects "
                    "another, and 1 is {}\n",
                    escape_terminal(program_of(*other)), wanted, own->count, kLargestBy,
                    escape_terminal(program_of(given))));
  return *std::move(other);
}

void add_image_option(CLI::App& verb, std::optional<std::size_t>& image) {
  verb.add_option("--process", image, "select process N of a recording (default: largest)")
      ->transform(no_sign())
      ->option_text("N");
}

void add_kind_option(CLI::App& verb, std::string& word, const std::string& purpose) {
  verb.add_option("--kind", word, purpose + " (default: peak)")->type_name("KIND");
}

void add_output_option(CLI::App& verb, std::string& file, const std::string& type,
                       const std::string& purpose) {
  verb.add_option("-o,--output", file, purpose)->type_name(type)->group(kOutputOptions);
}

std::optional<ProfileKind> kind_from(const std::string& word) {
  if (word.empty()) return std::nullopt;
  return profile_kind_from(word);
}

}  // namespace memduel::cli
