#include "meters/meter.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "model/metric_catalogue.h"

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

namespace {

constexpr std::int64_t kNoticeableBytes = 64 * 1024;

}  // namespace

void SampledSums::add_role(const std::string& role) {
  roles_.emplace_back(role, ThinnedSeries(metric_, max_points_));
}

bool SampledSums::add(std::int64_t now_ns, const std::vector<std::optional<std::int64_t>>& values) {
  bool moved = false;
  std::optional<std::int64_t> sum;
  for (std::size_t role = 0; role < values.size(); ++role) {
    if (!values[role]) continue;
    ThinnedSeries& samples = roles_[role].second;
    moved =
        moved || samples.empty() || std::abs(*values[role] - samples.last()) >= kNoticeableBytes;
    samples.add(now_ns, *values[role]);
    add_up(sum, values[role]);
  }
  if (sum) tree_.add(now_ns, *sum);
  return moved;
}

std::vector<std::pair<std::string, Series>> SampledSums::series() const {
  std::vector<std::pair<std::string, Series>> all;
  for (const auto& role : roles_) {
    if (!role.second.empty()) all.emplace_back(role.first, role.second.series());
  }
  if (!tree_.empty()) all.emplace_back(kTree, tree_.series());
  return all;
}

Series SampledSums::series_of(const std::string& role) const {
  if (role == kTree) return tree_.series();
  const auto found =
      std::ranges::find_if(roles_, [&](const auto& one) { return one.first == role; });
  return found == roles_.end() ? Series{metric_, {}, {}} : found->second.series();
}

}  // namespace memduel
