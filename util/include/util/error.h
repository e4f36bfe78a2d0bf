// How a command ends before its work is done: the one exception type with its exit code, the
// request to stop that a signal makes, and what is written to standard error.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>

namespace memduel {

/// Exit codes that scripts and CI rely on.
enum class ExitCode {
  ok = 0,
  gate_failed = 1,
  usage = 2,           ///< bad usage or config, or the output directory holds another run
  cannot_measure = 3,  ///< the baseline failed, a role never got ready
  io = 4,              ///< an input or output file failed, or a data set is missing
  inconclusive = 5,    ///< a gate is inconclusive and counts: --on-inconclusive
  interrupted = 130,
  terminated = 143,
};

/// What went wrong, where, and what to do about it.
class Error : public std::runtime_error {
 public:
  /// @param where file, JSON path, role or line; empty when the message says it.
  /// @param advice what the reader can do next; empty when there is nothing to add.
  Error(ExitCode code, const std::string& what, std::string where = {}, std::string advice = {});

  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::string& advice() const { return advice_; }

  /// One to three lines for a terminal, without a trailing newline.
  [[nodiscard]] std::string message() const;

 private:
  ExitCode code_;
  std::string where_;
  std::string advice_;
};

/// Writes `text` to standard error. A full device, a closed descriptor or a terminal that went away
/// is no reason to stop: what cannot be written is lost.
void say(std::string_view text) noexcept;

/// What SIGINT, SIGTERM and SIGHUP ask of memduel: to end early, and in order.
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

/// The process's own. Nothing is asked for before listen_for_signals.
const StopRequest& own_stop_request() noexcept;

/// The same, set by these signals from the first call on; those that are ignored (nohup) stay so.
const StopRequest& listen_for_signals();

}  // namespace memduel
