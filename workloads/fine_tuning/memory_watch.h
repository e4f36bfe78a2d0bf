// Growth of the resident set against a threshold, as CBraMod's MemoryManager looks at it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "workloads/fine_tuning/switches.h"

namespace memduel {

class MemoryWatch {
 public:
  using ReadResident = std::function<std::optional<std::int64_t>()>;

  /// @param read bytes that are resident; absent where the system does not say.
  MemoryWatch(const FineTuningSwitches& switches, ReadResident read);

  /// Takes the baseline that growth counts from, if it is a fine-tuning's.
  void trial_begins();

  /// Since the baseline; negative where memory shrank.
  [[nodiscard]] std::optional<std::int64_t> growth() const;
  /// Strictly.
  [[nodiscard]] bool is_above() const;
  [[nodiscard]] std::int64_t threshold() const { return threshold_; }

 private:
  std::int64_t threshold_;
  MemoryBaseline from_;
  ReadResident read_;
  std::optional<std::int64_t> baseline_;
};

/// Of this process.
std::optional<std::int64_t> resident_bytes();

}  // namespace memduel
