// Every text that somebody else wrote passes through here on its way into a report.
#pragma once

#include <string>
#include <string_view>

namespace memduel {

/// Text of an HTML or XML element or a quoted attribute. Control characters that XML 1.0 forbids
/// become U+FFFD.
std::string escape_markup(std::string_view text);

/// One line of GitHub Markdown that shows the text itself: no markup, no HTML, no mention, no new
/// table cell.
std::string escape_markdown(std::string_view text);

/// One CSV field (RFC 4180). A leading =, +, - or @ of a text gets an apostrophe, so that no
/// spreadsheet takes it for a formula.
std::string escape_csv(std::string_view text);

}  // namespace memduel
