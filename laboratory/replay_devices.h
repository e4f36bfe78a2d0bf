// Where the roles of a replay compute.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace memduel {

/// cpu, cuda or cuda:N: the workload's one device, or what its object has for this role. @param
/// role as a job names it, without a number: server, client, simulator, trainer.
std::string device_of_role(const nlohmann::json& workload, const std::string& role);

/// Each once.
std::vector<std::string> devices_of(const nlohmann::json& workload);

/// The number of a GPU, 0 for cuda itself; only of a device that is one.
bool is_gpu(const std::string& device);
int gpu_number(const std::string& device);

}  // namespace memduel
