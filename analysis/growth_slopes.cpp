#include "analysis/growth_slopes.h"

#include "analysis/theil_sen.h"

namespace memduel {
namespace {

constexpr double kMinuteNs = 60e9;

}  // namespace

GrowthSlopes growth_slopes(const std::vector<RoundEnd>& rounds, int warmup_rounds) {
  std::vector<double> round;
  std::vector<double> minute;
  std::vector<double> rss;
  if (!has_slope(rounds.size(), warmup_rounds)) return {};
  for (size_t k = growth_warmup(rounds.size(), warmup_rounds); k < rounds.size(); ++k) {
    round.push_back(rounds[k].round);
    minute.push_back(static_cast<double>(rounds[k].end_ns) / kMinuteNs);
    rss.push_back(rounds[k].rss_bytes);
  }
  return {theil_sen_slope(round, rss), theil_sen_slope(minute, rss)};
}

}  // namespace memduel
