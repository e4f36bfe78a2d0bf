#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <string>
#include <system_error>

#include "base/error.h"

namespace memduel {
namespace {

constexpr int kAttempts = 16;
constexpr int kMostLinks = 40;  ///< as the kernel follows

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

std::filesystem::path file_behind(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path target = path;
  for (int links = 0; links < kMostLinks && std::filesystem::is_symlink(target, error); ++links) {
    const std::filesystem::path to = std::filesystem::read_symlink(target, error);
    if (error) break;
    target = to.is_absolute() ? to : target.parent_path() / to;
  }
  return target;
}

bool is_written_through(const std::filesystem::path& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return false;
  const std::string name = std::filesystem::absolute(path).lexically_normal().string();
  const bool is_open_file =
      (name.starts_with("/dev/") && !name.starts_with("/dev/shm/")) || name.starts_with("/proc/");
  return !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode)) || is_open_file;
}

AtomicFile::AtomicFile(const std::filesystem::path& path, Target target, mode_t mode)
    : path_(path), place_(path) {
  if (target == Target::named && is_written_through(path)) {
    // /dev/stdout may be a file that others write to as well.
    descriptor_ = Descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!descriptor_) fail_writing(path_, "open");
    return;
  }
  if (target == Target::named) place_ = file_behind(path);
  std::random_device random;
  for (int attempt = 0; attempt < kAttempts && !descriptor_; ++attempt) {
    temporary_ = place_.parent_path() /
                 ("." + place_.filename().string() + "." + std::to_string(random()) + ".part");
    descriptor_ = Descriptor(
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!descriptor_ && errno != EEXIST) break;
  }
  if (!descriptor_) fail_writing(path_, "create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ && !temporary_.empty()) ::unlink(temporary_.c_str());
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
  if (temporary_.empty()) {  // a device or a pipe has what it was given
    descriptor_.reset();
    return;
  }
  if (::fsync(descriptor_.get()) != 0) fail_writing(path_, "sync");
  if (::rename(temporary_.c_str(), place_.c_str()) != 0) fail_writing(path_, "rename");
  descriptor_.reset();
  sync_directory(place_);
}

}  // namespace memduel
