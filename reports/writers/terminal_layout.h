// Text and tables as lines of a terminal that fit its width.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/report_document.h"
#include "reports/terminal.h"

namespace memduel {

/// A line with its escape sequences, and how many columns it takes.
struct Line {
  std::string text;
  std::size_t columns = 0;

  void append(const Line& other) {
    text += other.text;
    columns += other.columns;
  }
};

/// What the text becomes on lines of at most `width` columns, broken at spaces; of a word that is
/// longer the middle is left out if `cuts`, else it stays whole, so that it can be copied.
std::vector<Line> laid_out(const Text& text, std::size_t width, bool cuts,
                           const TerminalOptions& options);

/// Its heading, rows and what is left out. Columns that do not fit go below, with the first column
/// again.
std::vector<Line> table_lines(const Table& table, std::size_t width,
                              const TerminalOptions& options);

/// `count` spaces.
Line space(std::size_t count);

}  // namespace memduel
