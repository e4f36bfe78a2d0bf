#include "copied_logs.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <utility>

namespace memduel {
namespace {

/// Between two looks at a log that grows all the time.
constexpr std::int64_t kCopyInterval = 20'000'000;
/// A pipe that can be written to takes so much without waiting.
constexpr std::size_t kPiece = 4096;
/// Of one log in one look.
constexpr int kMostPieces = 256;

bool takes_bytes(int target) {
  pollfd waiting{target, POLLOUT, 0};
  return poll(&waiting, 1, 0) == 1;
}

}  // namespace

CopiedLogs::CopiedLogs(const std::vector<Log>& logs, Write write)
    : write_(std::move(write)), inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  for (const Log& log : logs) {
    Source source{Descriptor(open(log.path.c_str(), O_RDONLY | O_CLOEXEC)), log.target, 0};
    if (inotify_) inotify_add_watch(inotify_.get(), log.path.c_str(), IN_MODIFY);
    sources_.push_back(std::move(source));
  }
  if (!inotify_) due_ns_ = 0;
}

void CopiedLogs::changed() {
  std::array<char, 4096> events{};
  while (::read(inotify_.get(), events.data(), events.size()) > 0) {
  }
  due_ns_ = std::min(due_ns_, last_copy_ns_ + kCopyInterval);
}

bool CopiedLogs::copy_piece(Source& source) {
  std::array<char, kPiece> buffer{};
  const ssize_t got = pread(source.file.get(), buffer.data(), buffer.size(), source.offset);
  if (got <= 0) return false;
  source.offset += got;
  write_(source.target, {buffer.data(), static_cast<std::size_t>(got)});
  return true;
}

void CopiedLogs::copy(std::int64_t now_ns) {
  if (now_ns < due_ns_) return;
  last_copy_ns_ = now_ns;
  due_ns_ = inotify_ ? INT64_MAX : now_ns + kCopyInterval;
  for (Source& source : sources_) {
    bool more = true;
    for (int pieces = 0; more && pieces < kMostPieces && takes_bytes(source.target); ++pieces)
      more = copy_piece(source);
    if (more) due_ns_ = now_ns + kCopyInterval;
  }
}

void CopiedLogs::finish() {
  for (Source& source : sources_) {
    while (copy_piece(source)) {
    }
  }
}

}  // namespace memduel
