// The names of a run's profiles: TRIAL-ROLE[.IMAGE][.roundROUND].EXTENSION in DIR/profiles/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace memduel {

inline constexpr const char* kAllTracers = "see memduel list tracers";

/// The tracer that is always here, and that a failed gate asks for.
inline constexpr const char* kRecorderTracer = "recorder";

struct ProfileName {
  std::int64_t trial = 0;
  std::string role;
  std::size_t image = 1;     ///< which of the role's process images, in the order they started
  std::optional<int> round;  ///< what there was at the end of this round; absent: the whole run
  std::string tracer;
};

/// A file of a run's profiles/.
struct ProfileFile {
  std::string name;
  std::uintmax_t bytes = 0;
};

/// What the names of a tracer's files end with, without the dot: "mdp", "heaptrack.zst". Throws
/// Error(usage) for a name that is no tracer's.
std::string profile_extension(std::string_view tracer);

/// "7-client-1.2.round3.gperftools.heap"; the image is left out where it is the first.
std::string to_text(const ProfileName& name);

/// Nothing for a file that no tracer of memduel left.
std::optional<ProfileName> profile_name_from(std::string_view file);

/// `first` for the first image and the whole run; else with what tells them apart put before the
/// tracer's extension, or before the last one where the name does not end with it.
std::filesystem::path profile_beside(const std::filesystem::path& first, std::string_view tracer,
                                     std::size_t image, std::optional<int> round);

}  // namespace memduel
