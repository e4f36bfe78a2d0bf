#include "cli/help.h"

#include <sstream>

namespace memduel::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kOptionColumn = 28;

/// An option's description goes on in its own column.
std::size_t indent_of(const std::string& line) {
  const bool option =
      line.starts_with("  ") && line.size() > kOptionColumn && line[kOptionColumn - 1] == ' ';
  return option ? kOptionColumn : line.find_first_not_of(' ');
}

}  // namespace

std::string wrapped(const std::string& line, std::size_t indent) {
  std::string rest = line;
  std::string out;
  while (rest.size() > kWidth) {
    const std::size_t cut = rest.rfind(' ', kWidth);
    if (cut == std::string::npos || cut <= indent) break;
    out += rest.substr(0, cut) + '\n';
    rest = std::string(indent, ' ') + rest.substr(cut + 1);
  }
  return out + rest + '\n';
}

HelpFormatter::HelpFormatter() {
  column_width(kOptionColumn);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::istringstream lines(CLI::Formatter::make_help(app, std::move(name), mode));
  std::string out;
  for (std::string line; std::getline(lines, line);) out += wrapped(line, indent_of(line));
  return out;
}

}  // namespace memduel::cli
