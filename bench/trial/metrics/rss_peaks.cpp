#include "rss_peaks.h"

#include <algorithm>

namespace memduel {
namespace {

void raise_size(std::optional<std::int64_t>& size, std::optional<std::int64_t> other) {
  if (other) size = std::max(size.value_or(*other), *other);
}

/// The time of the largest sample in a stretch, after its begin; else its end.
std::int64_t time_of_peak(const RoleTrace& trace, const RssStretch& stretch) {
  const auto largest = largest_between(trace.rss, stretch.begin_ns, stretch.end_ns);
  if (!largest) return stretch.end_ns;
  const auto begin = std::ranges::lower_bound(trace.rss.t_ns, stretch.begin_ns);
  const auto first = begin - trace.rss.t_ns.begin();
  const auto at = std::find(trace.rss.values.begin() + first, trace.rss.values.end(), *largest);
  const std::int64_t t_ns = trace.rss.t_ns[static_cast<std::size_t>(at - trace.rss.values.begin())];
  return std::min(std::max(t_ns, stretch.begin_ns + 1), stretch.end_ns);
}

/// VmHWM of any one process in a stretch. A process takes the time of a mark before it resets its
/// VmHWM: a reading in between is the peak that the mark reports of the stretch before.
std::optional<std::int64_t> largest_process_peak(const RoleTrace& trace,
                                                 const RssStretch& stretch) {
  const Series& peaks = trace.process_peaks;
  const auto first = std::ranges::lower_bound(peaks.t_ns, stretch.begin_ns);
  std::optional<std::int64_t> largest;
  for (auto i = static_cast<std::size_t>(first - peaks.t_ns.begin());
       i < peaks.t_ns.size() && peaks.t_ns[i] <= stretch.end_ns; ++i)
    if (peaks.values[i] != stretch.peak_before) raise_size(largest, peaks.values[i]);
  return largest;
}

/// What was read of a role in a stretch besides the kernel's maximum.
std::optional<std::int64_t> largest_seen(const RoleTrace& trace, const RssStretch& stretch) {
  auto largest = largest_between(trace.rss, stretch.begin_ns, stretch.end_ns);
  raise_size(largest, largest_process_peak(trace, stretch));
  const bool was_ready =
      trace.ready_ns && *trace.ready_ns >= stretch.begin_ns && *trace.ready_ns <= stretch.end_ns;
  if (was_ready) raise_size(largest, trace.ready_rss_bytes);
  return largest;
}

/// A program that executed another one: VmHWM at its first mark is the second program's, and the
/// kernel's maximum at its end is of both.
bool executed_a_smaller_program(const RoleTrace& trace, const RssStretch& first) {
  if (first.is_sampled) return false;
  const auto sampled = largest_between(trace.rss, first.begin_ns, first.end_ns);
  return sampled && first.peak_bytes && *sampled > *first.peak_bytes;
}

/// The stretch in which the kernel's maximum lies if it is larger than all that was read. VmHWM at
/// marks is exact for a role of one process: then it can only lie after the last mark, or in a
/// program that the role's process was before it executed another one.
RssStretch& stretch_of_maximum(const RoleTrace& trace, std::vector<RssStretch>& stretches) {
  if (trace.has_several_processes)
    return *std::ranges::max_element(
        stretches, {}, [](const RssStretch& stretch) { return stretch.peak_bytes.value_or(0); });
  RssStretch& first = stretches.front();
  RssStretch& tail = stretches.back();
  const auto of_first = largest_between(trace.rss, first.begin_ns, first.end_ns);
  const bool is_first =
      executed_a_smaller_program(trace, first) && of_first > largest_seen(trace, tail);
  return is_first ? first : tail;
}

/// The kernel's maximum belongs to a stretch, so that the role's peak is the largest of them.
void place_maximum(const RoleTrace& trace, std::vector<RssStretch>& stretches) {
  const auto maximum = kernel_maximum(trace);
  if (!maximum || *maximum <= trace.earlier_peak_bytes) return;
  const bool is_known = std::ranges::any_of(stretches, [&](const RssStretch& stretch) {
    return stretch.peak_bytes.value_or(0) >= *maximum;
  });
  if (is_known) return;
  RssStretch& place = stretch_of_maximum(trace, stretches);
  place.peak_bytes = maximum;
  place.is_sampled = trace.has_several_processes;
}

}  // namespace

bool ends_stretch(const Mark& mark) {
  return mark.kind != Mark::Kind::start && mark.kind != Mark::Kind::gauge;
}

std::optional<std::int64_t> kernel_maximum(const RoleTrace& trace) {
  std::optional<std::int64_t> maximum = trace.reaped_max_rss_bytes;
  // 0: not known.
  const bool is_its_own = trace.exit && trace.exit->max_rss_bytes > 0 &&
                          !trace.outlived_its_process && !trace.has_matched_descendants;
  if (is_its_own) raise_size(maximum, trace.exit->max_rss_bytes);
  return maximum;
}

bool has_sampled_peak(const RoleTrace& trace) {
  return trace.has_several_processes || !kernel_maximum(trace);
}

std::optional<std::int64_t> largest_process(const RoleTrace& trace) {
  std::optional<std::int64_t> largest = kernel_maximum(trace);
  raise_size(largest, largest_between(trace.process_peaks, 0, INT64_MAX));
  for (const MarkEvent& event : trace.marks) raise_size(largest, event.mark.sizes.peak);
  if (trace.has_several_processes) return largest;
  // The kernel counts a process's pages in batches: a reading may be some pages above its maximum.
  raise_size(largest, largest_between(trace.rss, 0, INT64_MAX));
  for (const MarkEvent& event : trace.marks) raise_size(largest, event.mark.sizes.rss);
  return largest;
}

std::vector<RssStretch> rss_stretches(const RoleTrace& trace) {
  std::vector<RssStretch> stretches;
  std::int64_t begin_ns = trace.begin_ns;
  std::int64_t life_peak = trace.earlier_peak_bytes;
  std::optional<std::int64_t> peak_before;
  for (const MarkEvent& event : trace.marks) {
    const Mark& mark = event.mark;
    if (!ends_stretch(mark)) continue;
    RssStretch stretch{begin_ns, mark.t_ns, {}, 0, true, peak_before};
    // Without resets VmHWM is the peak of the whole life: it is this stretch's if it rose in it.
    const bool is_of_stretch =
        mark.sizes.peak && (trace.peaks_reset || *mark.sizes.peak > life_peak);
    if (mark.sizes.peak) life_peak = std::max(life_peak, *mark.sizes.peak);
    if (is_of_stretch) stretch.peak_bytes = mark.sizes.peak;
    stretch.is_sampled = !is_of_stretch || trace.has_several_processes;
    if (stretch.is_sampled) raise_size(stretch.peak_bytes, largest_seen(trace, stretch));
    raise_size(stretch.peak_bytes, mark.sizes.rss);
    stretch.peak_ns = time_of_peak(trace, stretch);
    stretches.push_back(stretch);
    begin_ns = mark.t_ns;
    peak_before = trace.peaks_reset ? mark.sizes.peak : std::nullopt;
  }
  RssStretch tail{begin_ns, std::max(begin_ns, end_of(trace)), {}, 0, true, peak_before};
  tail.peak_bytes = largest_seen(trace, tail);
  tail.peak_ns = time_of_peak(trace, tail);
  stretches.push_back(tail);
  place_maximum(trace, stretches);
  return stretches;
}

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
