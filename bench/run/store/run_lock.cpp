#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "model/run_directory.h"
#include "run/store.h"
#include "util/error.h"

namespace memduel {
namespace {

std::string holder(int fd) {
  std::array<char, 64> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  std::string line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return line.substr(0, line.find('\n'));
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& directory) {
  const auto file = directory / kLockFile;
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd_ < 0) {
    throw Error(ExitCode::io, fmt::format("cannot make the lock file: {}", std::strerror(errno)),
                file.string());
  }
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    const std::string process = holder(fd_);
    ::close(std::exchange(fd_, -1));
    if (reason != EWOULDBLOCK) {
      throw Error(ExitCode::io, fmt::format("cannot lock: {}", std::strerror(reason)),
                  file.string());
    }
    throw Error(ExitCode::usage, fmt::format("another memduel is using this run ({})", process),
                directory.string(), "wait for it, or give another --out");
  }
  const std::string line = fmt::format("pid {}\n", ::getpid());
  if (::ftruncate(fd_, 0) != 0 ||
      ::pwrite(fd_, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) {
    const int reason = errno;
    ::close(std::exchange(fd_, -1));
    throw Error(ExitCode::io, fmt::format("cannot write: {}", std::strerror(reason)),
                file.string());
  }
}

RunLock::RunLock(RunLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

RunLock::~RunLock() {
  if (fd_ >= 0) ::close(fd_);
}

bool is_in_use(const std::filesystem::path& directory) {
  const int fd = ::open((directory / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return false;
  // Shared: several who look do not take each other for a run.
  const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return held;
}

}  // namespace memduel
