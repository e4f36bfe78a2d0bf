#include "trial/trial_trace.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "model/metric_catalogue.h"

namespace memduel {
namespace {

/// Indices [begin, end) of the samples in a closed interval.
std::pair<std::size_t, std::size_t> window(const Series& series, std::int64_t from_ns,
                                           std::int64_t to_ns) {
  const auto begin = std::ranges::lower_bound(series.t_ns, from_ns);
  const auto end = std::ranges::upper_bound(series.t_ns, to_ns);
  return {static_cast<std::size_t>(begin - series.t_ns.begin()),
          static_cast<std::size_t>(std::max(begin, end) - series.t_ns.begin())};
}

}  // namespace

Series& place_of(const std::string& series, Samples& samples) {
  struct Place {
    std::string_view series;
    Series Samples::* place;
  };
  constexpr std::array kPlaces = {Place{"rss_bytes", &Samples::rss},
                                  Place{"rss_file_bytes", &Samples::rss_of_files},
                                  Place{kPeakLargestProcess, &Samples::process_peaks},
                                  Place{"heap_bytes", &Samples::heap},
                                  Place{"mapped_bytes", &Samples::mapped},
                                  Place{"heap_and_mapped_bytes", &Samples::heap_and_mapped},
                                  Place{"uncounted_bytes", &Samples::uncounted}};
  const auto* const known = std::ranges::find(kPlaces, series, &Place::series);
  return known != kPlaces.end() ? samples.*known->place : samples.others[series];
}

bool marks_rounds(const RoleTrace& trace) {
  return std::ranges::any_of(trace.marks, [](const MarkEvent& event) {
    return event.mark.kind == Mark::Kind::round_begin;
  });
}

std::vector<std::string> phases_outside_rounds(const RoleTrace& trace) {
  std::vector<std::string> names;
  if (!marks_rounds(trace)) return names;
  std::optional<int> running;
  for (const MarkEvent& event : trace.marks) {
    const Mark& mark = event.mark;
    if (mark.kind == Mark::Kind::round_begin) running = mark.round;
    if (mark.kind == Mark::Kind::round_end && running == mark.round) running.reset();
    const bool is_outside = mark.kind == Mark::Kind::phase && !mark.name.empty() && !running;
    if (is_outside && std::ranges::find(names, mark.name) == names.end())
      names.push_back(mark.name);
  }
  return names;
}

std::int64_t end_of(const RoleTrace& trace) {
  if (trace.exit) return trace.exit->t_ns;
  std::int64_t end_ns = trace.begin_ns;
  if (!trace.rss.t_ns.empty()) end_ns = std::max(end_ns, trace.rss.t_ns.back());
  for (const MarkEvent& event : trace.marks) end_ns = std::max(end_ns, event.mark.t_ns);
  return end_ns;
}

std::optional<IdleLevel> idle_level(const RoleTrace& trace) {
  std::optional<IdleLevel> idle_mark;
  std::int64_t first_round_ns = INT64_MAX;
  for (const MarkEvent& event : trace.marks) {
    const Mark& mark = event.mark;
    if (mark.kind == Mark::Kind::round_begin) {
      first_round_ns = mark.t_ns;
      break;
    }
    if (mark.kind == Mark::Kind::idle && mark.sizes.rss)
      idle_mark = IdleLevel{mark.t_ns, *mark.sizes.rss};
  }
  if (idle_mark) return idle_mark;
  if (!trace.ready_ns || !trace.ready_rss_bytes || *trace.ready_ns > first_round_ns)
    return std::nullopt;
  return IdleLevel{*trace.ready_ns, *trace.ready_rss_bytes};
}

std::optional<std::int64_t> largest_between(const Series& series, std::int64_t from_ns,
                                            std::int64_t to_ns) {
  const auto [begin, end] = window(series, from_ns, to_ns);
  if (begin == end) return std::nullopt;
  return *std::max_element(series.values.begin() + static_cast<std::ptrdiff_t>(begin),
                           series.values.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace memduel
