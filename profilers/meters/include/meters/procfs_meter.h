// RSS and its part of mapped files by sampling /proc/PID/statm; shared memory, which statm counts
// as a file's, and the kernel-kept peak (VmHWM) less often; CPU time, page faults and swap at
// marks; PSS when asked for.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "meters/meter.h"

namespace memduel {

class ProcfsMeter : public Meter {
 public:
  /// Whether samples also keep the part of mapped files, and read VmHWM of each process, every 10
  /// ms at most and for a thousandth of a CPU. It has the peaks between two samples.
  enum class ProcessPeaks { no, yes };

  /// @param max_points what each series keeps, see ThinnedSeries.
  explicit ProcfsMeter(std::size_t max_points = ThinnedSeries::kEverySample,
                       ProcessPeaks peaks = ProcessPeaks::no);
  ~ProcfsMeter() override;

  void add(const std::string& role, pid_t pid) override;
  bool sample(std::int64_t now_ns) override;
  /// cpu_seconds, minor_faults_count, major_faults_count as counters; swapped_bytes as a value.
  MeterReading read(const std::string& role) override;
  /// pss_bytes from smaps_rollup: 3 to 7 ms for a process of 300 MB.
  Metrics read_costly(const std::string& role) override;
  /// `rss_bytes` and `rss_file_bytes` of every role and of `all`; `peak_largest_process_rss_bytes`
  /// of every role: each VmHWM of a process that differs from the one read before, which may be
  /// before a reset.
  [[nodiscard]] std::vector<std::pair<std::string, Series>> series() const override;
  /// The same of one role, or of `all`; empty when there is nothing of it.
  [[nodiscard]] Series series_of(const std::string& role) const { return rss_.series_of(role); }

  struct Latest {
    std::optional<std::int64_t> rss_bytes;  ///< absent when nothing of the role runs
    std::size_t processes = 0;
  };
  /// What the last sample found of a role.
  [[nodiscard]] Latest latest(const std::string& role) const;

 private:
  struct Process;
  struct Role;
  [[nodiscard]] Role* find(const std::string& role) const;
  static std::optional<std::int64_t> sample_role(Role& role);
  void sample_peaks(std::int64_t now_ns);

  std::vector<std::unique_ptr<Role>> roles_;
  SampledSums rss_;
  SampledSums files_;
  ProcessPeaks peaks_;
  std::int64_t peaks_due_ns_ = 0;
};

}  // namespace memduel
