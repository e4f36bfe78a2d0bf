#include "laboratory/replay_facts.h"

#include "base/metric_catalogue.h"
#include "laboratory/replay_devices.h"

namespace memduel {
namespace {

using nlohmann::json;

/// Of a training: what a client holds beside its model, on the device that it trains on.
HeldModel held_by_clients(const json& workload, const std::string& metric) {
  if (workload.at("kind") == "state-dict") return {"client_max", metric, 0, ""};
  const json& optimizer = workload.value("optimizer", json::object());
  if (optimizer.value("name", "adam") == "sgd") return {"client_max", metric, 1, "gradients"};
  return {"client_max", metric, 3, "gradients and Adam's two moments"};
}

JobFacts facts_of_rounds(const json& workload) {
  JobFacts job;
  job.groups = {{"client", workload.at("clients").get<int>()}};
  job.default_gates = {{"server", kPeakRssAboveIdle},
                       {"client_max", kPeakRssAboveIdle},
                       {"server", kRssGrowthPerRound}};
  const auto metric_of = [&](const char* role) {
    return is_gpu(device_of_role(workload, role)) ? kPeakGpuAllocated : kPeakRssAboveIdle;
  };
  job.held_models = {{"server", metric_of("server"), 0, ""},
                     held_by_clients(workload, metric_of("client"))};
  return job;
}

JobFacts facts_of_one(const std::string& role, bool grows) {
  JobFacts job;
  job.default_gates = {{role, kPeakRssAboveIdle}};
  if (grows) job.default_gates.push_back({role, kRssGrowthPerRound});
  return job;
}

}  // namespace

JobFacts replay_facts(const json& workload) {
  const std::string kind = workload.at("kind");
  if (kind == "simulation") return facts_of_one("simulator", true);
  if (kind == "eeg") return facts_of_one("trainer", true);
  // Its stages differ, so that growth over all rounds says nothing.
  if (kind == "graph") return facts_of_one("trainer", false);
  return facts_of_rounds(workload);
}

}  // namespace memduel
