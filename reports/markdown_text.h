// Parts of the Markdown report: its escaped words and cells, and strips of dots.
#pragma once

#include <string>
#include <vector>

#include "reports/report_model.h"
#include "verdict/results.h"

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

/// Of the first row that a gate asks about: a line that says what is drawn, then one for each arm,
/// from 0, or a value below it, to the largest value. Empty where no gate's row was measured.
std::vector<std::string> dot_strips(const ReportModel& model);

}  // namespace memduel
