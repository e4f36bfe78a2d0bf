// What a verb prints: text and tables on standard output, progress on standard error.
#pragma once

#include <string>

namespace memduel::cli {

/// `text` in stdout, whole. Throws Error(io) when it cannot be written.
void print(const std::string& text);

/// Columns of the terminal on `descriptor`; 80 where it is none.
int columns_of(int descriptor);

/// `text` for people: where `descriptor` is a terminal, lines are broken where they do not fit.
std::string fitted_to(int descriptor, const std::string& text);
/// Prints `text` for people.
void print_fitted(const std::string& text);
/// Prints a table: on a terminal, lines end with "…" where they do not fit.
void print_table(const std::string& table);

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
