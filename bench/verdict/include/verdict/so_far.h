// How one metric changes while a run goes on: an estimate for people who wait. It decides nothing:
// verdicts come from analyse() at the looks that are planned.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/job_facts.h"
#include "model/run_data.h"
#include "stats/samples.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"

namespace memduel {

/// The change of one candidate, on the row's scale.
struct ChangeSoFar {
  std::string baseline;
  std::string candidate;
  RoleMetric row;
  RowScale scale;
  double effect = 0;  ///< the mean of the blocks' changes
  Interval interval;  ///< 95%, of that mean: Student's t
  int blocks = 0;     ///< of which both variants have a value; at least two
};

/// Of each trial it keeps one number, so that a run of any length is cheap to estimate.
class SoFar {
 public:
  /// Of the first gate that is not on growth, else of the peak RSS of all processes.
  SoFar(const Document& config, JobFacts job, const AnalysisSettings& settings);

  /// A measured trial that ended well counts, all others do not.
  void add(const TrialData& trial);
  void drop(int block);

  /// One for each judged candidate with two blocks or more.
  [[nodiscard]] std::vector<ChangeSoFar> changes() const;

 private:
  JobFacts job_;
  int warmup_rounds_;
  std::string baseline_;
  std::vector<std::string> candidates_;
  RoleMetric row_;
  std::map<int, std::map<std::string, double>> values_;  ///< by block and variant
};

}  // namespace memduel
