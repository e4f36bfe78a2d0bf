// Help that fits a terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace memduel::cli {

inline constexpr const char* kCommandHelp = "the command and its arguments, after --";

/// Broken at spaces so that it fits 80 columns; continued lines start with `indent` spaces.
std::string wrapped(const std::string& line, std::size_t indent);

/// CLI11's help with lines of at most 80 columns.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
};

}  // namespace memduel::cli
