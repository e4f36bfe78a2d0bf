#include "meters/meter_registry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "heap_meter.h"
#include "memory/kernel_files.h"
#include "memory/proc_files.h"
#include "meters/cgroup.h"
#include "meters/nvml.h"
#include "meters/procfs_meter.h"
#include "model/metric_catalogue.h"
#include "profile/recording.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

namespace memduel {
namespace {

Capability readable(const char* name, bool parsed, int error, const char* advice) {
  const std::string file = std::string("/proc/PID/") + name;
  if (parsed) return {name, true, file + " can be read", {}};
  return {name, false, file + ": " + describe_proc_error(error), advice};
}

std::optional<std::int64_t> own_peak() {
  const auto memory = process_memory(kSelf);
  return memory ? memory->peak_rss : std::nullopt;
}

/// Touches 8 MiB, gives them back and asks whether the peak then falls by most of it.
Capability peak_reset() {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  const char* advice =
      "a kernel with CONFIG_PROC_PAGE_MONITOR; without it peaks of rounds are sampled";
  void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return {"peak_reset", false, std::strerror(errno), advice};
  std::memset(block, 1, kBytes);
  munmap(block, kBytes);
  const auto before = own_peak();
  const Descriptor file(open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  if (!file || write(file.get(), "5", 1) != 1)
    return {"peak_reset", false, std::string("/proc/self/clear_refs: ") + std::strerror(errno),
            advice};
  const auto after = own_peak();
  if (!before || !after) return {"peak_reset", false, "the kernel reports no VmHWM", advice};
  if (*before - *after < static_cast<std::int64_t>(kBytes / 2)) {
    return {"peak_reset", false, "writing to clear_refs does not lower VmHWM", advice};
  }
  return {"peak_reset", true, "writing 5 to /proc/self/clear_refs resets VmHWM", {}};
}

}  // namespace

std::vector<Capability> meter_capabilities() {
  const auto pages = process_pages(kSelf);
  const auto pss = ProcFile(kSelf, "smaps_rollup").read(parse_pss);
  return {
      readable("statm", pages && pages->resident > 0, pages.error,
               "mount /proc without hidepid, or run as the same user"),
      readable("smaps_rollup", pss.has_value(), pss.error,
               "Linux 4.14 or later with CONFIG_PROC_PAGE_MONITOR; without it there is no PSS"),
      peak_reset(),
  };
}

namespace {

Availability procfs_works() {
  for (const Capability& capability : meter_capabilities()) {
    if (capability.name == "statm" && !capability.ok) {
      return {false, capability.detail + "; " + capability.advice};
    }
  }
  return {true, {}};
}

Availability worker_is_here() {
  if (is_there(program_beside("memduel-worker"))) return {true, {}};
  return {false, "memduel-worker is not built here; build the release preset"};
}

/// Tried on a group of our own.
Availability cgroup_works() {
  const TrialCgroup group = create_cgroup(fmt::format("memduel-list-{}", getpid()));
  const bool charges = charged_bytes_of(group.memory_dir).has_value();
  const CgroupParts parts = charged_parts_of(group.memory_dir);
  remove_cgroup(group);
  if (!charges) {
    return {false,
            "no group with memory accounting can be made here; run as root, or in a delegated "
            "group: systemd-run --user --scope -p Delegate=yes"};
  }
  std::vector<std::string> kinds;
  if (parts.anon) kinds.emplace_back("anon");
  if (parts.file) kinds.emplace_back("file");
  if (parts.shmem) kinds.emplace_back("shmem");
  if (parts.kernel) kinds.emplace_back("kernel");
  // Where both are mounted, memory accounting is with the hierarchy that has it.
  const char* version = group.memory_dir == group.kill_dir ? "2" : "1";
  return {true, {}, fmt::format("version {}, parts: {}", version, fmt::join(kinds, ", "))};
}

Availability gpu_is_here() {
  try {
    const Nvml nvml;
    return {true, {}};
  } catch (const Error& error) {
    return {false, std::string(error.what()) + "; " + error.advice()};
  }
}

Availability worker_and_gpu_are_here() {
  const Availability worker = worker_is_here();
  return worker.works ? gpu_is_here() : worker;
}

std::vector<MeterEntry> make_table() {
  return {
      {"procfs", MeterKind::outside,
       "RSS sampled from statm, CPU time, page faults, swap and PSS; peaks from VmHWM",
       "/proc of the measured processes", metrics_of_meter("procfs"), procfs_works,
       [](const MeterSite&) {
         return std::unique_ptr<Meter>(std::make_unique<ProcfsMeter>(
             ThinnedSeries::kEverySample, ProcfsMeter::ProcessPeaks::yes));
       }},
      {"heap", MeterKind::outside,
       "exact counts of heap bytes and allocations, from a preloaded library; no stacks",
       "dynamically linked programs", metrics_of_meter("heap"), recorder_works,
       [](const MeterSite& site) {
         return std::unique_ptr<Meter>(std::make_unique<HeapMeter>(site));
       }},
      {"cgroup", MeterKind::outside,
       "memory charged to the trial's cgroup, version 1 or 2; read in every trial that has a "
       "meter",
       "root, or a delegated cgroup, with the memory controller", metrics_of_meter("cgroup"),
       cgroup_works, nullptr},
      {"allocator", MeterKind::inside,
       "the allocator's own statistics, at markers: glibc, jemalloc, tcmalloc, mimalloc",
       "memduel-worker; see docs/allocators.md for what each allocator reports",
       metrics_of_meter("allocator"), worker_is_here, nullptr},
      {"torch", MeterKind::inside, "bytes of CPU tensors, counted by an allocator wrapper",
       "memduel-worker with LibTorch", metrics_of_meter("torch"), worker_is_here, nullptr},
      {"cuda", MeterKind::inside,
       "LibTorch's caching allocator: bytes of tensors and bytes reserved on the GPU, at markers",
       "memduel-worker with a LibTorch built for CUDA, a GPU, workload.device cuda",
       metrics_of_meter("cuda"), worker_and_gpu_are_here, nullptr},
      {"nvml", MeterKind::outside,
       "GPU memory as reported by the driver, sampled; per process if the driver reports it",
       "an NVIDIA GPU with its driver", metrics_of_meter("nvml"), gpu_is_here,
       [](const MeterSite&) { return std::unique_ptr<Meter>(std::make_unique<NvmlMeter>()); }},
  };
}

}  // namespace

const std::vector<MeterEntry>& meters() {
  static const std::vector<MeterEntry> table = make_table();
  return table;
}

const MeterEntry& meter_named(const std::string& name) {
  const auto& table = meters();
  const auto found = std::ranges::find(table, name, &MeterEntry::name);
  if (found != table.end()) return *found;
  std::vector<std::string> names;
  for (const MeterEntry& entry : table) names.push_back(entry.name);
  throw Error(ExitCode::usage, "there is no meter \"" + name + "\"", {},
              nearest_advice(name, names, "see memduel list meters"));
}

}  // namespace memduel
