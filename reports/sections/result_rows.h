// The rows of the first table: which role and metric, of every candidate, with their gates.
#pragma once

#include <string>
#include <vector>

#include "reports/report_model.h"
#include "verdict/results.h"

namespace memduel {

/// A role and metric.
struct ResultRow {
  std::string role;
  std::string metric;
  std::vector<const Comparison*> comparisons;  ///< one per candidate; null where it has none
  std::vector<const GateResult*> gates;        ///< that judge it, of any candidate

  [[nodiscard]] bool has_failed_gate() const;
};

struct ResultRows {
  std::vector<const ArmSummary*> variants;  ///< the baseline first
  std::vector<ResultRow> rows;              ///< as they are shown
  std::size_t left_out = 0;                 ///< that there was no room for
};

ResultRows result_rows(const ReportModel& model);

}  // namespace memduel
