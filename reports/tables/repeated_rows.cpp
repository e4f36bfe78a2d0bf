#include "reports/tables/repeated_rows.h"

#include <algorithm>

#include "base/metric_catalogue.h"

namespace memduel {
namespace {

bool same_numbers(const Comparison& a, const Comparison& b) {
  return a.baseline_median == b.baseline_median && a.candidate_median == b.candidate_median &&
         a.ratio == b.ratio && a.difference == b.difference && a.p_value == b.p_value;
}

}  // namespace

bool repeats_the_job(const Comparison& row, const std::vector<Comparison>& rows) {
  const bool is_job = row.role == kTree;
  return std::ranges::any_of(rows, [&](const Comparison& other) {
    if (other.candidate != row.candidate || other.metric != row.metric) return false;
    if ((other.role == kTree) == is_job || !same_numbers(row, other)) return false;
    return row.is_asked() == other.is_asked() ? !is_job : other.is_asked();
  });
}

}  // namespace memduel
