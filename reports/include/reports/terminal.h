// Text for a terminal: marks of verdicts, colour, lines that fit, cells of a table.
#pragma once

#include <string>

#include "analysis/values/results.h"

namespace memduel {

struct TerminalOptions {
  bool color = false;  ///< the caller looks at NO_COLOR and at whether stdout is a terminal
  int width = 80;      ///< columns; sentences are wrapped, tables need 80
};

/// Of a change the sign says whether there is more or less, the colour, which repeats the word,
/// whether that is better or worse.
struct VerdictLook {
  const char* sign;
  const char* color;
};

VerdictLook look_of(Verdict verdict, bool more);

std::string painted(const std::string& text, const char* color, const TerminalOptions& options);

/// Words of `text` on lines of at most `width` columns; continued lines start with `indent` spaces.
std::string wrapped(const std::string& text, size_t indent, int width);

/// `text` with its lines broken where they are wider than `width`: below the last column that they
/// begin with, as in a list of names and what they are, else two spaces in. Commands stay whole,
/// for people copy them, and so do lines with escape sequences.
std::string fitted(const std::string& text, int width);

/// Exactly `width` columns; longer text is cut and ends in an ellipsis.
std::string padded(const std::string& text, size_t width, bool right);

/// Left-aligned text with a space after it, right-aligned text with a space before it; escaped.
std::string left(const std::string& text, size_t width);
std::string right(const std::string& text, size_t width);

}  // namespace memduel
