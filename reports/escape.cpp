#include "escape.h"

#include <cstdint>

#include "util/text.h"

namespace memduel {

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

std::string escape_csv(std::string_view text) {
  std::string field = valid_utf8(std::string(text));
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

}  // namespace memduel
