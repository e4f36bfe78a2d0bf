// What SIGINT, SIGTERM and SIGHUP ask of memduel: to end early, and in order.
#pragma once

#include <atomic>
#include <string>

#include "base/error.h"

namespace memduel {

class StopRequest {
 public:
  /// Safe in a signal handler.
  void take(int number) noexcept;

  [[nodiscard]] bool asked() const { return signal_ != 0; }

  /// A second SIGINT: nothing more is waited for, cleanup included. The closing of a terminal may
  /// send SIGHUP twice, a service manager SIGTERM and SIGHUP, which ask for no haste.
  [[nodiscard]] bool asked_for_haste() const { return interrupts_ > 1; }

  /// The end that was asked for: interrupted, or terminated by SIGTERM and SIGHUP.
  [[nodiscard]] Error error(const std::string& what, std::string where = {},
                            std::string advice = {}) const;

 private:
  std::atomic<int> signal_ = 0;  ///< the first
  std::atomic<int> interrupts_ = 0;
};

/// The process's own, set by these signals from the first call on; those that are ignored (nohup)
/// stay so.
const StopRequest& listen_for_signals();

}  // namespace memduel
