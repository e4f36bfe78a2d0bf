#include "laboratory/replay_arms.h"

#include "laboratory/catalogue.h"
#include "laboratory/reserved_environment.h"
#include "laboratory/switch_rules.h"

namespace memduel {

using nlohmann::json;

json resolve_replay_arm(const json& arm, const json& workload, const std::string& place) {
  json resolved = arm;
  const json own = with_environment_switches(arm.at("own"), arm.at("env"), place);
  json switches = arm.at("optimizations");
  switches.update(own);
  resolved["optimizations"] = resolve_optimizations(laboratory_catalog(), workload.at("kind"),
                                                    std::nullopt, switches, place);
  set_environment_allocator(resolved, place);
  refuse_reserved_environment(resolved["optimizations"], arm.at("env"), place);
  refuse_clashing_switches(resolved["optimizations"], workload, own, place);
  return resolved;
}

}  // namespace memduel
