#include "cli/live_block.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace memduel::cli {
namespace {

constexpr int kMostColumns = 80;
/// Of a line that is never finished.
constexpr std::size_t kLongestHeld = 4096;

}  // namespace

void write_to(int target, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(target, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

int live_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kMostColumns;
  return std::min<int>(kMostColumns, size.ws_col);
}

void LiveBlock::erase() {
  if (lines_.empty()) return;
  const std::string up = lines_.size() > 1 ? fmt::format("\033[{}A", lines_.size() - 1) : "";
  write_to(STDERR_FILENO, "\r" + up + "\033[J");
  lines_.clear();
}

void LiveBlock::redraw() const {
  std::string text;
  for (const std::string& line : lines_) text += (text.empty() ? "" : "\n") + line;
  write_to(STDERR_FILENO, text);
}

void LiveBlock::draw(const std::vector<std::string>& lines) {
  erase();
  lines_ = lines;
  redraw();
}

void LiveBlock::say(const std::string& line) {
  const std::vector<std::string> lines = lines_;
  erase();
  write_to(STDERR_FILENO, line + "\n");
  draw(lines);
}

void LiveBlock::write(int target, std::string_view bytes) {
  if (::isatty(target) != 1) return write_to(target, bytes);
  std::string& held = unfinished_[target];
  held += bytes;
  const std::size_t end = held.find_last_of("\r\n");
  std::string whole = end == std::string::npos ? "" : held.substr(0, end + 1);
  held.erase(0, whole.size());
  if (held.size() > kLongestHeld) whole += std::exchange(held, {}) + "\n";
  if (whole.empty()) return;
  const std::vector<std::string> lines = lines_;
  erase();
  write_to(target, whole);
  draw(lines);
}

void LiveBlock::flush() {
  erase();
  for (auto& [target, text] : unfinished_) write_to(target, std::exchange(text, {}));
}

}  // namespace memduel::cli
