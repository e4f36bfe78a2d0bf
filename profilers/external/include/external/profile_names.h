// The names of the profiles in a run's directory: TRIAL-ROLE[.IMAGE][.roundROUND].EXTENSION.
// docs/formats.md describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace memduel {

struct ProfileName {
  std::int64_t trial = 0;
  std::string role;
  std::size_t image = 1;     ///< which of the role's process images, in the order they started
  std::optional<int> round;  ///< what there was at the end of this round; absent: the whole run
  std::string tracer;
};

/// "7-client-1.2.round3.gperftools.heap"; the image is omitted if it is the first. Throws
/// Error(usage) if there is no such tracer.
std::string to_text(const ProfileName& name);

/// Nothing for a file that no tracer of memduel left.
std::optional<ProfileName> profile_name_from(std::string_view file);

/// `first` for the first image and the whole run; else with what tells them apart put before the
/// tracer's extension, or before the last one where the name does not end with it.
std::filesystem::path profile_beside(const std::filesystem::path& first, const std::string& tracer,
                                     std::size_t image, std::optional<int> round);

}  // namespace memduel
