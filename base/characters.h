// The characters of a text that somebody else wrote: of a file's name, a function's, an answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace memduel {

/// What stands in for a byte that is not part of a well-formed character: U+FFFD.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length of the well-formed character at `i`, or 0 (Unicode 15, table 3-7).
std::size_t character_length(std::string_view text, std::size_t i);

/// Of one well-formed character.
std::uint32_t code_point(std::string_view character);

bool is_control(std::uint32_t code_point);

/// Marks, embeddings, overrides and isolates that reorder the text around them.
bool changes_direction(std::uint32_t code_point);

/// Calls `write(character, code_point)` for each character; ill-formed bytes arrive as U+FFFD.
template <typename Write>
void for_each_character(std::string_view text, Write write) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    const std::string_view character = length == 0 ? kReplacement : text.substr(i, length);
    write(character, code_point(character));
    i += std::max<std::size_t>(length, 1);
  }
}

/// One line for a terminal: no control character, no escape sequence, no change of direction.
std::string escape_terminal(std::string_view text);

/// The same of a text of several lines, which keeps them.
std::string escape_terminal_lines(std::string_view text);

/// Characters, counting each code point once.
std::size_t count_characters(std::string_view utf8);

}  // namespace memduel
