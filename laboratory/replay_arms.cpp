#include "laboratory/replay_arms.h"

#include <fmt/format.h>

#include "base/error.h"
#include "laboratory/catalogue.h"
#include "laboratory/reserved_environment.h"

namespace memduel {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& chosen, const Unmet& unmet, const std::string& place) {
  throw Error(ExitCode::usage,
              fmt::format("found {} with {}, expected {}", chosen, unmet.found, unmet.needed),
              place + ".optimizations", "no worker runs the two together");
}

/// A swarm's aggregators have no global model of the round before.
void refuse_swarm(const ArmSettings& settings, const std::string& place) {
  if (settings.workload.value("topology", "star") != "swarm") return;
  const auto unmet = find_unmet({{"aggregate", {"collect_all", "in_time"}},
                                 {"workload.send", {"weights"}},
                                 {"workload.on_lost_client", {"fail"}}},
                                settings);
  if (unmet) refuse("workload.topology=swarm", *unmet, place);
}

}  // namespace

json resolve_replay_arm(const json& arm, const json& workload, const std::string& place) {
  json resolved = arm;
  const json own = with_environment_switches(arm.at("own"), arm.at("env"), place);
  json switches = arm.at("optimizations");
  switches.update(own);
  resolved["optimizations"] = resolve_optimizations(laboratory_catalog(), workload.at("kind"),
                                                    std::nullopt, switches, place);
  set_environment_allocator(resolved, place);
  refuse_reserved_environment(resolved["optimizations"], arm.at("env"), place);
  const ArmSettings settings{resolved["optimizations"], workload};
  if (const auto clash = find_clash(laboratory_catalog(), settings, own))
    refuse(clash->chosen, clash->unmet, place);
  refuse_swarm(settings, place);
  return resolved;
}

}  // namespace memduel
