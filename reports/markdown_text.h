// Text for Markdown: names and sentences that come from anywhere, escaped and cut.
#pragma once

#include <string>

#include "analysis/values/results.h"

namespace memduel {

/// Letters, digits and single dashes: nothing that could end an HTML comment.
std::string marker_name(const std::string& title);

const char* icon(Verdict verdict);

/// Of a table, and of a list: with the page's minus sign, escaped, cut where it is very long.
std::string markdown_cell(const std::string& text);
std::string markdown_line(const std::string& text);

/// For a block of code: nothing in it ends the block.
std::string without_fence(std::string text);
/// The same within a line, cut where it is very long.
std::string markdown_code(const std::string& text);

}  // namespace memduel
