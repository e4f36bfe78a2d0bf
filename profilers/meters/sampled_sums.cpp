#include "profilers/meters/sampled_sums.h"

#include <cstdlib>

namespace memduel {
namespace {

constexpr std::int64_t kNoticeableBytes = 64 * 1024;

void append(Series& series, std::int64_t now_ns, std::int64_t value) {
  series.t_ns.push_back(now_ns);
  series.values.push_back(value);
}

}  // namespace

void SampledSums::add_role(const std::string& role) {
  roles_.emplace_back(role, Series{metric_, {}, {}});
}

bool SampledSums::add(std::int64_t now_ns, const std::vector<std::optional<std::int64_t>>& values) {
  bool moved = false;
  std::optional<std::int64_t> sum;
  for (std::size_t role = 0; role < values.size(); ++role) {
    if (!values[role]) continue;
    Series& samples = roles_[role].second;
    moved = moved || samples.values.empty() ||
            std::abs(*values[role] - samples.values.back()) >= kNoticeableBytes;
    append(samples, now_ns, *values[role]);
    sum = sum.value_or(0) + *values[role];
  }
  if (sum) append(tree_, now_ns, *sum);
  return moved;
}

std::vector<std::pair<std::string, Series>> SampledSums::series() const {
  std::vector<std::pair<std::string, Series>> all;
  for (const auto& role : roles_) {
    if (!role.second.t_ns.empty()) all.push_back(role);
  }
  if (!tree_.t_ns.empty()) all.emplace_back("tree", Series{metric_, tree_.t_ns, tree_.values});
  return all;
}

}  // namespace memduel
