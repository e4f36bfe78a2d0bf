// What the amounts of a tracer mean, by its format and by what the profile says of itself.
#pragma once

#include <optional>
#include <string>

#include "profilers/profile/model/profile.h"

namespace memduel {

inline constexpr const char* kBytesOfClasses = "bytes of size classes";

/// The frame that stands for the stacks for which a dump had no room.
inline constexpr const char* kCutOffFrame = "[cut off]";

enum class CountedBytes {
  requested,    ///< what the program asked for
  size_classes  ///< what the allocator set aside: at most a quarter and 15 bytes a block more
};

struct TracerFacts {
  std::string tool;  ///< "heaptrack", "memduel"; the format where the tool is not known
  CountedBytes counted = CountedBytes::requested;
  std::optional<double> interval_bytes;  ///< between samples
  bool denser_at_first = false;          ///< ... but between the first ones less
  bool known_tool = true;  ///< else what it has is taken from the amounts that are there
  bool has_peak = false;
  bool has_allocated = false;
  bool has_live = false;
};

/// Facts of a profile that read_profile gave.
TracerFacts facts_of(const Profile& profile);

/// "requested bytes of every block", "bytes of size classes, one sample per 512 KiB".
std::string counting_of(const TracerFacts& facts);

}  // namespace memduel
