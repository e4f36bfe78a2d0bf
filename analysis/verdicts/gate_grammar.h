// ROLE.METRIC<=BOUND[|BOUND][:advisory], as people write it with --gate and in a config.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/job_facts.h"
#include "base/metric_catalogue.h"

namespace memduel {

/// One bound; a gate with several holds when any of them holds.
struct Bound {
  enum class Kind {
    share,    ///< +2%: relative to the baseline, value 0.02
    amount,   ///< +64MiB: above the baseline, in the metric's unit
    ceiling,  ///< 900MiB: on the candidate alone, in the metric's unit
  };
  Kind kind = Kind::share;
  double value = 0;
};

struct Gate {
  std::string text;  ///< as written
  std::string role;  ///< `*` is every role that has the metric
  std::string metric;
  std::vector<Bound> bounds;  ///< empty for a default gate: the margin of the row is its bound
  bool advisory = false;
  bool is_default = false;  ///< left out with a limitation when nothing measured the metric
};

/// Whether the gate is about this metric of this role.
bool asks_about(const Gate& gate, const std::string& role, const std::string& metric);

/// Whether the gate compares with the baseline, so that its row needs a test.
bool has_relative_bound(const Gate& gate);

/// Throws Error(usage) that shows the place: a missing part, an unknown metric name (with the
/// nearest known one), a bound without a unit or with another metric's unit, % on a growth metric,
/// a ceiling on a metric where more is better.
Gate parse_gate(std::string_view text);

/// Throws Error(usage) naming the nearest role or metric when a gate names one that neither the
/// table nor the run has.
void check_gate_names(const std::vector<Gate>& gates, const std::vector<std::string>& roles,
                      const std::vector<std::string>& metrics);

}  // namespace memduel
