#include "cli/print.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/error.h"
#include "reports/formats/terminal_text.h"

namespace memduel::cli {

std::string fitted_to(int descriptor, const std::string& text) {
  constexpr int kLeastColumns = 20;
  winsize size{};
  const bool terminal = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return terminal && size.ws_col >= kLeastColumns ? fitted(text, size.ws_col) : text;
}

void print_fitted(const std::string& text) {
  print(fitted_to(STDOUT_FILENO, text));
}

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  const bool is_done = std::fflush(stdout) == 0 && written;
  // A reader that has seen enough (head) is no failure.
  if (!is_done && errno != EPIPE) throw Error(ExitCode::io, "cannot write", "stdout");
}

}  // namespace memduel::cli
