#include "model/metric_catalogue.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "util/bytes.h"

namespace memduel {
namespace {

/// How metrics of one kind are compared.
struct Kind {
  Unit unit;
  double relative_margin;
  double absolute_margin;
  bool exact = false;
  Scale scale = Scale::logarithm;
  Direction better = Direction::lower;
};

constexpr Kind kResident{Unit::bytes, 0.01, kMiB};
constexpr Kind kHeap{Unit::bytes, 0.005, 64 * kKiB, true};
/// Exact where a program maps little by little, else what is touched of it is sampled.
constexpr Kind kHeapAndMapped{Unit::bytes, 0.01, 64 * kKiB, true};
/// What an allocator keeps, which depends on threads and time, or what a driver counts, in pages
/// and later than the program knows.
constexpr Kind kKept{Unit::bytes, 0.005, 64 * kKiB};
constexpr Kind kExactCount{Unit::count, 0.005, 1, true};
constexpr Kind kCount{Unit::count, 0.005, 1};
constexpr Kind kSeconds{Unit::seconds, 0.03, 0};
/// Cleaning up often takes no time at all, of which no ratio can be taken.
constexpr Kind kCleanupTime{Unit::seconds, 0, 0.001, false, Scale::difference};
constexpr Kind kCleanupShare{Unit::ratio, 0, 0.001, false, Scale::difference};
constexpr Kind kGrowthPerRound{Unit::bytes_per_round, 0, 64 * kKiB, false, Scale::difference};
constexpr Kind kGrowthPerMinute{Unit::bytes_per_minute, 0, kMiB, false, Scale::difference};
constexpr Kind kQuality{Unit::ratio, 0, 0.005, true, Scale::difference, Direction::higher};
constexpr Kind kNumber{Unit::number, 0.01, 0, true};

struct Row {
  std::string_view name;
  Kind kind;
  std::string_view meter;
  std::string_view summary;
  std::string_view display = {};  // NOLINT(readability-redundant-member-init): -Wextra
  bool is_key = false;
  OfAll of_all = OfAll::own;
  std::string_view series = {};  // NOLINT(readability-redundant-member-init): -Wextra
};

constexpr Row summed(Row row, OfAll of_all = OfAll::sum) {
  row.of_all = of_all;
  return row;
}

constexpr Row largest_of(std::string_view series, Row row) {
  row.series = series;
  return row;
}

constexpr std::array kRows = {
    Row{kPeakRss, kResident, "procfs", "largest resident set", "peak RSS", true},
    Row{kPeakRssNoFiles, kResident, "procfs",
        "largest resident set without the pages of mapped files, which the kernel can drop",
        "peak RSS excl. files", true},
    Row{kPeakRssAboveIdle, kResident, "procfs", "peak_rss_bytes minus idle_rss_bytes",
        "peak RSS above start-up", true},
    Row{kIdleRss, kResident, "procfs", "resident set after start-up, before the model is built",
        "RSS after start-up"},
    Row{kPeakLargestProcess, kResident, "procfs",
        "largest resident set of any one process (VmHWM, ru_maxrss), if there are several",
        "peak RSS of the largest process"},
    Row{kEndRss, kResident, "procfs",
        "resident set at the end of a round; without rounds, the level before the process exits",
        "RSS at round end"},
    Row{kEndPss, kResident, "procfs", "proportional set at the end of a round", "PSS at round end"},
    Row{kPeakPss, kResident, "procfs", "largest sampled sum of proportional sets", "peak PSS",
        true},
    Row{kPeakRssAnon, kResident, "procfs", "largest anonymous part of the resident set at a marker",
        "peak anonymous RSS"},
    Row{kPeakRssFile, kResident, "procfs",
        "largest file-backed part of the resident set at a marker", "peak file-backed RSS"},
    Row{kPeakCgroup, kResident, "cgroup", "largest memory charged to the trial's cgroup",
        "peak cgroup memory"},
    Row{kPeakCgroupAnon, kResident, "cgroup",
        "anonymous memory of the trial's cgroup at its sampled peak", "cgroup peak: anonymous"},
    Row{kPeakCgroupFile, kResident, "cgroup",
        "page cache of the trial's cgroup at its sampled peak", "cgroup peak: page cache"},
    Row{kPeakCgroupShmem, kResident, "cgroup",
        "shared memory and tmpfs of the trial's cgroup at its sampled peak", "cgroup peak: shmem"},
    Row{kPeakCgroupKernel, kResident, "cgroup",
        "kernel memory of the trial's cgroup at its sampled peak", "cgroup peak: kernel"},
    Row{kPeakSharedOnce, kResident, "cgroup",
        "largest memory of the trial's cgroup without page cache; a shared page counts once",
        "peak memory, shared pages counted once"},
    Row{kRssCountedAgain, kResident, "cgroup",
        "memory that the sum of resident sets counts more than once",
        "double-counted shared memory"},
    summed(Row{kSwapped, kResident, "procfs", "memory moved to swap", "swap"}),
    Row{kRssGrowthPerRound, kGrowthPerRound, "",
        "slope of end_rss_bytes over the rounds after warm-up", "RSS growth per round"},
    Row{kRssGrowthPerMinute, kGrowthPerMinute, "", "slope of end_rss_bytes over time after warm-up",
        "RSS growth per minute"},
    Row{kHeapGrowth, kGrowthPerRound, "",
        "slope of the live heap bytes at the ends of rounds after warm-up",
        "live-heap growth per round"},
    Row{kPeakHeap, kHeap, "heap", "largest size of all live allocations, with malloc's overhead",
        "peak heap", true},
    Row{kEndHeap, kHeap, "",
        "live heap bytes at the end of a round; without rounds, the level before the process exits",
        "live heap at round end"},
    Row{kPeakHeapAndMapped, kHeapAndMapped, "heap",
        "largest sum of live allocations and the program's own mappings: those below 2 MiB, and "
        "the touched part of larger ones",
        "peak heap + mapped", true},
    Row{kEndHeapAndMapped, kHeapAndMapped, "",
        "that sum at the end of a round; without rounds, the level before the process exits",
        "heap + mapped at round end"},
    Row{kPeakMapped, kHeap, "heap",
        "largest size of the program's own anonymous mappings that it may access",
        "peak mapped memory"},
    Row{kEndMapped, kHeap, "",
        "the program's own mappings at the end of a round; without rounds, the level before the "
        "process exits",
        "mapped memory at round end"},
    summed(
        Row{kAllocatedBytes, kHeap, "heap", "sum of all bytes requested", "total bytes allocated"}),
    summed(Row{kLiveAtEnd, kHeap, "heap", "size of the allocations that are never freed",
               "live heap at exit"}),
    Row{kHeapInUse, kHeap, "allocator", "bytes of the allocator's live allocations, at markers",
        "allocator: in use"},
    Row{kHeapHeldFree, kHeap, "allocator",
        "free bytes that the allocator has not returned to the kernel, at markers",
        "allocator: free, not returned"},
    Row{"allocator_committed_bytes", kKept, "allocator",
        "bytes that the allocator has obtained from the kernel, at markers",
        "allocator: committed"},
    Row{"allocator_active_bytes", kKept, "allocator",
        "pages of the allocator that contain live allocations, at markers", "allocator: active"},
    Row{"allocator_resident_bytes", kResident, "allocator",
        "pages of the allocator in physical memory, at markers", "allocator: resident"},
    Row{"allocator_retained_bytes", kKept, "allocator",
        "addresses that the allocator retains without physical memory, at markers",
        "allocator: retained"},
    Row{kTorchCpu, kHeap, "torch", "tensor bytes in main memory, at markers", "CPU tensors"},
    Row{kPeakTorchCpu, kHeap, "torch", "largest number of tensor bytes in main memory",
        "peak CPU tensors"},
    Row{kPeakGpuAllocated, kHeap, "cuda", "largest number of tensor bytes on the GPU",
        "peak GPU allocated"},
    Row{kPeakGpuReserved, kHeap, "cuda",
        "largest number of bytes that LibTorch reserves on the GPU", "peak GPU reserved"},
    Row{kGpuAllocated, kHeap, "cuda", "tensor bytes on the GPU, at markers", "GPU allocated"},
    Row{kGpuReserved, kHeap, "cuda", "bytes that LibTorch reserves on the GPU, at markers",
        "GPU reserved"},
    Row{kIdleGpuReserved, kHeap, "cuda",
        "bytes that LibTorch reserves on the GPU before the model is built",
        "GPU reserved after start-up"},
    Row{kGpuInactiveSplit, kHeap, "cuda", "free parts of partly used GPU blocks, at markers",
        "GPU fragmentation (inactive split)"},
    Row{kGpuUsed, kKept, "nvml",
        "GPU memory in use at the end of a round, as reported by the driver", "GPU memory used"},
    Row{kIdleGpuUsed, kKept, "nvml", "GPU memory in use before the model is built",
        "GPU memory used after start-up"},
    largest_of(kGpuUsed, Row{"peak_gpu_used_bytes", kKept, "nvml",
                             "largest GPU memory in use, sampled", "peak GPU memory used"}),
    Row{kPeakGpuUsedAboveIdle, kKept, "nvml", "peak_gpu_used_bytes minus idle_gpu_used_bytes",
        "peak GPU memory used above start-up"},
    Row{kNetHeapGrowth, kHeap, "",
        "heap bytes that an iteration does not free, from Google Benchmark",
        "heap growth per iteration"},
    summed(Row{kAllocationCount, kExactCount, "heap", "number of allocations", "allocations"}),
    Row{kAllocatorArenaCount, kCount, "allocator",
        "arenas that the allocator has created, at markers", "arenas"},
    summed(Row{kMinorFaults, kCount, "procfs", "page faults resolved without I/O",
               "minor page faults"},
           OfAll::sum_of_started),
    summed(
        Row{kMajorFaults, kCount, "procfs", "page faults that required I/O", "major page faults"},
        OfAll::sum_of_started),
    Row{kRoundSeconds, kSeconds, "procfs", "duration of a round", "time per round", true},
    Row{kTransferSeconds, kSeconds, "",
        "time per round in which the server of an FL workload receives, averages or sends",
        "transfer and aggregation time", true},
    Row{kCleanupSeconds, kCleanupTime, "",
        "time per round in which a role of an FL workload cleans up memory", "cleanup time"},
    Row{kHeapCleanupSeconds, kCleanupTime, "",
        "part of the cleanup time in which the allocator returns free memory to the kernel",
        "heap-trim time"},
    Row{kCleanupRatio, kCleanupShare, "",
        "share of the round time in which a role of an FL workload cleans up memory",
        "cleanup share of round"},
    summed(Row{kCpuSeconds, kSeconds, "procfs", "user and system time", "CPU time"},
           OfAll::sum_of_started),
    Row{kValidationAccuracy, kQuality, "", "share of validation samples classified correctly",
        "validation accuracy"},
    Row{kTrainAccuracy, kQuality, "", "share of training samples classified correctly",
        "training accuracy"},
    Row{kTrainLoss, kNumber, "", "training loss", "training loss"},
    Row{kRealTimeSeconds, kSeconds, "", "wall time per iteration, from Google Benchmark",
        "time per iteration", true},
    Row{kCpuTimeSeconds, kSeconds, "", "CPU time per iteration, from Google Benchmark",
        "CPU time per iteration"},
};

MetricInfo info_of(const Row& row) {
  return {std::string(row.name),
          row.kind.unit,
          row.kind.better,
          row.kind.scale,
          row.kind.relative_margin,
          row.kind.absolute_margin,
          row.kind.exact,
          std::string(row.summary),
          row.meter,
          row.display,
          row.is_key,
          row.of_all,
          row.series};
}

MetricInfo gauge(std::string_view name, Kind kind) {
  kind.better = Direction::undeclared;
  return info_of({name, kind, "", "gauge"});
}

/// What a gauge's name says about it: its unit.
MetricInfo from_suffix(std::string_view name) {
  if (name.ends_with("_bytes_per_round")) {
    return gauge(name, kGrowthPerRound);
  }
  if (name.ends_with("_bytes_per_minute")) {
    return gauge(name, kGrowthPerMinute);
  }
  if (name.find("rss") != std::string_view::npos || name.find("pss") != std::string_view::npos) {
    if (name.ends_with("_bytes")) return gauge(name, kResident);
  }
  if (name.ends_with("_bytes")) return gauge(name, kHeap);
  if (name.ends_with("_seconds")) return gauge(name, kSeconds);
  if (name.ends_with("_count")) return gauge(name, kExactCount);
  if (name.ends_with("_ratio")) return gauge(name, kQuality);
  return gauge(name, kNumber);
}

/// For command lines: what `memduel measure` and `compare` print of a command.
struct ShortName {
  std::string_view name;
  std::string_view metric;
};
constexpr std::array kShortNames = {ShortName{"peak_rss", kPeakRss},
                                    ShortName{"largest_process", kPeakLargestProcess},
                                    ShortName{"heap", kPeakHeap},
                                    ShortName{"mapped", kPeakMapped},
                                    ShortName{"heap_and_mapped", kPeakHeapAndMapped},
                                    ShortName{"wall_time", kRoundSeconds},
                                    ShortName{"cpu_time", kCpuSeconds}};

const MetricInfo* known_metric(std::string_view name) {
  const auto& table = all_metrics();
  const auto at = std::ranges::find(table, name, &MetricInfo::name);
  return at == table.end() ? nullptr : &*at;
}

}  // namespace

const std::vector<MetricInfo>& all_metrics() {
  static const std::vector<MetricInfo> table = [] {
    std::vector<MetricInfo> all;
    std::ranges::transform(kRows, std::back_inserter(all), info_of);
    return all;
  }();
  return table;
}

MetricInfo metric_info(std::string_view name) {
  const MetricInfo* known = known_metric(name);
  return known != nullptr ? *known : from_suffix(name);
}

bool is_known_metric(std::string_view name) {
  return known_metric(name) != nullptr;
}

std::string_view name_without_unit(std::string_view name) {
  // A ratio has no unit, and a name that lacks its suffix may be a program's own.
  for (const std::string_view unit :
       {"_bytes_per_round", "_bytes_per_minute", "_bytes", "_seconds", "_count"})
    if (name.ends_with(unit)) return name.substr(0, name.size() - unit.size());
  return name;
}

std::string metric_of_short_name(std::string_view name) {
  const auto* const listed = std::ranges::find(kShortNames, name, &ShortName::name);
  if (listed != kShortNames.end()) return std::string(listed->metric);
  // One word, such as "round", may be a program's own metric.
  if (is_known_metric(name) || name.find('_') == std::string_view::npos) return std::string(name);
  const auto is_meant = [&](const MetricInfo& info) {
    return name_without_unit(info.name) == name;
  };
  const auto& table = all_metrics();
  return std::ranges::count_if(table, is_meant) == 1 ? std::ranges::find_if(table, is_meant)->name
                                                     : std::string(name);
}

std::vector<std::string> short_metric_names() {
  std::vector<std::string> names;
  for (const ShortName& one : kShortNames) names.emplace_back(one.name);
  return names;
}

std::vector<std::string> metrics_of_meter(std::string_view meter) {
  std::vector<std::string> names;
  for (const MetricInfo& info : all_metrics())
    if (info.meter == meter) names.push_back(info.name);
  return names;
}

bool is_measured_of_any_program(std::string_view name) {
  const MetricInfo* info = known_metric(name);
  return info != nullptr && (info->meter == "procfs" || info->meter == "heap" ||
                             info->meter == "cgroup" || is_growth_metric(name));
}

bool is_growth_metric(std::string_view name) {
  return name.ends_with("_bytes_per_round") || name.ends_with("_bytes_per_minute");
}

}  // namespace memduel
