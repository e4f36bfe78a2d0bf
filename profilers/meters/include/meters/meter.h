// The interface of outside meters: what memduel reads about other processes while they run. Their
// samples are ThinnedSeries, in bounded memory however long they go on, and SampledSums: one series
// per role, and of their sums the series `all`.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/run_data.h"
#include "util/clock.h"

namespace memduel {

/// CPU time of the calling thread, by which meters ration what costs much to read.
inline std::int64_t thread_cpu_ns() {
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/// Adds to a sum of what is known; it is absent as long as nothing is.
inline void add_up(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  if (value) sum = sum.value_or(0) + *value;
}

inline double as_double(std::int64_t value) {
  return static_cast<double>(value);
}
inline std::optional<double> as_double(std::optional<std::int64_t> value) {
  return value ? std::optional(as_double(*value)) : std::nullopt;
}

/// What a meter read at one mark.
struct MeterReading {
  Metrics counters;  ///< grow over the process's life: a round's value is a difference
  Metrics values;    ///< hold at this moment
};

/// What a trial offers a meter.
struct MeterSite {
  /// Role to the directory where the recorder leaves the counters of its process images.
  std::map<std::string, std::filesystem::path> heap_directories;
  /// Roles whose other trials had counters and whose processes have none now.
  std::set<std::string> left_out;
};

/// Several processes may belong to one role: their values are summed.
class Meter {
 public:
  virtual ~Meter() = default;

  /// From now on `pid` counts for `role`, and for no other; a process that has ended already is
  /// left out.
  virtual void add(const std::string& role, pid_t pid) = 0;
  /// One cheap sample of every role. Returns whether a role's value moved noticeably.
  virtual bool sample(std::int64_t now_ns) = 0;
  /// Counters and values of one role that are cheap enough for every round's begin and end.
  virtual MeterReading read(const std::string& role) = 0;
  /// Values that cost milliseconds; the caller rations them.
  virtual Metrics read_costly(const std::string& role) = 0;
  /// The samples so far: one entry per role in the order of their first `add`, then the sums over
  /// all roles as `all`.
  [[nodiscard]] virtual std::vector<std::pair<std::string, Series>> series() const = 0;
};

/// Keeps every sample up to `max_points`; after that equal stretches of samples, and of each the
/// smallest and the largest with their times. Whenever there are too many stretches, they are
/// joined in twos: the resolution is the same over the whole series, and no peak is lost.
class ThinnedSeries {
 public:
  static constexpr std::size_t kEverySample = std::numeric_limits<std::size_t>::max();

  /// @param max_points at least 16.
  explicit ThinnedSeries(std::string metric, std::size_t max_points = kEverySample);

  void add(std::int64_t t_ns, std::int64_t value);

  [[nodiscard]] bool empty() const { return !last_; }
  /// The last sample; there must be one.
  [[nodiscard]] std::int64_t last() const { return last_->value; }
  [[nodiscard]] std::int64_t last_ns() const { return last_->t_ns; }
  /// What is kept, then the stretch that is not full yet; the last sample ends it.
  [[nodiscard]] Series series() const;

 private:
  struct Point {
    std::int64_t t_ns = 0;
    std::int64_t value = 0;
  };
  void append(const Point& point);
  void join_stretches();

  std::size_t max_points_;
  Series kept_;
  std::size_t stretch_ = 1;     ///< samples in each; two points each once it is more than one
  std::size_t in_stretch_ = 0;  ///< samples in the one that is not full yet
  Point smallest_;
  Point largest_;
  std::optional<Point> last_;
};

class SampledSums {
 public:
  /// @param max_points what each series keeps, see ThinnedSeries.
  explicit SampledSums(std::string metric, std::size_t max_points = ThinnedSeries::kEverySample)
      : metric_(std::move(metric)), max_points_(max_points), tree_(metric_, max_points) {}

  /// Roles are counted from 0.
  void add_role(const std::string& role);

  /// One value per role; absent where nothing of it runs. Returns whether a role moved by 64 KiB or
  /// more: smaller steps are not worth a faster sampling.
  bool add(std::int64_t now_ns, const std::vector<std::optional<std::int64_t>>& values);

  /// The series that are not empty, in the order of the roles, then `all`.
  [[nodiscard]] std::vector<std::pair<std::string, Series>> series() const;
  /// Of one role, or of `all`; empty when there is nothing of it.
  [[nodiscard]] Series series_of(const std::string& role) const;

 private:
  std::string metric_;
  std::size_t max_points_;
  std::vector<std::pair<std::string, ThinnedSeries>> roles_;
  ThinnedSeries tree_;
};

}  // namespace memduel
