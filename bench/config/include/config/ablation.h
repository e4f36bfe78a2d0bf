// Arms that nobody wrote out: those of an ablation, which take apart the switches in which two
// arms differ (each added alone to the one, each left out of the other), and those of a matrix of
// axes.
#pragma once

#include <optional>
#include <string>

#include "config/experiment.h"

namespace memduel {

/// Blocks of an ablation that was not told how many. With six, a cell in which every value of one
/// arm lies beyond every value of the other has p = 0.0022, and stays below 0.05 after the
/// correction when as few as one cell in twenty is such a one; with five (p = 0.0079) it takes one
/// in six.
inline constexpr int kAblationBlocks = 6;

struct AblationChoice {
  std::optional<std::string> baseline;   ///< absent: the experiment's
  std::optional<std::string> candidate;  ///< absent: the last arm that is not the baseline
  int repeats = kAblationBlocks;
  std::optional<Document> resumed = std::nullopt;  ///< as in Overrides
};

/// The same workload with the arms `baseline`, `candidate`, `baseline+SWITCH` and
/// `candidate-SWITCH`, and a section "ablation" that says which arm measures what. A switch is one
/// in which the two arms differ; a variable of the environment that differs is one too. Where the
/// provider says that a switch makes no difference, or refuses the arm, the section holds its
/// reason instead of an arm; where an arm would repeat another, the other one stands in. Throws
/// Error(usage) for a command workload, an unknown arm, or arms without a difference.
Experiment ablation_experiment(const Experiment& experiment, const AblationChoice& choice,
                               const AskProvider& ask = ask_program);

}  // namespace memduel
