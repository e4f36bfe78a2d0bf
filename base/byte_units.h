// Units of bytes, for thresholds and for numbers that people read.
#pragma once

namespace memduel {

inline constexpr double kKiB = 1024;
inline constexpr double kMiB = 1024 * kKiB;

}  // namespace memduel
