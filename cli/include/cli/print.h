// What a verb prints: text and tables on standard output, progress on standard error.
#pragma once

#include <cstddef>
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

/// What goes on, on standard error: on a terminal one line that is rewritten and at last erased,
/// else a line each.
class ProgressLine {
 public:
  /// @param quiet prints nothing at all.
  explicit ProgressLine(bool quiet);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { finish(); }

  [[nodiscard]] bool is_live() const { return terminal_ && !quiet_; }
  /// Columns that the line may take.
  [[nodiscard]] static std::size_t width();

  /// Replaces the line. A longer one than width() is cut.
  void show(const std::string& line);

  /// Prints a message on a line of its own, above the line that is rewritten.
  void say(const std::string& message);

  /// Erases the line.
  void finish();

 private:
  bool quiet_;
  bool terminal_;
  bool open_ = false;
};

}  // namespace memduel::cli
