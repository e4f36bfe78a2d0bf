// Samples of one metric in bounded memory, however long they go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "base/run_data.h"

namespace memduel {

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

}  // namespace memduel
