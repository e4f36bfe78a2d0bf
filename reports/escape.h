// Every text that somebody else wrote passes through here on its way into a report.
#pragma once

#include <string>
#include <string_view>

namespace memduel {

/// Valid UTF-8: each byte that is not part of a well-formed character becomes U+FFFD.
std::string valid_utf8(std::string_view text);

/// Text of an HTML or XML element or a quoted attribute. Control characters that XML 1.0 forbids
/// become U+FFFD.
std::string escape_markup(std::string_view text);

/// One line of GitHub Markdown that shows the text itself: no markup, no HTML, no mention, no new
/// table cell.
std::string escape_markdown(std::string_view text);

/// One line for a terminal: no control character, no escape sequence, no change of direction.
std::string escape_terminal(std::string_view text);

/// One CSV field (RFC 4180). A leading =, +, - or @ of a text gets an apostrophe, so that no
/// spreadsheet takes it for a formula.
std::string escape_csv(std::string_view text);

/// Characters, counting each code point once.
std::size_t count_characters(std::string_view utf8);

}  // namespace memduel
