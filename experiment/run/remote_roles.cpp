#include "experiment/run/remote_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/metric_catalogue.h"
#include "experiment/plan/environment.h"
#include "experiment/plan/spread_roles.h"
#include "experiment/store/run_lock.h"
#include "experiment/store/store.h"

namespace memduel {
namespace {

/// The clocks of two machines began at different times.
void shift(RoleData& role, std::int64_t ns) {
  for (RoundData& round : role.rounds.edit()) {
    round.begin_ns += ns;
    round.end_ns += ns;
    for (PhaseData& phase : round.phases) {
      phase.begin_ns += ns;
      phase.end_ns += ns;
    }
  }
  for (OutsideRounds& part : role.outside_rounds) {
    part.begin_ns += ns;
    part.end_ns += ns;
  }
  for (Series& series : role.series.edit())
    for (std::int64_t& t : series.t_ns) t += ns;
}

/// srun ends before the watch that it was told to end has written what it knows.
RunData finished_run(const std::filesystem::path& directory) {
  constexpr std::chrono::milliseconds kPause{100};
  constexpr int kLooks = 100;
  for (int look = 1; is_in_use(directory) && look < kLooks; ++look)
    std::this_thread::sleep_for(kPause);
  RunData run = read_run(directory, WithSeries::yes);
  if (run.trials.empty()) throw Error(ExitCode::cannot_measure, "is not finished");
  return run;
}

/// Throws Error naming what is wrong with it.
void take(const ProcessSpec& process, TrialRun& run) {
  const RemoteRole& remote = *process.remote;
  const RunData measured = finished_run(remote.run);
  const auto text = [&](const char* key) {
    const auto found = measured.environment.find(key);
    return found != measured.environment.end() && found->is_string() ? found->get<std::string>()
                                                                     : std::string();
  };
  if (text("node_token") != remote.token)
    throw Error(ExitCode::cannot_measure, "carries the token of another trial");
  const std::string version = memduel_version();
  if (text("memduel") != version)
    throw Error(ExitCode::cannot_measure,
                fmt::format("is of memduel {}, and this one is {}", text("memduel"), version));
  const auto& roles = measured.trials.front().roles;
  const auto found = std::ranges::find(roles, "command", &RoleData::role);
  const auto own = std::ranges::find(run.trial.roles, process.role, &RoleData::role);
  if (found == roles.end() || own == run.trial.roles.end())
    throw Error(ExitCode::cannot_measure, "has no process");
  RoleData role = *found;
  role.role = process.role;
  shift(role, run.trial.begin_ns - measured.trials.front().begin_ns);
  *own = std::move(role);
}

}  // namespace

void take_remote_roles(const TrialPlan& plan, TrialRun& run) {
  std::set<std::string> nodes;
  for (const ProcessSpec& process : plan.processes) {
    if (!process.remote || run.trial.status != TrialStatus::ok) continue;
    nodes.insert(process.remote->node);
    try {
      take(process, run);
    } catch (const std::exception& problem) {
      run.trial.status = TrialStatus::failed;
      run.trial.failure = fmt::format("what was measured of {} on node {} {}", process.role,
                                      process.remote->node, problem.what());
    }
  }
  if (nodes.empty()) return;
  std::erase_if(run.trial.roles, [](const RoleData& role) { return role.role == kTree; });
  run.limitations.push_back(
      {"roles_on_other_nodes",
       fmt::format("roles ran on {} other nodes: there is no whole job of one machine, and "
                   "their heap is not counted",
                   nodes.size()),
       "each role has its own numbers"});
}

}  // namespace memduel
