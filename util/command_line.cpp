#include "util/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "util/error.h"

namespace memduel {
namespace {

[[noreturn]] void fail(std::string_view command, const std::string& what) {
  throw Error(ExitCode::usage, what, fmt::format("command '{}'", command),
              "quote as in a shell; nothing is expanded unless -S is given");
}

/// Whether an expansion begins at `at`: `...`, $(...), ${...} or $NAME.
bool is_expansion(std::string_view raw, std::size_t at) {
  if (raw[at] == '`') return true;
  if (raw[at] != '$' || at + 1 == raw.size()) return false;
  const char next = raw[at + 1];
  return next == '(' || next == '{' || next == '_' ||
         std::isalpha(static_cast<unsigned char>(next)) != 0;
}

struct Word {
  std::string text;
  /// It has an operator that no quote protects, or an expansion that no single quote does.
  bool is_for_a_shell = false;
};

/// Reads one word from `at` on, which is not white space; leaves `at` behind it.
Word read_word(std::string_view text, std::size_t& at) {
  Word word;
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
      if (!escapes) word.text += c;
      word.text += next;
    } else {
      word.text += c;
      word.is_for_a_shell =
          word.is_for_a_shell || (quote != '\'' && is_expansion(text, at)) ||
          (quote == '\0' && std::string_view("|&;<>").find(c) != std::string_view::npos);
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

[[noreturn]] void refuse_shell_word(std::string_view command, std::string_view word) {
  throw Error(ExitCode::usage, fmt::format("found {}, which only a shell understands", word),
              fmt::format("command '{}'", command),
              "give -S, or quote it if the program is to get it");
}

CommandLine split(std::string_view text, bool is_typed) {
  CommandLine command;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    const Word word = read_word(text, at);
    if (is_typed && word.is_for_a_shell) refuse_shell_word(text, text.substr(begin, at - begin));
    const std::optional<std::size_t> equals =
        command.argv.empty() ? assignment(word.text) : std::nullopt;
    if (equals) {
      command.env[word.text.substr(0, *equals)] = word.text.substr(*equals + 1);
    } else {
      command.argv.push_back(word.text);
    }
  }
  if (command.argv.empty() || command.argv.front().empty()) fail(text, "names no program");
  return command;
}

}  // namespace

CommandLine split_command_line(std::string_view text) {
  return split(text, false);
}

CommandLine split_typed_command(std::string_view text) {
  return split(text, true);
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

std::vector<std::string> without_option(std::vector<std::string> words, std::string_view option,
                                        std::size_t values) {
  const std::string with_value = std::string(option) + "=";
  for (std::size_t at = 0; at < words.size() && words[at] != "--";) {
    const bool is_whole = words[at] == option;
    if (!is_whole && !words[at].starts_with(with_value)) {
      ++at;
      continue;
    }
    const std::size_t end = std::min(words.size(), at + 1 + (is_whole ? values : 0));
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(at),
                words.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return words;
}

std::vector<std::string> without_setting(std::vector<std::string> words, std::string_view key) {
  const std::string setting = std::string(key) + "=";
  for (std::size_t at = 0; at < words.size() && words[at] != "--";) {
    const bool is_apart =
        words[at] == "--set" && at + 1 < words.size() && words[at + 1].starts_with(setting);
    if (!is_apart && !words[at].starts_with("--set=" + setting)) {
      ++at;
      continue;
    }
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
    words.erase(begin, begin + (is_apart ? 2 : 1));
  }
  return words;
}

std::vector<std::string> with_options(std::vector<std::string> words,
                                      const std::vector<std::string>& options) {
  words.insert(std::ranges::find(words, "--"), options.begin(), options.end());
  return words;
}

std::string with_command(const std::string& text, const std::string& command) {
  return text + ":\n  " + command;
}

}  // namespace memduel
