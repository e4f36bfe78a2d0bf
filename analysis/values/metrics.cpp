#include "analysis/values/metrics.h"

#include <algorithm>

namespace memduel {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

MetricInfo resident(std::string name, std::string summary) {
  return {std::move(name), Unit::bytes,       true, Scale::logarithm, 0.01, kMiB,
          false,           std::move(summary)};
}

MetricInfo heap(std::string name, std::string summary) {
  return {std::move(name), Unit::bytes, true, Scale::logarithm,
          0.005,           64 * kKiB,   true, std::move(summary)};
}

/// What an allocator keeps, which depends on threads and time, or what a driver counts, in pages
/// and later than the program knows.
MetricInfo kept(std::string name, std::string summary) {
  MetricInfo info = heap(std::move(name), std::move(summary));
  info.exact = false;
  return info;
}

MetricInfo count(std::string name, bool exact, std::string summary) {
  return {std::move(name), Unit::count, true,  Scale::logarithm,
          0.005,           1,           exact, std::move(summary)};
}

MetricInfo seconds(std::string name, std::string summary) {
  return {std::move(name), Unit::seconds,     true, Scale::logarithm, 0.03, 0,
          false,           std::move(summary)};
}

/// What is often nothing at all.
MetricInfo cleanup(std::string name, Unit unit, std::string summary) {
  return {std::move(name), unit, true, Scale::difference, 0, 0.001, false, std::move(summary)};
}

MetricInfo growth(std::string name, Unit unit, double margin, std::string summary) {
  return {std::move(name), unit, true, Scale::difference, 0, margin, false, std::move(summary)};
}

MetricInfo quality(std::string name, std::string summary) {
  return {std::move(name),   Unit::ratio, false, Scale::difference, 0, 0.005, true,
          std::move(summary)};
}

std::vector<MetricInfo> make_table() {
  return {
      resident("peak_rss_bytes", "largest resident set"),
      resident("peak_rss_above_idle_bytes", "peak_rss_bytes minus idle_rss_bytes"),
      resident("idle_rss_bytes", "resident set before the model is built"),
      resident("end_rss_bytes", "resident set at the end of a round"),
      resident("end_pss_bytes", "proportional set at the end of a round"),
      resident("peak_pss_bytes", "largest sampled sum of proportional sets"),
      resident("peak_rss_anon_bytes", "largest anonymous part of the resident set at a mark"),
      resident("peak_rss_file_bytes", "largest file-backed part of the resident set at a mark"),
      resident("peak_cgroup_bytes", "largest memory charged to the trial's cgroup"),
      resident("peak_cgroup_anon_bytes", "anonymous part of it, when most was sampled"),
      resident("peak_cgroup_file_bytes", "page cache in it, when most was sampled"),
      resident("peak_cgroup_shmem_bytes", "shared memory and tmpfs in it, when most was sampled"),
      resident("peak_cgroup_kernel_bytes", "kernel memory in it, when most was sampled"),
      resident("swapped_bytes", "memory moved to swap"),
      growth("rss_growth_bytes_per_round", Unit::bytes_per_round, 64 * kKiB,
             "slope of end_rss_bytes over the rounds after warm-up"),
      growth("rss_growth_bytes_per_minute", Unit::bytes_per_minute, kMiB,
             "slope of end_rss_bytes over time after warm-up"),
      growth(kHeapGrowth, Unit::bytes_per_round, 64 * kKiB,
             "slope of the live heap bytes at the ends of rounds after warm-up"),
      heap("peak_heap_bytes", "largest number of live heap bytes"),
      heap("end_heap_bytes", "live heap bytes at the end of a round"),
      heap("allocated_bytes", "all bytes ever allocated"),
      heap("live_at_end_bytes", "heap bytes never freed"),
      heap("heap_in_use_bytes", "bytes the allocator has handed out, at marks"),
      heap("heap_held_free_bytes", "bytes the allocator holds but has not handed out, at marks"),
      kept("allocator_committed_bytes", "bytes the allocator has from the system, at marks"),
      kept("allocator_active_bytes", "pages of the allocator that hold live blocks, at marks"),
      resident("allocator_resident_bytes", "pages of the allocator in memory, at marks"),
      kept("allocator_retained_bytes", "addresses it keeps without memory, at marks"),
      heap("torch_cpu_bytes", "tensor bytes in main memory, at marks"),
      heap("peak_torch_cpu_bytes", "largest number of tensor bytes in main memory"),
      heap("peak_gpu_allocated_bytes", "largest number of tensor bytes on the GPU"),
      heap("peak_gpu_reserved_bytes", "largest number of bytes held on the GPU"),
      heap("gpu_allocated_bytes", "tensor bytes on the GPU, at marks"),
      heap("gpu_reserved_bytes", "bytes LibTorch holds on the GPU, at marks"),
      heap("idle_gpu_reserved_bytes", "bytes LibTorch holds on the GPU before the model is built"),
      heap("gpu_inactive_split_bytes", "free parts of blocks in use on the GPU, at marks"),
      kept("gpu_used_bytes", "device memory in use at the end of a round, as the driver says"),
      kept("idle_gpu_used_bytes", "device memory in use before the model is built"),
      kept("peak_gpu_used_bytes", "largest device memory in use, sampled"),
      kept("peak_gpu_used_above_idle_bytes", "peak_gpu_used_bytes minus idle_gpu_used_bytes"),
      count("allocation_count", true, "number of allocations"),
      count("allocator_arena_count", false, "arenas that the allocator has made, at marks"),
      count("minor_faults_count", false, "page faults served from memory"),
      count("major_faults_count", false, "page faults that had to read"),
      seconds("round_seconds", "duration of a round"),
      seconds("transfer_seconds",
              "time of a round in which a replay's server receives, averages or answers"),
      cleanup("cleanup_seconds", Unit::seconds,
              "time of a round in which a replay's role cleans up memory"),
      cleanup("heap_cleanup_seconds", Unit::seconds,
              "part of it in which the allocator gives free memory back"),
      cleanup("cleanup_ratio", Unit::ratio,
              "share of a replay's rounds that its role cleans up memory"),
      seconds("cpu_seconds", "user and system time"),
      quality("validation_accuracy_ratio", "share of validation samples classified correctly"),
      quality("train_accuracy_ratio", "share of training samples classified correctly"),
      {"train_loss", Unit::number, true, Scale::logarithm, 0.01, 0, true, "training loss"},
  };
}

/// Whether a program's own number is one that should be large.
bool is_better_when_large(std::string_view name) {
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  return has("accuracy") || has("score") || name.starts_with("auc") || name.starts_with("f1");
}

/// What a gauge's name says about it.
MetricInfo from_suffix(std::string_view name) {
  const std::string own(name);
  if (name.ends_with("_bytes_per_round")) {
    return growth(own, Unit::bytes_per_round, 64 * kKiB, "gauge");
  }
  if (name.ends_with("_bytes_per_minute")) {
    return growth(own, Unit::bytes_per_minute, kMiB, "gauge");
  }
  if (name.find("rss") != std::string_view::npos || name.find("pss") != std::string_view::npos) {
    if (name.ends_with("_bytes")) return resident(own, "gauge");
  }
  if (name.ends_with("_bytes")) return heap(own, "gauge");
  if (name.ends_with("_seconds")) return seconds(own, "gauge");
  if (name.ends_with("_count")) return count(own, true, "gauge");
  if (name.ends_with("_ratio")) {
    MetricInfo info = quality(own, "gauge");
    info.lower_is_better = !is_better_when_large(name);
    return info;
  }
  return {own, Unit::number, !is_better_when_large(name), Scale::logarithm, 0.01, 0, true, "gauge"};
}

const MetricInfo* find(std::string_view name) {
  const auto& table = all_metrics();
  const auto at = std::ranges::find(table, name, &MetricInfo::name);
  return at == table.end() ? nullptr : &*at;
}

}  // namespace

const std::vector<MetricInfo>& all_metrics() {
  static const std::vector<MetricInfo> table = make_table();
  return table;
}

MetricInfo metric_info(std::string_view name) {
  const MetricInfo* known = find(name);
  return known != nullptr ? *known : from_suffix(name);
}

bool is_known_metric(std::string_view name) {
  return find(name) != nullptr;
}

bool is_growth_metric(std::string_view name) {
  return name.ends_with("_bytes_per_round") || name.ends_with("_bytes_per_minute");
}

}  // namespace memduel
