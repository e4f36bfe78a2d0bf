#include "profilers/meters/sampled_sums.h"

#include <algorithm>
#include <cstdlib>

#include "base/metric_catalogue.h"

namespace memduel {
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
    sum = sum.value_or(0) + *values[role];
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
