// Progress of a run on stderr: a bar on a terminal, plain lines otherwise.
#pragma once

#include <string>

namespace memduel::cli {

class ProgressBar {
 public:
  /// @param quiet prints nothing at all.
  explicit ProgressBar(bool quiet);

  /// @param done,total trials, warm-up included. @param note what runs next, e.g. "block 3:
  /// optimized". @param estimates what is known so far: on a terminal only.
  void show(int done, int total, const std::string& note, const std::string& estimates = "");

  /// Prints a message on a line of its own, above the bar.
  void say(const std::string& message);

  /// Ends the bar's line.
  void finish();

 private:
  bool quiet_;
  bool terminal_;
  bool bar_open_ = false;
};

}  // namespace memduel::cli
