#include "workloads/fine_tuning/checkpoints.h"

#include <fmt/format.h>

#include <limits>

#include "training/checkpoint_name.h"
#include "training/prune.h"
#include "workloads/optimizations/serialize.h"

namespace memduel {

RetentionRules retention_rules(const FineTuningSwitches& switches) {
  RetentionRules rules;
  rules.keep_best = switches.checkpoint_retention == CheckpointRetention::all
                        ? std::numeric_limits<std::size_t>::max()
                        : static_cast<std::size_t>(switches.max_checkpoints);
  rules.older_than_days = switches.cleanup_older_than_days;
  if (switches.checkpoint_retention == CheckpointRetention::newest) rules.ranking = Ranking::by_age;
  return rules;
}

void save_best(const std::filesystem::path& directory, const State& state, int epoch,
               const Scores& scores, const FineTuningSwitches& switches) {
  const std::string name = make_checkpoint_name(
      {epoch, {{"acc", scores.accuracy}, {"f1", scores.f1}, {"kappa", scores.kappa}}});
  const SharedBytes bytes = encode_state(state);
  const Pruned pruned = save_checkpoint(directory, name, bytes->view(), retention_rules(switches));
  for (const std::string& failure : pruned.failures)
    fmt::print(stderr, "memduel-worker: {}\n", failure);
}

}  // namespace memduel
