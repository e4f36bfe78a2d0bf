#include "cli/help.h"

#include <sstream>

namespace memduel::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kOptionColumn = 28;

/// Breaks at spaces; an option's description goes on in its own column.
std::string wrapped(const std::string& line) {
  const bool option =
      line.starts_with("  ") && line.size() > kOptionColumn && line[kOptionColumn - 1] == ' ';
  const std::string indent(option ? kOptionColumn : line.find_first_not_of(' '), ' ');
  std::string rest = line;
  std::string out;
  while (rest.size() > kWidth) {
    const std::size_t cut = rest.rfind(' ', kWidth);
    if (cut == std::string::npos || cut <= indent.size()) break;
    out += rest.substr(0, cut) + '\n';
    rest = indent + rest.substr(cut + 1);
  }
  return out + rest;
}

}  // namespace

HelpFormatter::HelpFormatter() {
  column_width(kOptionColumn);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::istringstream lines(CLI::Formatter::make_help(app, std::move(name), mode));
  std::string out;
  for (std::string line; std::getline(lines, line);)
    out += (line.size() > kWidth ? wrapped(line) : line) + '\n';
  return out;
}

}  // namespace memduel::cli
