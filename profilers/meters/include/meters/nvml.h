// Device memory from the driver, sampled: of each role where the driver tells processes apart, of
// the whole device as `tree`.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/metric_catalogue.h"
#include "profilers/meters/meter.h"
#include "profilers/meters/nvml.h"
#include "profilers/meters/sampled_sums.h"

namespace memduel {

/// kGpuUsed is its series, and the value at marks.
class NvmlMeter : public Meter {
 public:
  /// Throws Error(cannot_measure) where there is no GPU to ask about (nvml.h).
  explicit NvmlMeter(const std::string& library = kNvmlLibrary) : nvml_(library) {}

  void add(const std::string& role, pid_t pid) override;
  /// At most every 10 ms: the driver answers in a tenth of one, and from a lock of its own.
  bool sample(std::int64_t now_ns) override;
  /// gpu_used_bytes, where the driver names one of the role's processes.
  MeterReading read(const std::string& role) override;
  Metrics read_costly(const std::string& /*role*/) override { return {}; }
  /// `tree` is what all programs use on all devices, not the sum of the roles: contexts that belong
  /// to no listed process and the share of other programs are in it.
  [[nodiscard]] std::vector<std::pair<std::string, Series>> series() const override;

 private:
  struct Role {
    std::string name;
    std::set<pid_t> pids;
  };
  static std::optional<std::int64_t> used_by(const Role& role,
                                             const std::map<pid_t, std::int64_t>& used);

  Nvml nvml_;
  std::vector<Role> roles_;
  SampledSums of_roles_{kGpuUsed};
  Series of_devices_{kGpuUsed, {}, {}};
  std::int64_t look_again_ns_ = 0;
};

}  // namespace memduel
