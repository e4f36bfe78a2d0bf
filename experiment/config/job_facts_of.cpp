#include "experiment/config/job_facts_of.h"

#include "experiment/config/config_command.h"

namespace memduel {

using nlohmann::json;

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
  return job;
}

}  // namespace memduel
