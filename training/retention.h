// Which of a directory's checkpoints stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "training/checkpoint_tree.h"

namespace memduel {

enum class Better { highest, lowest };

/// by_age: the newest `keep_best` stay and nothing else, as CBraMod's code has it.
enum class Ranking { by_metric, by_age };

struct RetentionRules {
  std::string metric = "kappa";
  Better better = Better::highest;
  std::size_t keep_best = 5;  ///< at least 1
  double older_than_days = 7;
  Ranking ranking = Ranking::by_metric;
};

/// Indices of the checkpoints that no rule keeps, in their order. Kept are, of those that have the
/// metric: the best `keep_best`, the newest, and all that are not older than the limit. A value
/// that is not finite is worse than all that are; of equal values the newer checkpoint is better,
/// of equally new ones that of the later epoch, then that whose name comes later. A checkpoint
/// without the metric is always kept. Times are nanoseconds since 1970.
std::vector<std::size_t> superfluous_checkpoints(const std::vector<Checkpoint>& checkpoints,
                                                 const RetentionRules& rules, std::int64_t now_ns);

/// Age in days; negative for a time that is still to come.
double age_in_days(const Checkpoint& checkpoint, std::int64_t now_ns);

}  // namespace memduel
