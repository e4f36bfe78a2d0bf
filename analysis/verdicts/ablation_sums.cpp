#include "analysis/verdicts/ablation_sums.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/statistics/shift_test.h"
#include "base/metric_catalogue.h"

namespace memduel {
namespace {

std::optional<double> value_of(const Observation& trial, const AblationSubject& subject) {
  if (trial.status != TrialStatus::ok) return std::nullopt;
  return value_of(trial, subject.role, subject.key);
}

std::map<int, double> values_by_block(const AblationSubject& subject, const std::string& arm) {
  std::map<int, double> values;
  const ArmObservations* found = find_arm(*subject.observations, arm);
  if (found == nullptr) return values;
  for (const Observation& trial : found->trials)
    if (const auto value = value_of(trial, subject)) values.emplace(trial.block, *value);
  return values;
}

/// The arms whose values are added up in each block, with their signs: their sum is the remainder.
using Terms = std::vector<std::pair<std::string, double>>;

/// Both sides of the remainder, block by block: the sum of the positive and of the negative terms.
struct BlockSums {
  std::vector<double> less;
  std::vector<double> more;
};

BlockSums sums_by_block(const AblationSubject& subject, const Terms& terms) {
  std::map<int, std::pair<double, double>> sums;
  std::map<int, std::size_t> counted;
  for (const auto& [arm, factor] : terms) {
    for (const auto& [block, value] : values_by_block(subject, arm)) {
      (factor > 0 ? sums[block].second : sums[block].first) += std::abs(factor) * value;
      ++counted[block];
    }
  }
  BlockSums whole;
  for (const auto& [block, sum] : sums) {
    if (counted[block] != terms.size()) continue;
    whole.less.push_back(sum.first);
    whole.more.push_back(sum.second);
  }
  return whole;
}

void add_interval(AblationSum& out, const AblationSubject& subject, const Terms& terms) {
  const BlockSums sums = sums_by_block(subject, terms);
  out.n = static_cast<int>(sums.less.size());
  if (out.n < kMinimumBlocks) return;
  const Interval interval = ShiftTest(sums.less, sums.more, Design::paired).interval(kAlpha);
  if (std::isfinite(interval.low)) out.ci_low = interval.low;
  if (std::isfinite(interval.high)) out.ci_high = interval.high;
}

/// How the effects of one view add up.
struct View {
  AblationCell AblationRow::* cell;
  double sign;  ///< of the cell's difference as the switch's effect
};
constexpr View kAddedAlone = {&AblationRow::added_alone, 1};
constexpr View kLeftOut = {&AblationRow::left_out, -1};

/// remainder = (candidate - baseline) - sum over switches of sign × (arm - reference).
AblationSum sum_of(const View& view, const AblationSubject& subject,
                   const std::vector<AblationRow>& rows, const AblationCell& whole) {
  AblationSum out;
  Terms terms = {{*whole.arm, 1}, {whole.reference, -1}};
  double sum = 0;
  std::size_t measured = 0;
  for (const AblationRow& row : rows) {
    const AblationCell& cell = row.*view.cell;
    if (cell.idle) continue;  // an effect of 0
    if (!cell.difference) {
      out.missing.push_back(row.optimization);
      continue;
    }
    sum += view.sign * *cell.difference;
    terms.emplace_back(*cell.arm, -view.sign);
    terms.emplace_back(cell.reference, view.sign);
    ++measured;
  }
  if (measured == 0 || !whole.difference) return out;
  out.sum = sum;
  out.remainder = *whole.difference - sum;
  std::map<std::string, double> collected;
  for (const auto& [arm, factor] : terms) collected[arm] += factor;
  Terms distinct;
  for (const auto& [arm, factor] : collected)
    if (factor != 0) distinct.emplace_back(arm, factor);
  if (distinct.empty()) {  // every term is there with both signs: the remainder is 0 by definition
    out.n = whole.n;
    out.ci_low = out.ci_high = 0;
    return out;
  }
  add_interval(out, subject, distinct);
  return out;
}

}  // namespace

AblationSum sum_added_alone(const AblationSubject& subject, const std::vector<AblationRow>& rows,
                            const AblationCell& whole) {
  return sum_of(kAddedAlone, subject, rows, whole);
}

AblationSum sum_left_out(const AblationSubject& subject, const std::vector<AblationRow>& rows,
                         const AblationCell& whole) {
  return sum_of(kLeftOut, subject, rows, whole);
}

}  // namespace memduel
