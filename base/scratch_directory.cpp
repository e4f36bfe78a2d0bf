#include "base/scratch_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/error.h"

namespace memduel {

namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory(const fs::path& parent, const std::string& name) {
  // Before anything is made: the current directory may be gone.
  std::string pattern = (fs::absolute(parent) / (name + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw Error(ExitCode::io, "cannot make a directory: " + std::generic_category().message(errno),
                parent.string());
  ::chmod(pattern.c_str(), S_IRWXU);  // whatever the umask
  path_ = pattern;
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ::flock(lock_, LOCK_EX | LOCK_NB);
}

ScratchDirectory::~ScratchDirectory() {
  // A process that goes on may make a file in it meanwhile.
  constexpr int kTries = 10;
  std::error_code failed;
  for (int tried = 0; tried < kTries; ++tried) {
    fs::remove_all(path_, failed);
    if (!failed) break;
  }
  ::close(lock_);
}

std::vector<fs::path> abandoned_scratch(const fs::path& parent, const std::string& name) {
  std::vector<fs::path> found;
  std::error_code unreadable;
  for (fs::directory_iterator entry(parent, unreadable), end; !unreadable && entry != end;
       entry.increment(unreadable)) {
    if (!entry->path().filename().string().starts_with(name + "-")) continue;
    const int fd = ::open(entry->path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) found.push_back(entry->path());
    ::close(fd);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace memduel
