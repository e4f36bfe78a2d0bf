// The logs of a watch: lines that mark rounds, and a command's output, which is kept and passed on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "copied_logs.h"
#include "model/run_data.h"
#include "run/run.h"
#include "trial/marks.h"
#include "trial/sampling.h"
#include "watched_command.h"

namespace memduel {

class WatchLogs {
 public:
  /// Follows logs from where they end by now. Throws Error(io) when the directory for a command's
  /// output cannot be made.
  WatchLogs(const WatchOptions& options, const std::filesystem::path& directory);

  /// The files that a command's output goes to; absent where it keeps its own.
  [[nodiscard]] const std::optional<OutputFiles>& output() const { return output_; }
  /// Passes them on from now on: they are there.
  void pass_output_on(const WatchOptions& options);

  void listen(Events& events);
  /// Takes note that an event's source has something to read, if it is one of these logs'.
  void changed(const void* source);
  [[nodiscard]] std::int64_t due_ns() const;
  /// The lines that are marks; passes output on. To be called when it is due.
  std::vector<MarkedLine> read(std::int64_t now_ns, Events& events);
  /// The last lines.
  std::vector<MarkedLine> finish_lines();
  void finish_output();
  /// The role marks its rounds in a better way.
  void pass_over(const std::string& role);

  [[nodiscard]] std::vector<Note> limitations() const;
  [[nodiscard]] std::vector<Note> warnings() const;

 private:
  [[nodiscard]] std::int64_t lines_due_ns() const;

  std::optional<OutputFiles> output_;
  std::optional<TextMarks> lines_;
  std::size_t streams_ = 0;  ///< of the command that are looked through for rounds
  std::optional<CopiedLogs> copied_;
  std::int64_t lines_read_ns_ = 0;
  bool lines_changed_ = false;
};

}  // namespace memduel
