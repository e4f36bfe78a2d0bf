// The rows of a run's comparisons: every metric of every role that the baseline and a candidate
// both have, measured, and then decided together with the rows that it shares its level with. Gate
// rows of one candidate are corrected by Westfall and Young over the same swaps of labels, and by
// the number of candidates; those that lack trials by Holm, those of the baseline's hidden twin by
// Holm among themselves, all others by Benjamini and Hochberg.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/experiment_view.h"
#include "verdict/analyse.h"
#include "verdict/comparison.h"
#include "verdict/gates.h"

namespace memduel {

/// What rows are measured and decided by.
struct RowRules {
  const ExperimentView& view;
  const std::vector<Gate>& gates;
  const std::vector<std::string>& roles;
  const AnalysisSettings& settings;
  double alpha;
  int gate_rows = 1;     ///< that share the level
  int least_trials = 1;  ///< of each variant, before a gate that changes alone can be decided
  const std::vector<GrowthRow>& growth;
  const JobFacts& job;
  const RunOrder* order = nullptr;  ///< of a restricted design
};

struct MeasuredRows {
  std::vector<MeasuredRow> rows;
  std::vector<Note> limitations;  ///< metrics that one of the arms lacks
};

MeasuredRows measure_rows(const RowRules& rules, const ArmObservations& baseline,
                          const ArmObservations& candidate);

/// Fills verdict, corrected p and power of the gate rows of the baseline's hidden twin, by which
/// the whole run may be doubted.
void decide_controls(std::vector<MeasuredRow>& rows, const RowRules& rules);

/// The same of all others. The twin's other rows are not doubted.
void decide_rows(std::vector<MeasuredRow>& rows, const RowRules& rules, const Doubts& doubts);

/// Of each candidate, which keep their order: exact rows that changed, then gates, then the rest.
void put_in_telling_order(std::vector<Comparison>& rows);

/// Roles in the order of the trials; what stands for groups, and tree, last. Members of a group
/// only where a gate names them: with many their rows would bury the others.
std::vector<std::string> roles_to_compare(const RunData& run, const std::vector<Gate>& gates);

std::set<std::string> metrics_of(const ArmObservations& arm, const std::string& role);

/// Whether the row's p belongs to the family that is corrected for the gates.
bool is_gate_row(const std::vector<Gate>& gates, const std::string& role,
                 const std::string& metric);

}  // namespace memduel
