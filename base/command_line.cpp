#include "base/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"

namespace memduel {
namespace {

[[noreturn]] void fail(std::string_view command, const std::string& what) {
  throw Error(ExitCode::usage, what, fmt::format("command '{}'", command),
              "quote as in a shell; nothing is expanded unless --shell is given");
}

/// Whether an expansion begins at `at`: `...`, $(...), ${...} or $NAME.
bool is_expansion(std::string_view raw, std::size_t at) {
  if (raw[at] == '`') return true;
  if (raw[at] != '$' || at + 1 == raw.size()) return false;
  const char next = raw[at + 1];
  return next == '(' || next == '{' || next == '_' ||
         std::isalpha(static_cast<unsigned char>(next)) != 0;
}

/// A word, as it was typed, with an operator of a shell that no quote protects, or an expansion
/// that no single quote does.
bool is_for_a_shell(std::string_view raw) {
  char quote = '\0';
  for (std::size_t at = 0; at < raw.size(); ++at) {
    const char c = raw[at];
    if (c == '\\' && quote != '\'') {
      ++at;
    } else if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote != '\'' && is_expansion(raw, at)) {
      return true;
    } else if (quote == '\0' && std::string_view("|&;<>").find(c) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

/// Reads one word from `at` on, which is not white space; leaves `at` behind it.
std::string read_word(std::string_view text, std::size_t& at) {
  std::string word;
  char quote = '\0';
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == '\0' && std::isspace(static_cast<unsigned char>(c)) != 0) break;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (at + 1 == text.size()) fail(text, "ends in a backslash");
      const char next = text[++at];
      // Inside double quotes a backslash escapes only these.
      const bool escapes =
          quote == '\0' || next == '"' || next == '\\' || next == '$' || next == '`';
      if (!escapes) word += c;
      word += next;
    } else {
      word += c;
    }
  }
  if (quote != '\0') fail(text, fmt::format("the quote {} is never closed", quote));
  return word;
}

/// The position of '=' in NAME=VALUE.
std::optional<std::size_t> assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  const auto is_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  const bool named =
      std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_name);
  return named && std::isdigit(static_cast<unsigned char>(word[0])) == 0 ? std::optional(equals)
                                                                         : std::nullopt;
}

}  // namespace

namespace {

/// @param look sees each word as it was typed.
template <class Look>
CommandLine split(std::string_view text, Look look) {
  CommandLine command;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    const std::string word = read_word(text, at);
    look(text.substr(begin, at - begin));
    const std::optional<std::size_t> equals =
        command.argv.empty() ? assignment(word) : std::nullopt;
    if (equals) {
      command.env[word.substr(0, *equals)] = word.substr(*equals + 1);
    } else {
      command.argv.push_back(word);
    }
  }
  if (command.argv.empty()) fail(text, "names no program");
  return command;
}

}  // namespace

CommandLine split_command_line(std::string_view text) {
  return split(text, [](std::string_view) {});
}

CommandLine split_typed_command(std::string_view text) {
  return split(text, [&](std::string_view word) {
    if (is_for_a_shell(word))
      throw Error(ExitCode::usage, fmt::format("found {}, which only a shell understands", word),
                  fmt::format("command '{}'", text),
                  "give --shell, or quote it if the program is to get it");
  });
}

std::string quoted_command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
             std::string_view("_./:=,+@%^~-").find(c) != std::string_view::npos;
    });
    line += line.empty() ? "" : " ";
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace memduel
