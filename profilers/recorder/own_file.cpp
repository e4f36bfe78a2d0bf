#include "own_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "counters.h"

namespace memduel::recorder {

namespace {

// A write beyond RLIMIT_FSIZE would kill the program by SIGXFSZ.
bool may_grow_to(std::int64_t bytes) {
  rlimit limit{};
  const long failed =
      raw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, reinterpret_cast<long>(&limit));
  return failed != 0 || static_cast<rlim_t>(bytes) <= limit.rlim_cur;
}

}  // namespace

// Low numbers are what programs count on: one that has closed its descriptors opens the next ones
// by their order.
bool OwnFile::open_high(int flags, bool low_will_do) {
  constexpr int kHighNumber = 900;
  char path[sizeof settings.directory + 64];
  image_path(suffix_, path, sizeof path);
  const long fd =
      raw_syscall(SYS_open, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC | flags, 0644);
  if (fd < 0) return false;
  const long moved = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kHighNumber);
  if (moved >= 0 || !low_will_do) raw_syscall(SYS_close, fd);
  if (moved < 0 && !low_will_do) return false;
  fd_ = static_cast<int>(moved >= 0 ? moved : fd);
  return true;
}

bool OwnFile::create(const char* suffix) {
  suffix_ = suffix;
  if (!open_high(O_CREAT | O_EXCL, true)) return false;
  struct stat opened{};
  if (fstat(fd_, &opened) != 0) return false;
  inode_ = opened.st_ino;
  device_ = opened.st_dev;
  end_ = 0;
  return true;
}

// The number may be another file's by now; that one is the program's, and stays open.
bool OwnFile::is_open() {
  if (is_ours()) return true;
  if (suffix_ == nullptr || fd_ < 0) return false;
  const int lost = fd_;
  if (open_high(0, false) && is_ours()) return true;
  if (fd_ != lost) raw_syscall(SYS_close, fd_);
  fd_ = -1;
  return false;
}

bool OwnFile::is_ours() const {
  struct stat now{};
  return fd_ >= 0 && fstat(fd_, &now) == 0 && now.st_ino == inode_ && now.st_dev == device_;
}

void OwnFile::close() {
  if (is_ours()) raw_syscall(SYS_close, fd_);
  fd_ = -1;
}

bool OwnFile::append(const void* bytes, std::size_t count) {
  const std::int64_t end = end_ + static_cast<std::int64_t>(count);
  if (!is_open() || !may_grow_to(end) || !write_all(fd_, bytes, count, end_)) return false;
  end_ = end;
  return true;
}

}  // namespace memduel::recorder
