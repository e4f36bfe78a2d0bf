#include "sections/repeated_rows.h"

#include <algorithm>

#include "words.h"

namespace memduel {
namespace {

bool have_same_numbers(const Comparison& a, const Comparison& b) {
  return a.candidate == b.candidate && a.baseline == b.baseline && a.metric == b.metric &&
         a.baseline_median == b.baseline_median && a.candidate_median == b.candidate_median &&
         a.ratio == b.ratio && a.difference == b.difference && a.ci_low == b.ci_low &&
         a.ci_high == b.ci_high;
}

bool have_same_numbers(const Growth& a, const Growth& b) {
  return a.arm == b.arm && a.metric == b.metric && a.slope && a.slope == b.slope &&
         a.ci_low == b.ci_low && a.ci_high == b.ci_high;
}

bool is_gated(const Results& /*results*/, const Comparison& row) {
  return row.is_asked();
}

bool is_gated(const Results& results, const Growth& row) {
  const Comparison* compared = results.row(row.arm, row.role, row.metric);
  return compared != nullptr && compared->is_asked();
}

template <class Line>
bool is_repeated_in(const std::vector<Line>& lines, const Results& results, const Line& line) {
  const auto stands_for = [&](const Line& other) {
    const bool is_tree = other.role == kTree;
    if (is_tree == (line.role == kTree) || !have_same_numbers(other, line)) return false;
    const bool is_role_alone =
        is_gated(results, is_tree ? line : other) && !is_gated(results, is_tree ? other : line);
    return is_tree != is_role_alone;
  };
  return std::ranges::any_of(lines, stands_for);
}

}  // namespace

bool is_repeated(const Results& results, const Comparison& row) {
  return is_only_role(results.job, row.role) && is_repeated_in(results.comparisons, results, row);
}

bool is_repeated(const Results& results, const Growth& row) {
  return is_repeated_in(results.growth, results, row);
}

}  // namespace memduel
