// The largest resident set without the pages of mapped files. Clean ones cost nothing when memory
// is short: the kernel drops them, and reads them again where they are needed.
#pragma once

#include <cstdint>
#include <optional>

#include "experiment/contract/trial_trace.h"
#include "experiment/metrics/rss_peaks.h"

namespace memduel {

/// The largest sample with begin_ns < t <= end_ns. Absent where none tells its part of files.
std::optional<std::int64_t> largest_without_files(const Series& rss, const Series& of_files,
                                                  std::int64_t begin_ns, std::int64_t end_ns);

/// In a stretch of a role. Where the kernel knows the peak of all pages, it is no less than that
/// without the most that files had: samples miss short peaks, and files rarely go again.
std::optional<std::int64_t> peak_without_files(const RoleTrace& trace, const RssStretch& stretch);

}  // namespace memduel
