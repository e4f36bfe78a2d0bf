#include "experiment/metrics/rss_without_files.h"

#include <algorithm>

namespace memduel {
namespace {

/// Both are of the same samples.
bool tells_files(const Series& rss, const Series& of_files) {
  return !rss.t_ns.empty() && rss.t_ns == of_files.t_ns;
}

/// The largest sample in the stretch, else the last one before it.
std::optional<std::int64_t> sampled_files(const Series& files, const RssStretch& stretch) {
  if (const auto most = largest_between(files, stretch.begin_ns, stretch.end_ns)) return most;
  const auto after = std::ranges::upper_bound(files.t_ns, stretch.begin_ns);
  if (after == files.t_ns.begin()) return std::nullopt;
  return files.values[static_cast<std::size_t>(after - files.t_ns.begin()) - 1];
}

/// What marks read at the end of the stretch.
std::optional<std::int64_t> marked_files(const RoleTrace& trace, const RssStretch& stretch) {
  for (const MarkEvent& event : trace.marks)
    if (event.mark.t_ns == stretch.end_ns && event.mark.sizes.file) return event.mark.sizes.file;
  return std::nullopt;
}

/// Of short programs samples miss what the recorder saw before it went. In whichever stretch that
/// was: the bound is weaker where it was in another one, and right.
std::optional<std::int64_t> most_of_files(const RoleTrace& trace, const RssStretch& stretch) {
  auto most = sampled_files(trace.rss_of_files, stretch);
  if (const auto marked = marked_files(trace, stretch))
    most = std::max(most.value_or(*marked), *marked);
  for (const HeapCounters& image : trace.heap_images)
    if (image.file_peak_bytes > most.value_or(0)) most = image.file_peak_bytes;
  return most;
}

}  // namespace

std::optional<std::int64_t> largest_without_files(const Series& rss, const Series& of_files,
                                                  std::int64_t begin_ns, std::int64_t end_ns) {
  if (!tells_files(rss, of_files)) return std::nullopt;
  const auto begin = std::ranges::upper_bound(rss.t_ns, begin_ns) - rss.t_ns.begin();
  const auto end = std::ranges::upper_bound(rss.t_ns, end_ns) - rss.t_ns.begin();
  std::optional<std::int64_t> largest;
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    const std::int64_t bytes = rss.values[i] - of_files.values[i];
    largest = std::max(largest.value_or(bytes), bytes);
  }
  return largest;
}

std::optional<std::int64_t> peak_without_files(const RoleTrace& trace, const RssStretch& stretch) {
  auto peak =
      largest_without_files(trace.rss, trace.rss_of_files, stretch.begin_ns, stretch.end_ns);
  const auto files = most_of_files(trace, stretch);
  if (!trace.has_several_processes && stretch.peak_bytes && files) {
    const std::int64_t least = std::max<std::int64_t>(0, *stretch.peak_bytes - *files);
    peak = std::max(peak.value_or(least), least);
  }
  return peak;
}

}  // namespace memduel
