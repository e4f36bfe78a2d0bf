// Device memory of NVIDIA GPUs as the driver counts it, by its management library, and sampled by a
// meter: of each role where the driver tells processes apart, of the whole device as `all`. The
// library is loaded when asked for, so that memduel needs neither its header nor a GPU to be built.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "meters/meter.h"
#include "model/metric_catalogue.h"

namespace memduel {

/// What the driver installs; the loader finds it, LD_LIBRARY_PATH included.
inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

class Nvml {
 public:
  /// Loads and initialises the library. Throws Error(cannot_measure) saying whether there is no
  /// driver, one that does not answer (with NVML's code), or no GPU.
  explicit Nvml(const std::string& library = kNvmlLibrary);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  [[nodiscard]] std::size_t devices() const;

  /// "NVIDIA H100 80GB HBM3, driver 580.159.04"; of several GPUs "2 x …".
  [[nodiscard]] std::string describe() const;

  /// Memory in use on all devices, by whatever program: contexts, kernels and what allocators
  /// reserve. What the driver sets aside for itself is in it only where the driver is older than
  /// 510. Absent when a device does not answer.
  [[nodiscard]] std::optional<std::int64_t> used_bytes() const;

  /// Processes with a compute context, and what each has in use on all devices. Those of other PID
  /// namespaces have numbers of their own or are missing; empty where the driver does not say.
  [[nodiscard]] std::map<pid_t, std::int64_t> used_bytes_by_process() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

/// kGpuUsed is its series, and the value at marks.
class NvmlMeter : public Meter {
 public:
  /// Throws Error(cannot_measure) where there is no GPU to ask about (Nvml).
  explicit NvmlMeter(const std::string& library = kNvmlLibrary) : nvml_(library) {}

  void add(const std::string& role, pid_t pid) override;
  /// At most every 10 ms: the driver answers in a tenth of one, and from a lock of its own.
  bool sample(std::int64_t now_ns) override;
  /// gpu_used_bytes, where the driver names one of the role's processes.
  MeterReading read(const std::string& role) override;
  Metrics read_costly(const std::string& /*role*/) override { return {}; }
  /// `all` is what all programs use on all devices, not the sum of the roles: contexts that belong
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
