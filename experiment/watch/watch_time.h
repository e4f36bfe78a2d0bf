// How long a watch has gone on, and how long it may.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "experiment/marks/seconds.h"

namespace memduel {

class WatchTime {
 public:
  /// @param duration_seconds none: until nothing is left to watch.
  WatchTime(std::int64_t begin_ns, const std::optional<double>& duration_seconds)
      : begin_ns_(begin_ns),
        due_ns_(duration_seconds ? begin_ns + whole_ns(*duration_seconds)
                                 : std::numeric_limits<std::int64_t>::max()) {}

  [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }
  [[nodiscard]] bool is_over(std::int64_t now_ns) const { return now_ns >= due_ns_; }
  [[nodiscard]] std::int64_t due_ns() const { return due_ns_; }
  [[nodiscard]] double seconds_until(std::int64_t now_ns) const {
    return static_cast<double>(now_ns - begin_ns_) * 1e-9;
  }

 private:
  std::int64_t begin_ns_;
  std::int64_t due_ns_;
};

}  // namespace memduel
