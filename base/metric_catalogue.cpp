#include "base/metric_catalogue.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace memduel {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

/// How metrics of one kind are compared.
struct Kind {
  Unit unit;
  double relative_margin;
  double absolute_margin;
  bool exact = false;
  Scale scale = Scale::logarithm;
  bool lower_is_better = true;
};

constexpr Kind kResident{Unit::bytes, 0.01, kMiB};
constexpr Kind kHeap{Unit::bytes, 0.005, 64 * kKiB, true};
/// What an allocator keeps, which depends on threads and time, or what a driver counts, in pages
/// and later than the program knows.
constexpr Kind kKept{Unit::bytes, 0.005, 64 * kKiB};
constexpr Kind kExactCount{Unit::count, 0.005, 1, true};
constexpr Kind kCount{Unit::count, 0.005, 1};
constexpr Kind kSeconds{Unit::seconds, 0.03, 0};
/// Cleaning up often takes no time at all, of which no ratio can be taken.
constexpr Kind kCleanupSeconds{Unit::seconds, 0, 0.001, false, Scale::difference};
constexpr Kind kCleanupRatio{Unit::ratio, 0, 0.001, false, Scale::difference};
constexpr Kind kGrowthPerRound{Unit::bytes_per_round, 0, 64 * kKiB, false, Scale::difference};
constexpr Kind kGrowthPerMinute{Unit::bytes_per_minute, 0, kMiB, false, Scale::difference};
constexpr Kind kQuality{Unit::ratio, 0, 0.005, true, Scale::difference, false};
constexpr Kind kNumber{Unit::number, 0.01, 0, true};

struct Row {
  std::string_view name;
  Kind kind;
  std::string_view meter;
  std::string_view summary;
  std::string_view verb = "has";
  std::string_view noun = {};  // NOLINT(readability-redundant-member-init): -Wextra
  bool is_key = false;
};

constexpr std::array kRows = {
    Row{"peak_rss_bytes", kResident, "procfs", "largest resident set", "uses", "memory at its peak",
        true},
    Row{"peak_rss_above_idle_bytes", kResident, "procfs", "peak_rss_bytes minus idle_rss_bytes",
        "uses", "memory above idle at its peak", true},
    Row{"idle_rss_bytes", kResident, "procfs", "resident set before the model is built", "uses",
        "memory when idle"},
    Row{"end_rss_bytes", kResident, "procfs", "resident set at the end of a round", "keeps",
        "memory at the end"},
    Row{"end_pss_bytes", kResident, "procfs", "proportional set at the end of a round", "keeps",
        "memory (PSS) at the end"},
    Row{"peak_pss_bytes", kResident, "procfs", "largest sampled sum of proportional sets", "uses",
        "memory (PSS) at its peak", true},
    Row{"peak_rss_anon_bytes", kResident, "procfs",
        "largest anonymous part of the resident set at a mark", "uses",
        "anonymous memory at marks"},
    Row{"peak_rss_file_bytes", kResident, "procfs",
        "largest file-backed part of the resident set at a mark", "uses",
        "file-backed memory at marks"},
    Row{"peak_cgroup_bytes", kResident, "cgroup", "largest memory charged to the trial's cgroup"},
    Row{"peak_cgroup_anon_bytes", kResident, "cgroup",
        "anonymous part of it, when most was sampled"},
    Row{"peak_cgroup_file_bytes", kResident, "cgroup", "page cache in it, when most was sampled"},
    Row{"peak_cgroup_shmem_bytes", kResident, "cgroup",
        "shared memory and tmpfs in it, when most was sampled"},
    Row{"peak_cgroup_kernel_bytes", kResident, "cgroup",
        "kernel memory in it, when most was sampled"},
    Row{"swapped_bytes", kResident, "procfs", "memory moved to swap"},
    Row{"rss_growth_bytes_per_round", kGrowthPerRound, "",
        "slope of end_rss_bytes over the rounds after warm-up", "grows", "memory per round"},
    Row{"rss_growth_bytes_per_minute", kGrowthPerMinute, "",
        "slope of end_rss_bytes over time after warm-up", "grows", "memory per minute"},
    Row{"heap_growth_bytes_per_round", kGrowthPerRound, "",
        "slope of the live heap bytes at the ends of rounds after warm-up"},
    Row{"peak_heap_bytes", kHeap, "heap", "largest number of live heap bytes", "uses",
        "heap at its peak", true},
    Row{"end_heap_bytes", kHeap, "", "live heap bytes at the end of a round"},
    Row{"allocated_bytes", kHeap, "heap", "all bytes ever allocated", "allocates",
        "memory in total"},
    Row{"live_at_end_bytes", kHeap, "heap", "heap bytes never freed", "keeps",
        "heap live at the end"},
    Row{"heap_in_use_bytes", kHeap, "allocator", "bytes the allocator has handed out, at marks",
        "keeps", "heap in use"},
    Row{"heap_held_free_bytes", kHeap, "allocator",
        "bytes the allocator holds but has not handed out, at marks", "keeps",
        "heap held free by the allocator"},
    Row{"allocator_committed_bytes", kKept, "allocator",
        "bytes the allocator has from the system, at marks"},
    Row{"allocator_active_bytes", kKept, "allocator",
        "pages of the allocator that hold live blocks, at marks"},
    Row{"allocator_resident_bytes", kResident, "allocator",
        "pages of the allocator in memory, at marks"},
    Row{"allocator_retained_bytes", kKept, "allocator",
        "addresses it keeps without memory, at marks"},
    Row{"torch_cpu_bytes", kHeap, "torch", "tensor bytes in main memory, at marks"},
    Row{"peak_torch_cpu_bytes", kHeap, "torch", "largest number of tensor bytes in main memory",
        "uses", "tensor memory at its peak"},
    Row{"peak_gpu_allocated_bytes", kHeap, "cuda", "largest number of tensor bytes on the GPU",
        "uses", "GPU memory at its peak"},
    Row{"peak_gpu_reserved_bytes", kHeap, "cuda", "largest number of bytes held on the GPU"},
    Row{"gpu_allocated_bytes", kHeap, "cuda", "tensor bytes on the GPU, at marks"},
    Row{"gpu_reserved_bytes", kHeap, "cuda", "bytes LibTorch holds on the GPU, at marks"},
    Row{"idle_gpu_reserved_bytes", kHeap, "cuda",
        "bytes LibTorch holds on the GPU before the model is built"},
    Row{"gpu_inactive_split_bytes", kHeap, "cuda",
        "free parts of blocks in use on the GPU, at marks"},
    Row{"gpu_used_bytes", kKept, "nvml",
        "device memory in use at the end of a round, as the driver says"},
    Row{"idle_gpu_used_bytes", kKept, "nvml", "device memory in use before the model is built"},
    Row{"peak_gpu_used_bytes", kKept, "nvml", "largest device memory in use, sampled"},
    Row{"peak_gpu_used_above_idle_bytes", kKept, "nvml",
        "peak_gpu_used_bytes minus idle_gpu_used_bytes"},
    Row{"allocation_count", kExactCount, "heap", "number of allocations", "makes", "allocations"},
    Row{"allocator_arena_count", kCount, "allocator",
        "arenas that the allocator has made, at marks"},
    Row{"minor_faults_count", kCount, "procfs", "page faults served from memory"},
    Row{"major_faults_count", kCount, "procfs", "page faults that had to read"},
    Row{"round_seconds", kSeconds, "procfs", "duration of a round", "needs", "time per round",
        true},
    Row{"transfer_seconds", kSeconds, "",
        "time of a round in which a replay's server receives, averages or answers", "needs",
        "time for transfer and aggregation", true},
    Row{"cleanup_seconds", kCleanupSeconds, "",
        "time of a round in which a replay's role cleans up memory"},
    Row{"heap_cleanup_seconds", kCleanupSeconds, "",
        "part of it in which the allocator gives free memory back"},
    Row{"cleanup_ratio", kCleanupRatio, "",
        "share of a replay's rounds that its role cleans up memory"},
    Row{"cpu_seconds", kSeconds, "procfs", "user and system time", "needs", "CPU time"},
    Row{"validation_accuracy_ratio", kQuality, "",
        "share of validation samples classified correctly", "reaches", "validation accuracy"},
    Row{"train_accuracy_ratio", kQuality, "", "share of training samples classified correctly"},
    Row{"train_loss", kNumber, "", "training loss"},
    Row{"real_time_seconds", kSeconds, "", "wall time of an iteration, by Google Benchmark",
        "needs", "time an iteration", true},
    Row{"cpu_time_seconds", kSeconds, "", "CPU time of an iteration, by Google Benchmark", "needs",
        "CPU time an iteration"},
};

MetricInfo info_of(const Row& row) {
  return {std::string(row.name),
          row.kind.unit,
          row.kind.lower_is_better,
          row.kind.scale,
          row.kind.relative_margin,
          row.kind.absolute_margin,
          row.kind.exact,
          std::string(row.summary),
          row.meter,
          row.verb,
          row.noun,
          row.is_key};
}

MetricInfo gauge(std::string_view name, const Kind& kind) {
  return info_of({name, kind, "", "gauge"});
}

/// Whether a program's own number is one that should be large.
bool is_better_when_large(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  return has("accuracy") || has("score") || name.starts_with("auc") || name.starts_with("f1");
}

/// What a gauge's name says about it.
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
  if (name.ends_with("_ratio")) {
    MetricInfo info = gauge(name, kQuality);
    info.lower_is_better = !is_better_when_large(name);
    return info;
  }
  MetricInfo info = gauge(name, kNumber);
  info.lower_is_better = !is_better_when_large(name);
  return info;
}

const MetricInfo* find(std::string_view name) {
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
  const MetricInfo* known = find(name);
  return known != nullptr ? *known : from_suffix(name);
}

bool is_known_metric(std::string_view name) {
  return find(name) != nullptr;
}

std::vector<std::string> metrics_of_meter(std::string_view meter) {
  std::vector<std::string> names;
  for (const MetricInfo& info : all_metrics())
    if (info.meter == meter) names.push_back(info.name);
  return names;
}

bool is_measured_of_any_program(std::string_view name) {
  const MetricInfo* info = find(name);
  return info != nullptr && (info->meter == "procfs" || info->meter == "heap" ||
                             info->meter == "cgroup" || is_growth_metric(name));
}

bool is_growth_metric(std::string_view name) {
  return name.ends_with("_bytes_per_round") || name.ends_with("_bytes_per_minute");
}

}  // namespace memduel
