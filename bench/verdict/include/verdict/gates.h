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

/// The bound of default gates: what counts as no change of the metric (docs/method.md).
inline constexpr const char* kMarginBound = "margin";

struct Gate {
  std::string text;  ///< as written
  std::string role;  ///< `*` is every role that has the metric
  std::string metric;
  std::vector<Bound> bounds;  ///< empty: the margin of the row is its bound
  bool advisory = false;
  bool is_default = false;  ///< left out with a limitation when nothing measured the metric
  /// Why it is not judged: what it names does not exist.
  std::string unjudged = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

/// Whether the gate is about this metric of this role.
bool asks_about(const Gate& gate, const std::string& role, const std::string& metric);

/// Whether the gate compares with the baseline, so that its row needs a test.
bool has_relative_bound(const Gate& gate);

/// Throws Error(usage) that shows the place: a missing part, a bound without a unit or with another
/// metric's unit, % on a growth metric, a ceiling on a metric of the table where more is better. A
/// name that the table does not have may be a metric of the job's own: its bounds take the unit in
/// its name, or none.
Gate parse_gate(std::string_view text);

/// Throws Error(usage) naming the nearest role or metric when a gate names one that neither the
/// table nor the run has, and for a bound that needs another direction than `job` declares of its
/// metric: what is allowed above the baseline says nothing where it is undeclared.
void check_gate_names(const std::vector<Gate>& gates, const std::vector<std::string>& roles,
                      const std::vector<std::string>& metrics, const JobFacts& job);

/// What of it can be known before the first trial: a metric that no name of the table resembles may
/// come from a mark, and so may its direction, unless it is one that the job's config knows.
void check_gates_before_run(const std::vector<Gate>& gates, const std::vector<std::string>& roles,
                            const JobFacts& job);

}  // namespace memduel
