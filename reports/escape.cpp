#include "reports/escape.h"

#include <algorithm>
#include <cstdint>

namespace memduel {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

/// Length of the well-formed character at `i`, or 0 (Unicode 15, table 3-7).
size_t character_length(std::string_view text, size_t i) {
  const auto at = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = at(i);
  if (first < 0x80) return 1;
  size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || i + length > text.size()) return 0;
  if (at(i + 1) < low || at(i + 1) > high) return 0;
  for (size_t k = 2; k < length; ++k)
    if (!is_continuation(at(i + k))) return 0;
  return length;
}

std::uint32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  std::uint32_t value = first & (0x7Fu >> character.size());
  for (size_t k = 1; k < character.size(); ++k)
    value = (value << 6) | (static_cast<unsigned char>(character[k]) & 0x3Fu);
  return value;
}

/// Marks, embeddings, overrides and isolates that reorder the text around them.
bool changes_direction(std::uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F);
}

/// Calls `write(character, code_point)` for each character; ill-formed bytes arrive as U+FFFD.
template <typename Write>
void for_each_character(std::string_view text, Write write) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = character_length(text, i);
    const std::string_view character = length == 0 ? kReplacement : text.substr(i, length);
    write(character, code_point(character));
    i += std::max<size_t>(length, 1);
  }
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view character, std::uint32_t) { out += character; });
  return out;
}

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view character, std::uint32_t c) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default: {
        const bool allowed =
            (c >= 0x20 || c == '\t' || c == '\n' || c == '\r') && c != 0xFFFE && c != 0xFFFF;
        out += allowed ? character : kReplacement;
      }
    }
  });
  return out;
}

std::string escape_markdown(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_{}[]#|~$";
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view character, std::uint32_t c) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '@') {
      out += "&#64;";
    } else if (is_control(c)) {
      out += ' ';
    } else if (!changes_direction(c)) {
      if (c < 0x80 && kSpecial.find(static_cast<char>(c)) != std::string_view::npos) out += '\\';
      out += character;
    }
  });
  return out;
}

std::string escape_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_character(text, [&](std::string_view character, std::uint32_t c) {
    if (is_control(c))
      out += ' ';
    else if (!changes_direction(c))
      out += character;
  });
  return out;
}

std::string escape_csv(std::string_view text) {
  std::string field = valid_utf8(text);
  if (!field.empty() && std::string_view("=+-@\t\r").find(field[0]) != std::string_view::npos)
    field.insert(field.begin(), '\'');
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return !is_continuation(static_cast<unsigned char>(c));
  }));
}

}  // namespace memduel
