// Command lines as people type them, split without a shell.
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

}  // namespace memduel
