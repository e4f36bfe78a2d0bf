// Programs that failed in trials that count, because their exit statuses are accepted.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "util/text.h"
#include "verdict/questions.h"

namespace memduel {
namespace {

/// Of the processes of a trial, without 0.
std::set<int> failures_of(const TrialData& trial) {
  std::set<int> statuses;
  for (const RoleData& role : trial.roles)
    if (role.exit_status.value_or(0) != 0) statuses.insert(*role.exit_status);
  return statuses;
}

}  // namespace

std::vector<Note> accepted_exit_statuses(const Results& results) {
  std::vector<Note> notes;
  for (const ArmSummary& arm : results.arms) {
    std::set<int> statuses;
    std::size_t failed = 0;
    std::size_t all = 0;
    for (const TrialData& trial : results.trials) {
      if (!trial.counts() || trial.arm != arm.name) continue;
      ++all;
      const std::set<int> own = failures_of(trial);
      if (!own.empty()) ++failed;
      statuses.insert(own.begin(), own.end());
    }
    if (failed == 0) continue;
    notes.push_back(
        {"exit_status_accepted",
         fmt::format("{} exited with status {} in {} of {}, which counts as success", arm.name,
                     fmt::join(statuses, ", "), failed, format_count(all, "trial")),
         "check that it did the work that you compare"});
  }
  return notes;
}

}  // namespace memduel
