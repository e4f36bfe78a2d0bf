// Growth per round or per minute of one role of one arm, judged across runs.
//
// Each run gives one slope (Theil-Sen after warm-up); the runs' slopes give the exact signed-rank
// interval. A trend test inside one run is never used: it calls 36 to 98 % of healthy resident-set
// series a leak. The verdict follows from where the 95 % interval lies:
//   flat          below the margin: growth that would matter is ruled out
//   growing       above zero and reaching the margin: no growth is ruled out, growth that matters
//   is not inconclusive  it holds zero as well as the margin
// A series that would be growing is called stepped when single jumps explain the rise and the
// stretches between them do not grow, and settling when its second half grows less than half as
// fast as its first, shown across the runs. With fewer than four rounds there are no halves, so
// that nothing is called growing: every program warms up.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/interval.h"
#include "analysis/results.h"

namespace memduel {

/// One run after warm-up: x in rounds or minutes, y in bytes.
struct GrowthSeries {
  std::vector<double> x;
  std::vector<double> y;
};

struct GrowthEstimate {
  std::optional<double> slope;  ///< Hodges-Lehmann centre of the runs' slopes
  Interval interval;            ///< 95 %, unbounded below kSignedRankMinimum runs
  GrowthVerdict verdict = GrowthVerdict::inconclusive;
  std::string reason;
};

/// `margin` in bytes per unit of x; `metric` names the unit in the reason. Series with fewer than
/// three points do not count.
GrowthEstimate judge_growth(std::span<const GrowthSeries> runs, double margin,
                            const std::string& metric);

/// Where a series meets a limit, in the unit of its x.
struct Meeting {
  double at = 0;
  std::optional<double> low;  ///< 95 %; unbounded ends are absent
  std::optional<double> high;
};

/// From the typical last point and the slope's interval; nothing unless the slope and its lower end
/// are positive.
std::optional<Meeting> meeting_with(double limit_bytes, const GrowthEstimate& estimate,
                                    std::span<const GrowthSeries> runs);

}  // namespace memduel
