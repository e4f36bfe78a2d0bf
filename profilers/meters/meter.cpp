#include "profilers/meters/thinned_series.h"

#include <algorithm>
#include <utility>

namespace memduel {
namespace {

/// Points that become two: two stretches, or so many samples.
constexpr std::size_t kJoined = 4;
constexpr std::size_t kFewestPoints = 16;

}  // namespace

ThinnedSeries::ThinnedSeries(std::string metric, std::size_t max_points)
    : max_points_(std::max(max_points, kFewestPoints) / kJoined * kJoined),
      kept_{std::move(metric), {}, {}} {}

void ThinnedSeries::append(const Point& point) {
  kept_.t_ns.push_back(point.t_ns);
  kept_.values.push_back(point.value);
}

void ThinnedSeries::add(std::int64_t t_ns, std::int64_t value) {
  const Point point{t_ns, value};
  last_ = point;
  if (stretch_ == 1) {
    append(point);
  } else {
    // The first of the smallest and the last of the largest: two points also where all are equal.
    if (in_stretch_ == 0 || value < smallest_.value) smallest_ = point;
    if (in_stretch_ == 0 || value >= largest_.value) largest_ = point;
    if (++in_stretch_ < stretch_) return;
    const bool falls = largest_.t_ns < smallest_.t_ns;
    append(falls ? largest_ : smallest_);
    append(falls ? smallest_ : largest_);
    in_stretch_ = 0;
  }
  if (kept_.values.size() >= max_points_) join_stretches();
}

void ThinnedSeries::join_stretches() {
  std::size_t kept = 0;
  for (std::size_t at = 0; at + kJoined <= kept_.values.size(); at += kJoined) {
    std::size_t smallest = at;
    std::size_t largest = at;
    for (std::size_t k = at; k < at + kJoined; ++k) {
      if (kept_.values[k] < kept_.values[smallest]) smallest = k;
      if (kept_.values[k] >= kept_.values[largest]) largest = k;
    }
    for (const std::size_t k : {std::min(smallest, largest), std::max(smallest, largest)}) {
      kept_.t_ns[kept] = kept_.t_ns[k];
      kept_.values[kept++] = kept_.values[k];
    }
  }
  kept_.t_ns.resize(kept);
  kept_.values.resize(kept);
  stretch_ = stretch_ == 1 ? kJoined : 2 * stretch_;
}

Series ThinnedSeries::series() const {
  Series all = kept_;
  if (in_stretch_ == 0) return all;
  const auto append_to = [&all](const Point& point) {
    if (!all.t_ns.empty() && all.t_ns.back() >= point.t_ns) return;
    all.t_ns.push_back(point.t_ns);
    all.values.push_back(point.value);
  };
  const bool falls = largest_.t_ns < smallest_.t_ns;
  append_to(falls ? largest_ : smallest_);
  append_to(falls ? smallest_ : largest_);
  append_to(*last_);
  return all;
}

}  // namespace memduel
