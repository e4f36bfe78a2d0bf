// What a meter samples: one series per role, and of their sums the series `tree`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/run_data.h"
#include "profilers/meters/thinned_series.h"

namespace memduel {

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

  /// The series that are not empty, in the order of the roles, then `tree`.
  [[nodiscard]] std::vector<std::pair<std::string, Series>> series() const;
  /// Of one role, or of `tree`; empty when there is nothing of it.
  [[nodiscard]] Series series_of(const std::string& role) const;

 private:
  std::string metric_;
  std::size_t max_points_;
  std::vector<std::pair<std::string, ThinnedSeries>> roles_;
  ThinnedSeries tree_;
};

}  // namespace memduel
