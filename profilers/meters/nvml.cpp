#include "meters/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/metric_catalogue.h"
#include "nvml_library.h"
#include "util/error.h"

namespace memduel {
namespace {

constexpr const char* kInstallDriver = "install the NVIDIA driver, which brings the library";

struct Refusal {
  int code;
  const char* what;
  const char* advice;
};

constexpr Refusal kRefusals[] = {
    {nvml::kDriverNotLoaded, "no driver: NVIDIA's kernel module is not loaded",
     "load it (modprobe nvidia); start a container with GPU access"},
    {nvml::kVersionMismatch, "the driver and its library have different versions",
     "reboot after an update of the driver, or reload its kernel module"},
    {nvml::kNoPermission, "no permission to use the driver",
     "run as a user who may read /dev/nvidiactl"},
    {nvml::kOperatingSystem, "the operating system denies this process access to the GPU",
     "allow its cgroup to use /dev/nvidia*"},
    {nvml::kLibraryNotFound, "the driver's library is incomplete", kInstallDriver},
    {nvml::kGpuIsLost, "the GPU is lost: it fell off the bus", "reset or reboot the machine"},
    {nvml::kNotSupported, "the driver does not support it on this GPU", "update the driver"},
};

[[noreturn]] void refuse(const std::string& library, const std::string& function, int code) {
  const auto* const known =
      std::find_if(std::begin(kRefusals), std::end(kRefusals),
                   [&](const Refusal& refusal) { return refusal.code == code; });
  const bool is_known = known != std::end(kRefusals);
  throw Error(
      ExitCode::cannot_measure,
      fmt::format("{} ({} returned {})", is_known ? known->what : "NVML failed", function, code),
      library, is_known ? known->advice : "see nvidia-smi");
}

}  // namespace

struct Nvml::Library {
  explicit Library(const std::string& file)
      : name(file), handle(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr)
      throw Error(ExitCode::cannot_measure, fmt::format("no GPU: {}", dlerror()), {},
                  kInstallDriver);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (shutdown != nullptr && initialised) shutdown();
    dlclose(handle);
  }

  /// Null where this library has no such function.
  template <class Function>
  void find(const char* function, Function*& into) const {
    into = reinterpret_cast<Function*>(dlsym(handle, function));
  }

  template <class Function>
  void need(const char* function, Function*& into) const {
    find(function, into);
    if (into == nullptr)
      throw Error(ExitCode::cannot_measure, fmt::format("it has no {}", function), name,
                  "update the NVIDIA driver");
  }

  std::string name;
  void* handle;
  bool initialised = false;
  std::vector<nvml::Device> devices;
  int (*shutdown)() = nullptr;
  int (*device_name)(nvml::Device, char*, unsigned int) = nullptr;
  int (*driver_version)(char*, unsigned int) = nullptr;
  int (*memory)(nvml::Device, nvml::Memory*) = nullptr;
  int (*memory_v2)(nvml::Device, nvml::MemoryV2*) = nullptr;
  int (*processes)(nvml::Device, unsigned int*, nvml::ProcessInfo*) = nullptr;
};

namespace {

using Processes = int (*)(nvml::Device, unsigned int*, nvml::ProcessInfo*);

/// More may start between two calls.
std::vector<nvml::ProcessInfo> list_processes(Processes list, nvml::Device device) {
  std::vector<nvml::ProcessInfo> infos(16);
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto count = static_cast<unsigned int>(infos.size());
    const int code = list(device, &count, infos.data());
    if (code == nvml::kInsufficientSize) {
      infos.resize(std::max<std::size_t>(count, infos.size()) * 2);
      continue;
    }
    infos.resize(code == nvml::kSuccess ? count : 0);
    return infos;
  }
  return {};
}

}  // namespace

Nvml::Nvml(const std::string& library) : library_(std::make_unique<Library>(library)) {
  int (*init)() = nullptr;
  int (*count_devices)(unsigned int*) = nullptr;
  int (*device_at)(unsigned int, nvml::Device*) = nullptr;
  library_->need("nvmlInit_v2", init);
  library_->need("nvmlShutdown", library_->shutdown);
  library_->need("nvmlDeviceGetCount_v2", count_devices);
  library_->need("nvmlDeviceGetHandleByIndex_v2", device_at);
  library_->need("nvmlDeviceGetMemoryInfo", library_->memory);
  library_->find("nvmlDeviceGetMemoryInfo_v2", library_->memory_v2);
  library_->find("nvmlDeviceGetComputeRunningProcesses_v3", library_->processes);
  if (library_->processes == nullptr)
    library_->find("nvmlDeviceGetComputeRunningProcesses_v2", library_->processes);
  library_->find("nvmlDeviceGetName", library_->device_name);
  library_->find("nvmlSystemGetDriverVersion", library_->driver_version);

  if (const int code = init(); code != nvml::kSuccess) refuse(library, "nvmlInit_v2", code);
  library_->initialised = true;
  unsigned int count = 0;
  if (const int code = count_devices(&count); code != nvml::kSuccess)
    refuse(library, "nvmlDeviceGetCount_v2", code);
  for (unsigned int index = 0; index < count; ++index) {
    nvml::Device device = nullptr;
    if (const int code = device_at(index, &device); code != nvml::kSuccess)
      refuse(library, "nvmlDeviceGetHandleByIndex_v2", code);
    library_->devices.push_back(device);
  }
  if (count == 0)
    throw Error(ExitCode::cannot_measure, "no GPU: the driver runs, but has no device", library,
                "see nvidia-smi; start a container with GPU access");
}

Nvml::~Nvml() = default;

std::size_t Nvml::devices() const {
  return library_->devices.size();
}

std::string Nvml::describe() const {
  constexpr unsigned int kNameSize = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE, the larger of both
  std::array<char, kNameSize + 1> name{};
  std::array<char, kNameSize + 1> version{};
  if (library_->device_name != nullptr)
    library_->device_name(library_->devices.front(), name.data(), kNameSize);
  if (library_->driver_version != nullptr) library_->driver_version(version.data(), kNameSize);
  return fmt::format("{}{}, driver {}", devices() == 1 ? "" : fmt::format("{} x ", devices()),
                     name[0] == '\0' ? "unnamed GPU" : name.data(),
                     version[0] == '\0' ? "unknown" : version.data());
}

std::optional<std::int64_t> Nvml::used_bytes() const {
  std::int64_t sum = 0;
  for (nvml::Device device : library_->devices) {
    nvml::MemoryV2 memory{};
    memory.version = nvml::kMemoryV2;
    if (library_->memory_v2 != nullptr && library_->memory_v2(device, &memory) == nvml::kSuccess) {
      sum += static_cast<std::int64_t>(memory.used);
      continue;
    }
    nvml::Memory older{};
    if (library_->memory(device, &older) != nvml::kSuccess) return std::nullopt;
    sum += static_cast<std::int64_t>(older.used);
  }
  return sum;
}

std::map<pid_t, std::int64_t> Nvml::used_bytes_by_process() const {
  std::map<pid_t, std::int64_t> used;
  if (library_->processes == nullptr) return used;
  for (nvml::Device device : library_->devices)
    for (const nvml::ProcessInfo& info : list_processes(library_->processes, device))
      if (info.used_bytes != nvml::kNotAvailable)
        used[static_cast<pid_t>(info.pid)] += static_cast<std::int64_t>(info.used_bytes);
  return used;
}

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
    if (found != used.end()) add_up(sum, found->second);
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
