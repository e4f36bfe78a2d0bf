#include "experiment/metrics/outside_rounds.h"

#include <algorithm>

#include "base/metric_catalogue.h"

namespace memduel {

void keep_largest(std::vector<OutsideRounds>& parts, const OutsideRounds& part) {
  const auto same = std::ranges::find(parts, part.part, &OutsideRounds::part);
  if (same == parts.end()) {
    parts.push_back(part);
    std::ranges::stable_sort(parts, {}, &OutsideRounds::part);
  } else if (part.peak_rss_bytes > same->peak_rss_bytes) {
    *same = part;
  }
}

void drop_rounds_after(RoleData& role, int last) {
  std::erase_if(role.rounds.edit(), [&](const RoundData& round) {
    if (round.round <= last) return false;
    if (const auto peak = round.metrics.value(kPeakRss))
      keep_largest(role.outside_rounds, {TrialPart::after_rounds, round.begin_ns, round.end_ns,
                                         *peak, round.peak_rss_is_sampled});
    return true;
  });
}

}  // namespace memduel
