// Command lines: split without a shell as people type them, quoted, and printed again with some of
// their options changed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace memduel {

struct CommandLine {
  std::map<std::string, std::string> env;  ///< from leading NAME=VALUE words
  std::vector<std::string> argv;
};

/// Splits by POSIX quoting rules (2.2 Quoting: backslash, single and double quotes); nothing is
/// expanded, and operators such as | and > are ordinary characters. Throws Error(usage) for an open
/// quote, a trailing backslash, or no command.
CommandLine split_command_line(std::string_view text);

/// The same for a command that a person typed. Throws Error(usage) also for what only a shell
/// understands: | & ; < > without quotes, and $NAME, ${…}, $(…) and `…` without single quotes.
CommandLine split_typed_command(std::string_view text);

/// The words as a shell reads them back.
std::string quoted_command_line(const std::vector<std::string>& words);

/// `words` without every `option` and the `values` words after it, or its value in the same word.
/// What stands behind "--" belongs to another program and stays.
std::vector<std::string> without_option(std::vector<std::string> words, std::string_view option,
                                        std::size_t values);

/// `words` without every "--set KEY=VALUE" of `key`.
std::vector<std::string> without_setting(std::vector<std::string> words, std::string_view key);

/// `words` with `options` behind their own, before "--".
std::vector<std::string> with_options(std::vector<std::string> words,
                                      const std::vector<std::string>& options);

/// Text that ends with a command, which stands on a line of its own: nothing breaks that line.
std::string with_command(const std::string& text, const std::string& command);

}  // namespace memduel
