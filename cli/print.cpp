#include "cli/print.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <sstream>

#include "reports/terminal.h"
#include "util/error.h"
#include "util/text.h"

namespace memduel::cli {

namespace {

/// Absent where it is no terminal, or does not say.
std::optional<int> terminal_columns(int descriptor) {
  constexpr int kLeastColumns = 20;
  winsize size{};
  const bool terminal = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return terminal && size.ws_col >= kLeastColumns ? std::optional<int>(size.ws_col) : std::nullopt;
}

}  // namespace

int columns_of(int descriptor) {
  return terminal_columns(descriptor).value_or(80);
}

std::string fitted_to(int descriptor, const std::string& text) {
  const auto columns = terminal_columns(descriptor);
  return columns ? fitted(text, *columns) : text;
}

void print_fitted(const std::string& text) {
  print(fitted_to(STDOUT_FILENO, text));
}

void print_table(const std::string& table) {
  const auto columns = terminal_columns(STDOUT_FILENO);
  if (!columns) return print(table);
  const auto width = static_cast<std::size_t>(*columns);
  std::string text;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);)
    text += (count_characters(line) > width ? padded(line, width, false) : line) + "\n";
  print(text);
}

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  const bool is_done = std::fflush(stdout) == 0 && written;
  // A reader that has seen enough (head) is no failure.
  if (!is_done && errno != EPIPE) throw Error(ExitCode::io, "cannot write", "stdout");
}

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

// A line in the last column would make some terminals begin another one.
std::size_t ProgressLine::width() {
  return static_cast<std::size_t>(columns_of(STDERR_FILENO) - 1);
}

void ProgressLine::show(const std::string& line) {
  if (quiet_) return;
  if (!terminal_) return memduel::say(line + "\n");
  memduel::say("\r" + padded(line, width(), false));
  open_ = true;
}

void ProgressLine::say(const std::string& message) {
  if (quiet_) return;
  finish();
  memduel::say(message + "\n");
}

void ProgressLine::finish() {
  if (open_) memduel::say(fmt::format("\r{:{}}\r", "", width()));
  open_ = false;
}

}  // namespace memduel::cli
