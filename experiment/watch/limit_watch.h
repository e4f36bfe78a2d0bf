// How much of the memory limit is used while something is watched, and when that is too much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/run_data.h"
#include "experiment/watch/watch.h"
#include "memory/memory_alarm.h"
#include "memory/memory_limit.h"

namespace memduel {

class LimitWatch {
 public:
  /// @param limit absent: none can be read, and nothing is ever said.
  LimitWatch(const WatchOptions& options, std::optional<MemoryLimit> limit);

  /// The warning, once a threshold is reached.
  std::optional<Note> check(std::optional<int> round, double elapsed_seconds);

  [[nodiscard]] std::optional<WatchSnapshot::Limit> state() const;
  /// What a reader of shares has to know.
  [[nodiscard]] std::optional<Note> limitation() const;

 private:
  [[nodiscard]] std::string of_whom() const;

  const WatchOptions& options_;
  std::optional<MemoryLimit> limit_;
  std::optional<std::int64_t> used_bytes_;
  MemoryAlarm alarm_;
};

}  // namespace memduel
