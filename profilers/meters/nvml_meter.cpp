#include "profilers/meters/nvml_meter.h"

#include <algorithm>

#include "base/metric_catalogue.h"

namespace memduel {
namespace {

constexpr std::int64_t kGpuLookInterval = 10'000'000;

}  // namespace

void NvmlMeter::add(const std::string& role, pid_t pid) {
  auto found = std::ranges::find(roles_, role, &Role::name);
  if (found == roles_.end()) {
    found = roles_.insert(roles_.end(), Role{role, {}});
    of_roles_.add_role(role);
  }
  for (Role& each : roles_) each.pids.erase(pid);
  found->pids.insert(pid);
}

std::optional<std::int64_t> NvmlMeter::used_by(const Role& role,
                                               const std::map<pid_t, std::int64_t>& used) {
  std::optional<std::int64_t> sum;
  for (const pid_t pid : role.pids) {
    const auto found = used.find(pid);
    if (found != used.end()) sum = sum.value_or(0) + found->second;
  }
  return sum;
}

bool NvmlMeter::sample(std::int64_t now_ns) {
  if (now_ns < look_again_ns_) return false;
  look_again_ns_ = now_ns + kGpuLookInterval;
  if (const auto used = nvml_.used_bytes()) {
    of_devices_.t_ns.push_back(now_ns);
    of_devices_.values.push_back(*used);
  }
  const auto used = nvml_.used_bytes_by_process();
  std::vector<std::optional<std::int64_t>> values;
  for (const Role& role : roles_) values.push_back(used_by(role, used));
  return of_roles_.add(now_ns, values);
}

MeterReading NvmlMeter::read(const std::string& role) {
  MeterReading reading;
  const auto found = std::ranges::find(roles_, role, &Role::name);
  if (found == roles_.end()) return reading;
  if (const auto used = used_by(*found, nvml_.used_bytes_by_process()))
    reading.values[kGpuUsed] = static_cast<double>(*used);
  return reading;
}

std::vector<std::pair<std::string, Series>> NvmlMeter::series() const {
  auto all = of_roles_.series();
  std::erase_if(all, [](const auto& each) { return each.first == kTree; });
  if (!of_devices_.t_ns.empty()) all.emplace_back(kTree, of_devices_);
  return all;
}

}  // namespace memduel
