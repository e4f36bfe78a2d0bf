#include "base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace memduel {
namespace {

[[noreturn]] void fail_writing(const std::filesystem::path& path, const std::string& action) {
  throw Error(ExitCode::io, "cannot " + action + ": " + std::generic_category().message(errno),
              path.string());
}

/// A rename is on disk when its directory is; some file systems have nothing to sync there.
void sync_directory(const std::filesystem::path& file) {
  const std::filesystem::path parent = file.parent_path();
  const Descriptor directory(
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory && ::fsync(directory.get()) != 0 && errno != EINVAL)
    fail_writing(file, "sync the directory");
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path)
    : path_(path),
      temporary_(path.string() + ".part"),
      descriptor_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (!descriptor_) fail_writing(path_, "create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_writing(path_, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void AtomicFile::finish() {
  if (::fsync(descriptor_.get()) != 0) fail_writing(path_, "sync");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_writing(path_, "rename");
  descriptor_.reset();
  sync_directory(path_);
}

}  // namespace memduel
