// The run that a watch leaves: its config, which names what was watched, its environment, its one
// trial, which grows while the watch goes on, and its limitations and warnings.
#pragma once

#include <optional>
#include <vector>

#include "memory/memory_limit.h"
#include "model/run_data.h"
#include "run/run.h"
#include "run/store.h"

namespace memduel {

/// The one variant of a watched run.
inline constexpr const char* kWatchArm = "watch";

RunHeader watch_header(const WatchOptions& options, const std::vector<WatchTarget>& targets,
                       const std::optional<MemoryLimit>& limit);

class WatchRecord : public WatchSink {
 public:
  /// Makes the run directory; `options` must outlive this. Throws what Store::create throws.
  WatchRecord(const WatchOptions& options, const std::vector<WatchTarget>& targets,
              const std::optional<MemoryLimit>& limit);

  void grow(TrialData trial) override;
  void rename(const std::vector<WatchTarget>& targets) override;
  void add_limitation(const Note& note) override { store_.add_limitation(note); }
  void add_warning(const Note& note) override { store_.add_warning(note); }

  /// The watch is over: says it where samples are stored less often than they were taken.
  void note_interval();

 private:
  const WatchOptions& options_;
  Store store_;
  std::optional<double> stored_interval_ms_;
};

}  // namespace memduel
