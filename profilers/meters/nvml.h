// NVIDIA's management library: device memory as the driver counts it. Loaded when asked for, so
// that memduel needs neither its header nor a GPU to be built.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

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

}  // namespace memduel
