#include "training/retention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace memduel {
namespace {

auto age_order(const Checkpoint& checkpoint) {
  return std::make_tuple(checkpoint.file.modified_ns, checkpoint.epoch.value_or(-1),
                         std::string_view(checkpoint.file.name));
}

double score(const Checkpoint& checkpoint, const RetentionRules& rules) {
  const double value = checkpoint.metrics.at(rules.metric);
  if (!std::isfinite(value)) return -std::numeric_limits<double>::infinity();
  return rules.better == Better::highest ? value : -value;
}

}  // namespace

double age_in_days(const Checkpoint& checkpoint, std::int64_t now_ns) {
  constexpr double kDay = 86400e9;
  return (static_cast<double>(now_ns) - static_cast<double>(checkpoint.file.modified_ns)) / kDay;
}

std::vector<std::size_t> superfluous_checkpoints(const std::vector<Checkpoint>& checkpoints,
                                                 const RetentionRules& rules, std::int64_t now_ns) {
  std::vector<std::size_t> best_first;
  for (std::size_t i = 0; i < checkpoints.size(); ++i)
    if (checkpoints[i].metrics.contains(rules.metric)) best_first.push_back(i);
  if (best_first.empty()) return {};
  const std::size_t newest =
      *std::ranges::max_element(best_first, [&](std::size_t a, std::size_t b) {
        return age_order(checkpoints[a]) < age_order(checkpoints[b]);
      });
  const bool by_age = rules.ranking == Ranking::by_age;
  std::ranges::sort(best_first, [&](std::size_t a, std::size_t b) {
    if (by_age) return age_order(checkpoints[a]) > age_order(checkpoints[b]);
    const double score_a = score(checkpoints[a], rules);
    const double score_b = score(checkpoints[b], rules);
    return score_a != score_b ? score_a > score_b
                              : age_order(checkpoints[a]) > age_order(checkpoints[b]);
  });
  std::vector<std::size_t> removed;
  for (std::size_t rank = std::max<std::size_t>(1, rules.keep_best); rank < best_first.size();
       ++rank) {
    const std::size_t i = best_first[rank];
    const bool is_old = by_age || age_in_days(checkpoints[i], now_ns) > rules.older_than_days;
    if (i != newest && is_old) removed.push_back(i);
  }
  std::ranges::sort(removed);
  return removed;
}

}  // namespace memduel
