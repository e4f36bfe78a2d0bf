#include "cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/standard_error.h"
#include "cli/print.h"
#include "reports/formats/terminal_text.h"

namespace memduel::cli {
namespace {

constexpr int kBarWidth = 12;

}  // namespace

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressBar::show(int done, int total, const std::string& note, const std::string& estimates) {
  if (quiet_) return;
  if (!terminal_) {
    memduel::say(fmt::format("[{}/{}] {}\n", done, total, note));
    return;
  }
  // A total is an estimate: failed gates ask for trials that nobody planned.
  const int filled = total > 0 ? kBarWidth * std::clamp(done, 0, total) / total : 0;
  const auto width = static_cast<std::size_t>(columns_of(STDERR_FILENO) - 1);
  const std::string line =
      fmt::format("[{}{}] {}/{} {}{}", std::string(filled, '#'),
                  std::string(kBarWidth - filled, '.'), done, total, note, estimates);
  memduel::say("\r" + padded(line, width, false));
  bar_open_ = true;
}

void ProgressBar::say(const std::string& message) {
  if (quiet_) return;
  finish();
  memduel::say(fmt::format("{}\n", message));
}

void ProgressBar::finish() {
  if (bar_open_) memduel::say(fmt::format("\r{:{}}\r", "", columns_of(STDERR_FILENO) - 1));
  bar_open_ = false;
}

}  // namespace memduel::cli
