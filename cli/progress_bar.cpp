#include "cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/standard_error.h"
#include "base/text.h"

namespace memduel::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr int kLineWidth = 79;

}  // namespace

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressBar::show(int done, int total, const std::string& note) {
  if (quiet_) return;
  if (!terminal_) {
    memduel::say(fmt::format("[{}/{}] {}\n", done, total, note));
    return;
  }
  // A total is an estimate: failed gates ask for trials that nobody planned.
  const int filled = total > 0 ? kBarWidth * std::clamp(done, 0, total) / total : 0;
  std::string line = fmt::format("[{}{}] {}/{} {}", std::string(filled, '#'),
                                 std::string(kBarWidth - filled, '.'), done, total, note);
  line.resize(std::min<size_t>(line.size(), kLineWidth));
  memduel::say(fmt::format("\r{:<79}", line));
  bar_open_ = true;
}

void ProgressBar::say(const std::string& message) {
  if (quiet_) return;
  finish();
  memduel::say(fmt::format("{}\n", message));
}

void ProgressBar::finish() {
  if (bar_open_) memduel::say(fmt::format("\r{:79}\r", ""));
  bar_open_ = false;
}

}  // namespace memduel::cli
