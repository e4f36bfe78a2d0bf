#include "laboratory/expand.h"

#include <fmt/format.h>

#include "base/error.h"
#include "laboratory/catalogue.h"
#include "laboratory/replay_arms.h"
#include "laboratory/replay_facts.h"
#include "laboratory/replay_job.h"
#include "laboratory/replay_workload.h"
#include "laboratory/switch_rules.h"
#include "laboratory/worker_program.h"

namespace memduel {
namespace {

using nlohmann::json;

/// The one beside this program; where there is none, the first that an arm names for itself.
std::string worker_of(const json& arms) {
  if (find_worker()) return kWorkerProgram;
  for (const json& arm : arms)
    if (arm.at("env").contains(kWorkerVariable)) return arm.at("env").at(kWorkerVariable);
  return kWorkerProgram;
}

}  // namespace

json expand_replay(const json& request) {
  const std::string origin = request.value("origin", std::string("the request"));
  Replay replay{resolve_replay_workload(request.at("workload"), origin),
                request.value("meters", json{"procfs", "allocator", "torch"}),
                worker_of(request.at("arms"))};
  json arms = json::array();
  for (const json& arm : request.at("arms")) {
    const json resolved =
        resolve_replay_arm(arm, replay.workload, arm.value("place", std::string("arms")));
    json said = arm_of_job(replay, resolved);
    said["idle"] = idle_switches(resolved.at("optimizations"), replay.workload);
    arms.push_back(std::move(said));
  }
  const json facts = to_json(replay_facts(replay.workload));
  return {{"schema", "memduel.expanded/1"},
          {"workload", job_of_replay(replay)},
          {"arms", std::move(arms)},
          {"resolved", replay.workload},
          {"meters", replay.meters},
          {"groups", facts.at("groups")},
          {"default_gates", facts.at("default_gates")},
          {"held_models", facts.at("held_models")}};
}

json ask_laboratory(const Provider& /*provider*/, const std::string& word, const json& request) {
  if (word == "catalogue") return laboratory_catalogue();
  return word == "site" ? describe_site(request) : expand_replay(request);
}

}  // namespace memduel
