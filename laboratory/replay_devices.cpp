#include "laboratory/replay_devices.h"

#include <set>

namespace memduel {

using nlohmann::json;

std::string device_of_role(const json& workload, const std::string& role) {
  const json device = workload.value("device", json("cpu"));
  return device.is_object() ? device.value(role, "cpu") : device.get<std::string>();
}

std::vector<std::string> devices_of(const json& workload) {
  std::set<std::string> devices;
  for (const char* role : {"server", "client"}) devices.insert(device_of_role(workload, role));
  return {devices.begin(), devices.end()};
}

bool is_gpu(const std::string& device) {
  return device.starts_with("cuda");
}

int gpu_number(const std::string& device) {
  const std::size_t colon = device.find(':');
  return colon == std::string::npos ? 0 : std::stoi(device.substr(colon + 1));
}

}  // namespace memduel
