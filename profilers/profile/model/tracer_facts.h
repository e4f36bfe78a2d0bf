// What the amounts of a tracer mean: properties of its format, and what a profile says of itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profilers/profile/model/profile.h"

namespace memduel {

inline constexpr const char* kBytesOfClasses = "bytes of size classes";
inline constexpr const char* kBytesOfPages = "bytes of mapped pages";

/// Frames that stand for stacks which a tracer left out.
inline constexpr const char* kCutOffFrame = "[cut off]";
inline constexpr const char* kBelowThresholdFrame = "[below massif's threshold]";

enum class CountedBytes {
  requested,     ///< what the program asked for
  size_classes,  ///< what the allocator set aside: at most a quarter and 15 bytes a block more
  pages          ///< whole pages, of every mapping
};

struct TracerFacts {
  std::string tool;       ///< "heaptrack", "memduel"; the format where the tool is not known
  std::string allocator;  ///< that the tool brings in place of the program's own; may be empty
  CountedBytes counted = CountedBytes::requested;
  std::optional<double> interval_bytes;  ///< between samples
  bool denser_at_first = false;          ///< ... but between the first ones less
  bool counts_blocks = true;

  bool known_tool = true;  ///< else what it has is taken from the amounts that are there
  bool has_peak = false;
  bool has_allocated = false;
  bool has_live = false;
  std::optional<double> live_bytes;  ///< where it is noted without stacks

  std::optional<std::size_t> most_frames;  ///< that it keeps of a stack, innermost
  bool sees_loading = true;  ///< what libraries allocate while they are loaded, before main
  bool frees_pools = false;  ///< has libc and libstdc++ free their own pools at exit
  bool stops_before_destructors = false;  ///< of the program's libraries
  bool attached = false;                  ///< to a running program
  bool apart_from_end = false;            ///< what is live at the end is that of a moment before it
  std::string moment;                     ///< which, for people
  bool lost = false;                      ///< events
  double peak_inaccuracy = 0;             ///< the peak may be missed by this share
  bool peak_marked = true;                ///< else the peak is the largest moment with stacks
  double threshold = 0;     ///< share of all bytes below which stacks are put together
  double cut_off_live = 0;  ///< bytes of stacks for which a dump had no room
};

/// Facts of a profile that read_profile gave.
TracerFacts facts_of(const Profile& profile);

/// "requested bytes of every block", "bytes of size classes, one sample per 512 KiB".
std::string counting_of(const TracerFacts& facts);

/// What else can make its amounts differ from another tool's: "stops before libraries run their
/// destructors". In the order of the fields above.
std::vector<std::string> traits_of(const TracerFacts& facts);

}  // namespace memduel
