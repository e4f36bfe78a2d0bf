// The one exception type of memduel: thrown at a room's border, caught in cli/.
#pragma once

#include <stdexcept>
#include <string>

namespace memduel {

/// Exit codes that scripts and CI rely on.
enum class ExitCode {
  ok = 0,
  gate_failed = 1,
  usage = 2,           ///< bad usage or config, or the output directory holds another run
  cannot_measure = 3,  ///< the baseline failed, a role never got ready
  io = 4,              ///< an input or output file failed, or a data set is missing
  undecided = 5,       ///< a gate is inconclusive and counts: --on-inconclusive
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

}  // namespace memduel
