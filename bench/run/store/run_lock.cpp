#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "model/run_directory.h"
#include "run/store.h"
#include "util/error.h"
#include "util/file.h"

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
  file_ = Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file_) fail_at(file, "create the lock file");
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail_at(file, "lock");
    throw Error(ExitCode::usage,
                fmt::format("another memduel is using this run ({})", holder(file_.get())),
                directory.string(), "wait for it, or use another --out");
  }
  const std::string line = fmt::format("pid {}\n", ::getpid());
  if (::ftruncate(file_.get(), 0) != 0 || !write_all(file_.get(), line)) fail_at(file, "write");
}

bool is_in_use(const std::filesystem::path& directory) {
  const Descriptor file(::open((directory / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  // Shared: several who look do not take each other for a run.
  return file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace memduel
