#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "stats/sample_size.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

/// A change on a scale on which intervals are about symmetric, so that more is worse.
struct WorseScale {
  bool is_ratio = true;
  double sign = 1;

  [[nodiscard]] double operator()(double change) const {
    return sign * (is_ratio ? std::log(change) : change);
  }
};

WorseScale scale_of(const JobFacts& job, const GateResult& gate) {
  const bool is_less_worse = metric_info(job, gate.metric).better == Direction::higher;
  return {gate.evidence.quantity == GateQuantity::ratio, is_less_worse ? -1.0 : 1.0};
}

}  // namespace

std::optional<int> trials_to_decide(const JobFacts& job, const GateResult& gate) {
  const GateEvidence& evidence = gate.evidence;
  if (gate.outcome != GateOutcome::inconclusive || evidence.quantity == GateQuantity::value)
    return std::nullopt;
  if (!evidence.limit || !evidence.estimate || !evidence.ci_low || !evidence.ci_high ||
      !evidence.confidence)
    return std::nullopt;
  const WorseScale worse = scale_of(job, gate);
  const double estimate = worse(*evidence.estimate);
  const double limit = worse(*evidence.limit);
  const auto [better_end, worse_end] =
      std::minmax({worse(*evidence.ci_low), worse(*evidence.ci_high)});
  const bool is_within = estimate <= limit;
  const double half = is_within ? worse_end - estimate : estimate - better_end;
  const double ruled_out = asks_for_improvement(job, gate) ? limit : 0;
  const double room = is_within ? limit - estimate : estimate - ruled_out;
  const boost::math::normal normal;
  const double one_sided = quantile(normal, (1 + *evidence.confidence) / 2);
  const double width = half * (one_sided + quantile(normal, kPower)) / one_sided;
  const int trials = std::min(evidence.n_baseline, evidence.n_candidate);
  const double needed = std::ceil(trials * (width / room) * (width / room));
  if (!(room > 0) || !(needed <= kMostUsefulBlocks)) return std::nullopt;
  return std::max(trials + 1, static_cast<int>(needed));
}

}  // namespace memduel
