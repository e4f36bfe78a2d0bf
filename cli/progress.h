// What a run shows while it goes on, on standard error: one line of a terminal that is gone at the
// end, or in a pipe a line for each block, and none within five seconds of the last one.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "cli/print.h"
#include "run/run.h"

namespace memduel::cli {

/// What of a run's progress the driver does not know.
struct ProgressFacts {
  std::string label;         ///< of an experiment of a suite: "2/3 mnist-quick: "
  double seconds_after = 0;  ///< of the experiments that follow
  bool names_role = false;   ///< the job has several roles
};

/// "trial 5 of 16  a  2 min left  b vs. a so far: peak RSS −41% (95% CI −44% to −38%)", in at most
/// `width` columns: what matters least goes first, and what is still too long is cut.
std::string live_line(const Progress& progress, const ProgressFacts& facts, std::size_t width);

/// The same of a block that begins: "trial 5 of 16, 2 min left; b vs. a so far: …".
std::string block_line(const Progress& progress, const ProgressFacts& facts);

class RunProgress {
 public:
  using Clock = std::chrono::steady_clock;

  RunProgress(bool quiet, ProgressFacts facts,
              std::function<Clock::time_point()> clock = Clock::now)
      : line_(quiet), facts_(std::move(facts)), clock_(std::move(clock)), shown_at_(clock_()) {}

  /// Before each trial, and at the end.
  void show(const Progress& progress);

  /// Prints a message that stays, above the line that is rewritten.
  void print(const std::string& message) { line_.say(message); }

 private:
  ProgressLine line_;
  ProgressFacts facts_;
  std::function<Clock::time_point()> clock_;
  Clock::time_point shown_at_;  ///< of the last line, or of the start
  std::optional<int> shown_block_;
};

}  // namespace memduel::cli
