// A log that is read line by line while it is written.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "trial/marks.h"

namespace memduel {
namespace {

/// A program that goes on writing where it was after its log was cut leaves a hole of zeros.
std::string_view without_hole(std::string_view piece) {
  piece.remove_prefix(std::min(piece.find_first_not_of('\0'), piece.size()));
  return piece;
}

}  // namespace

void TextLines::append(std::string_view piece) {
  if (rest_.empty()) piece = without_hole(piece);
  rest_.append(piece.substr(0, kLongestLine - rest_.size()));
}

void TextLines::end_line(std::string_view piece, const Take& take) {
  if (rest_.empty()) {
    piece = without_hole(piece).substr(0, kLongestLine);
  } else {
    append(piece);
    piece = rest_;
  }
  if (!piece.empty()) {
    ++count_;
    take(piece);
  }
  rest_.clear();
}

void TextLines::feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    std::string_view line = bytes.substr(0, newline);
    for (std::size_t end = line.find('\r'); end != std::string_view::npos; end = line.find('\r')) {
      end_line(line.substr(0, end), take);
      line.remove_prefix(end + 1);
    }
    if (newline == std::string_view::npos) {
      append(line);
      return;
    }
    end_line(line, take);
    bytes.remove_prefix(newline + 1);
  }
}

void TextLines::finish(const Take& take) {
  end_line({}, take);
}

FollowedLog::FollowedLog(std::filesystem::path path, int inotify)
    : path_(std::move(path)), inotify_(inotify) {
  struct stat about{};
  if (open_file() && fstat(file_.get(), &about) == 0) offset_ = about.st_size;
}

bool FollowedLog::open_file() {
  // Without waiting: it might be a FIFO.
  file_ = Descriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file_) return false;
  struct stat about{};
  if (fstat(file_.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    file_.reset();
    return false;
  }
  was_seen_ = true;
  was_replaced_ = false;
  offset_ = 0;
  // By its descriptor: by the path it might be the next file already. The watch goes with the
  // inotify instance; another reader of this file may share it.
  if (inotify_ >= 0) {
    watch_ = inotify_add_watch(inotify_, fmt::format("/proc/self/fd/{}", file_.get()).c_str(),
                               IN_MODIFY | IN_MOVE_SELF | IN_ATTRIB);
  }
  return true;
}

bool FollowedLog::is_replaced() const {
  struct stat ours{};
  struct stat theirs{};
  if (fstat(file_.get(), &ours) != 0) return true;
  if (stat(path_.c_str(), &theirs) != 0) return true;
  return ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev;
}

void FollowedLog::restart_if_cut() {
  struct stat about{};
  if (fstat(file_.get(), &about) != 0 || about.st_size >= offset_) return;
  offset_ = 0;
  lines_.restart();
}

/// Returns whether the end was reached.
bool FollowedLog::read_to_end(const TextLines::Take& take, std::size_t& budget) {
  std::array<char, 65536> buffer{};
  while (budget > 0) {
    const ssize_t got = pread(file_.get(), buffer.data(), buffer.size(), offset_);
    if (got <= 0) return true;
    offset_ += got;
    budget -= std::min(budget, static_cast<std::size_t>(got));
    lines_.feed({buffer.data(), static_cast<std::size_t>(got)}, take);
  }
  return false;
}

bool FollowedLog::read(const TextLines::Take& take, std::size_t max_bytes) {
  std::size_t budget = max_bytes;
  while (file_ || open_file()) {
    restart_if_cut();
    // Asked before the file is read to its end, so that nothing written before it was renamed is
    // missed.
    was_replaced_ = is_replaced();
    if (!read_to_end(take, budget)) return true;
    if (!was_replaced_) return false;
    // Its writer goes on with it until the next one is there.
    if (!is_there(path_)) return false;
    lines_.finish(take);
    file_.reset();
  }
  return false;
}

void FollowedLog::finish(const TextLines::Take& take) {
  // Bounded by what is there: another process may go on writing for ever.
  constexpr std::size_t kNextFile = std::size_t{64} << 20;
  struct stat about{};
  const bool is_open = file_ && fstat(file_.get(), &about) == 0;
  const off_t left = is_open ? std::max<off_t>(0, about.st_size - offset_) : 0;
  read(take, static_cast<std::size_t>(left) + kNextFile);
  lines_.finish(take);
}

}  // namespace memduel
