#include "profilers/meters/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/installed.h"
#include "base/metric_catalogue.h"
#include "base/text.h"
#include "memory/cgroup_memory.h"
#include "profilers/meters/capabilities.h"
#include "profilers/meters/cgroup.h"
#include "profilers/meters/heap_meter.h"
#include "profilers/meters/nvml_meter.h"
#include "profilers/meters/procfs_meter.h"
#include "profilers/profile/capture/preload.h"

namespace memduel {
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
  std::error_code unreadable;
  if (std::filesystem::exists(program_beside("memduel-worker"), unreadable)) return {true, {}};
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
       "memory charged to the trial's control group, version 1 or 2; read in every trial that has "
       "a meter",
       "root, or a delegated group, with the memory controller", metrics_of_meter("cgroup"),
       cgroup_works, nullptr},
      {"allocator", MeterKind::inside,
       "the allocator's own account of its heap, at marks: glibc, jemalloc, tcmalloc, mimalloc",
       "memduel-worker; which allocator gives what: docs/allocators.md",
       metrics_of_meter("allocator"), worker_is_here, nullptr},
      {"torch", MeterKind::inside, "bytes of CPU tensors, counted by an allocator wrapper",
       "memduel-worker with LibTorch", metrics_of_meter("torch"), worker_is_here, nullptr},
      {"cuda", MeterKind::inside,
       "LibTorch's caching allocator: tensors' bytes on the GPU, what it holds for them, at marks",
       "memduel-worker with a LibTorch built for CUDA, a GPU, workload.device cuda",
       metrics_of_meter("cuda"), worker_and_gpu_are_here, nullptr},
      {"nvml", MeterKind::outside,
       "device memory as the driver counts it, sampled; of each process where it tells",
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
