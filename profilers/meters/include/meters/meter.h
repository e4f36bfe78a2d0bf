// The interface of outside meters: what memduel reads about other processes while they run.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/run_data.h"

namespace memduel {

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
  /// all roles as `tree`.
  [[nodiscard]] virtual std::vector<std::pair<std::string, Series>> series() const = 0;
};

}  // namespace memduel
