#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

#include "figures.h"
#include "memduel/memory.h"
#include "memory/kernel_files.h"
#include "memory/memory_limit.h"
#include "memory/proc_files.h"

namespace memduel {
namespace {

/// Ticks of all CPUs since the machine's start.
struct CpuTicks {
  std::int64_t all = 0;
  std::int64_t idle = 0;  ///< with waiting for disks
};

/// Of the first line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal …".
std::optional<CpuTicks> cpu_ticks(const std::filesystem::path& root) {
  const std::string text = text_of(root / "proc/stat");
  if (!text.starts_with("cpu ")) return std::nullopt;
  std::array<std::int64_t, 8> ticks{};
  std::size_t at = 3;
  for (std::int64_t& count : ticks) {
    at = text.find_first_not_of(' ', at);
    if (at == std::string::npos) return std::nullopt;
    const auto value = number_in(std::string_view(text).substr(at));
    if (!value) return std::nullopt;
    count = *value;
    at = text.find_first_of(" \n", at);
  }
  return CpuTicks{std::accumulate(ticks.begin(), ticks.end(), std::int64_t{0}),
                  ticks[3] + ticks[4]};
}

std::optional<double> watch_cpus(const MemoryInfoOptions& options) {
  if (options.cpu_interval <= std::chrono::milliseconds(0)) return std::nullopt;
  const auto before = cpu_ticks(options.root);
  std::this_thread::sleep_for(options.cpu_interval);
  const auto after = cpu_ticks(options.root);
  if (!before || !after || after->all <= before->all) return std::nullopt;
  const auto all = static_cast<double>(after->all - before->all);
  const auto idle = static_cast<double>(after->idle - before->idle);
  return std::clamp(100 * (all - idle) / all, 0.0, 100.0);
}

void read_process(MemoryInfo& info, const MemoryInfoOptions& options) {
  const std::string status = text_of(options.root / "proc/self/status");
  const ProcessMemory memory = parse_status(status).value_or(ProcessMemory{});
  info.rss_bytes = memory.rss;
  info.peak_rss_bytes = memory.peak_rss;
  info.rss_anon_bytes = memory.rss_anon;
  info.rss_file_bytes = memory.rss_file;
  info.rss_shmem_bytes = memory.rss_shmem;
  info.swapped_bytes = memory.swapped;
  if (options.pss) info.pss_bytes = parse_pss(text_of(options.root / "proc/self/smaps_rollup"));
  info.allocator = allocator_type();
  info.heap = allocator_state();
}

void read_machine(MemoryInfo& info, const std::filesystem::path& root) {
  const std::string meminfo = text_of(root / "proc/meminfo");
  info.ram_total_bytes = sized_field(meminfo, "MemTotal");
  info.ram_available_bytes = sized_field(meminfo, "MemAvailable");
  info.swap_total_bytes = sized_field(meminfo, "SwapTotal");
  info.swap_free_bytes = sized_field(meminfo, "SwapFree");
}

void read_limit(MemoryInfo& info, const std::filesystem::path& root) {
  info.limit = memory_limit_of(std::nullopt, root);
  if (info.limit) info.limit_used_bytes = used_bytes_of(*info.limit, root);
  info.stall = memory_stall(root);
}

std::optional<double> share(std::optional<std::int64_t> part, std::optional<std::int64_t> whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return 100 * static_cast<double>(*part) / static_cast<double>(*whole);
}

std::optional<double> as_number(std::optional<std::int64_t> value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> MemoryInfo::ram_used_bytes() const {
  if (!ram_total_bytes || !ram_available_bytes) return std::nullopt;
  return *ram_total_bytes - *ram_available_bytes;
}

std::optional<double> MemoryInfo::ram_percent() const {
  return share(ram_used_bytes(), ram_total_bytes);
}

std::optional<double> MemoryInfo::limit_percent() const {
  return limit ? share(limit_used_bytes, limit->bytes) : std::nullopt;
}

std::optional<double> MemoryInfo::device_percent() const {
  return device ? share(device->used(), device->total) : std::nullopt;
}

MemoryInfo::Named MemoryInfo::numbers() const {
  Named named = {
      {"cpu_percent", cpu_percent},
      {"rss_bytes", as_number(rss_bytes)},
      {"peak_rss_bytes", as_number(peak_rss_bytes)},
      {"rss_anon_bytes", as_number(rss_anon_bytes)},
      {"rss_file_bytes", as_number(rss_file_bytes)},
      {"rss_shmem_bytes", as_number(rss_shmem_bytes)},
      {"swapped_bytes", as_number(swapped_bytes)},
      {"pss_bytes", as_number(pss_bytes)},
      {"limit_bytes", limit ? std::optional(static_cast<double>(limit->bytes)) : std::nullopt},
      {"limit_used_bytes", as_number(limit_used_bytes)},
      {"limit_percent", limit_percent()},
      {"ram_total_bytes", as_number(ram_total_bytes)},
      {"ram_available_bytes", as_number(ram_available_bytes)},
      {"ram_used_bytes", as_number(ram_used_bytes())},
      {"ram_percent", ram_percent()},
      {"swap_total_bytes", as_number(swap_total_bytes)},
      {"swap_free_bytes", as_number(swap_free_bytes)},
      {"stall_some_percent", stall ? std::optional(stall->some_percent) : std::nullopt},
      {"stall_full_percent", stall ? std::optional(stall->full_percent) : std::nullopt}};
  for (const auto& [name, value] : heap.metrics()) named.emplace_back(name, as_number(value));
  const auto of_device = [&](auto number) {
    return device ? std::optional(static_cast<double>(number(*device))) : std::nullopt;
  };
  named.emplace_back("gpu_allocated_bytes",
                     of_device([](const DeviceBytes& bytes) { return bytes.allocated; }));
  named.emplace_back("gpu_reserved_bytes",
                     of_device([](const DeviceBytes& bytes) { return bytes.reserved; }));
  named.emplace_back("gpu_free_bytes",
                     of_device([](const DeviceBytes& bytes) { return bytes.free; }));
  named.emplace_back("gpu_total_bytes",
                     of_device([](const DeviceBytes& bytes) { return bytes.total; }));
  named.emplace_back("gpu_used_bytes",
                     of_device([](const DeviceBytes& bytes) { return bytes.used(); }));
  named.emplace_back("gpu_percent", device_percent());
  return named;
}

MemoryInfo memory_info(const MemoryInfoOptions& options) noexcept {
  MemoryInfo info;
  info.time = std::chrono::system_clock::now();
  try {
    info.cpu_percent = watch_cpus(options);
    read_process(info, options);
    read_machine(info, options.root);
    read_limit(info, options.root);
    if (options.device != nullptr) info.device = options.device->bytes();
  } catch (...) {  // a device that fails, or no memory for a text: the rest is absent
    info.device.reset();
  }
  return info;
}

std::string to_string(const MemoryInfo& info) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (info.rss_bytes) add("RSS " + mebibytes(*info.rss_bytes));
  if (info.pss_bytes) add("PSS " + mebibytes(*info.pss_bytes));
  if (info.limit && !info.limit->group.empty() && info.limit_percent())
    add(percentage(*info.limit_percent()) + " of " + mebibytes(info.limit->bytes) +
        " used (its cgroup)");
  if (info.ram_percent())
    add("RAM " + percentage(*info.ram_percent()) + " (" + mebibytes(*info.ram_used_bytes()) + ")");
  if (info.device)
    add("GPU " + percentage(info.device_percent().value_or(0)) + " (" +
        mebibytes(info.device->reserved) + " reserved)");
  return text;
}

}  // namespace memduel
