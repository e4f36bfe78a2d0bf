// What the witness wrote about a role, read back. The file was written inside somebody else's
// processes, so that nothing in it is taken for granted.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

/// A program image that the witness was in.
struct WitnessedImage {
  pid_t pid = 0;
  std::string provider;  ///< the file that malloc comes from
  std::string program;   ///< /proc/PID/exe
};

/// A program that was executed and in which the witness never spoke.
struct SilentImage {
  pid_t pid = 0;
  std::string program;   ///< as it was named; without a slash: looked up in PATH
  bool cleaned = false;  ///< its environment did not have the preload any more
};

struct WitnessLog {
  std::vector<WitnessedImage> images;  ///< in the order they began
  std::vector<SilentImage> silent;     ///< what their processes were when they ended
  int garbage_lines = 0;

  /// The last image of a process, where the witness was in it.
  [[nodiscard]] const WitnessedImage* last_of(pid_t pid) const;
  /// ... and where it was not.
  [[nodiscard]] const SilentImage* silent_of(pid_t pid) const;
};

WitnessLog read_witness_log(std::string_view text);

}  // namespace memduel
