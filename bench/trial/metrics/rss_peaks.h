// The largest resident set of a role between its marks, and the largest without the pages of mapped
// files. Clean ones cost nothing when memory is short: the kernel drops them, and reads them again
// where they are needed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trial/trial_trace.h"

namespace memduel {

/// From one mark to the next, from the role's start to its first mark, or from the last to its end.
struct RssStretch {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> peak_bytes;
  std::int64_t peak_ns = 0;  ///< of its largest sample, else its end
  /// The kernel does not report the maximum of this stretch: it may be larger than any sample.
  bool is_sampled = true;
  /// Of the stretch before, by the mark that ends it.
  std::optional<std::int64_t> peak_before = std::nullopt;
};

/// One stretch for each mark that ends one, in their order, then the stretch to the role's end.
std::vector<RssStretch> rss_stretches(const RoleTrace& trace);

/// Whether a mark reads memory, which ends a stretch.
bool ends_stretch(const Mark& mark);

/// The largest resident set of any one process of the role that the kernel reported when it ended.
/// Absent if the kernel's number may be another role's.
std::optional<std::int64_t> kernel_maximum(const RoleTrace& trace);

/// Whether the role's peak is only sampled: it had several processes, whose sum no kernel counts,
/// or memduel did not get the kernel's maximum at its end.
bool has_sampled_peak(const RoleTrace& trace);

/// The largest resident set of any one process of the role.
std::optional<std::int64_t> largest_process(const RoleTrace& trace);

/// The largest sample with begin_ns < t <= end_ns. Absent where none tells its part of files.
std::optional<std::int64_t> largest_without_files(const Series& rss, const Series& of_files,
                                                  std::int64_t begin_ns, std::int64_t end_ns);

/// In a stretch of a role. Where the kernel knows the peak of all pages, it is no less than that
/// without the most that files had: samples miss short peaks, and files rarely go again.
std::optional<std::int64_t> peak_without_files(const RoleTrace& trace, const RssStretch& stretch);

}  // namespace memduel
