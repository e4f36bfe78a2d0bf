#include "experiment/config/job_facts_of.h"

#include <algorithm>

#include "base/metric_catalogue.h"
#include "experiment/config/config_command.h"
#include "experiment/config/declared_metrics.h"
#include "experiment/config/job.h"

namespace memduel {

using nlohmann::json;

namespace {

bool is_spread(const json& workload) {
  return std::ranges::any_of(workload.at("processes"), [](const json& process) {
    return are_elsewhere(nodes_of_process(process));
  });
}

/// Where no machine has the whole job: each role that is alone, and the largest of each group.
std::vector<RoleMetric> gates_of_roles(const JobFacts& job) {
  std::vector<RoleMetric> gates;
  for (const std::string& role : job.roles)
    if (!is_member(job, role)) gates.push_back({role, kPeakRss});
  for (const RoleGroup& group : job.groups) gates.push_back({group.largest(), kPeakRss});
  return gates;
}

}  // namespace

JobFacts job_facts_of(const json& workload) {
  JobFacts job;
  for (const json& process : workload.at("processes")) {
    const auto roles = roles_of_process(process);
    job.roles.insert(job.roles.end(), roles.begin(), roles.end());
    if (roles.size() > 1)
      job.groups.push_back({process.at("role"), static_cast<int>(roles.size())});
    if (job.reference.empty() || process.at("role") == workload.value("reference", json()))
      job.reference = roles.front();
  }
  for (const json& match : workload.value("match", json::array()))
    job.roles.push_back(match.at("role"));
  job.better = declared_metrics(workload);
  if (is_spread(workload)) job.default_gates = gates_of_roles(job);
  return job;
}

}  // namespace memduel
