#include "util/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <system_error>

#include "util/error.h"

namespace memduel {
namespace {

void write(AtomicFile&& file, std::string_view bytes) {
  file.write(bytes);
  file.finish();
}

}  // namespace

bool write_all(int descriptor, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool is_there(const std::filesystem::path& path) noexcept {
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable);
}

Descriptor unnamed_file(const std::filesystem::path& directory) {
  std::string name = (directory / ".memduel-XXXXXX").string();
  Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file) ::unlink(name.c_str());
  return file;
}

void fail_at(const std::filesystem::path& path, const std::string& action, int error) {
  throw Error(ExitCode::io, "cannot " + action + ": " + std::generic_category().message(error),
              path.string());
}

void make_directory(const std::filesystem::path& directory, const std::string& advice) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  std::error_code unreachable;
  if (!error && !std::filesystem::is_directory(directory, unreachable))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    throw Error(ExitCode::io, "cannot make a directory: " + error.message(), directory.string(),
                advice);
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code unreachable;
  const bool is_file = std::filesystem::is_regular_file(path, unreachable);
  return read_file_of_at_most(path, is_file ? SIZE_MAX - 1 : kMostOfAStream);
}

std::string read_file_of_at_most(const std::filesystem::path& path, std::size_t most) {
  std::error_code unreachable;
  if (std::filesystem::is_directory(path, unreachable)) fail_at(path, "read", EISDIR);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail_at(path, "open");
  std::string bytes;
  constexpr std::size_t kPiece = 1 << 16;
  std::error_code no_size;
  const auto size = std::filesystem::file_size(path, no_size);
  const bool too_large = !no_size && size > most;
  if (!no_size && !too_large) bytes.reserve(size + kPiece);
  while (!too_large && stream && bytes.size() <= most) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    stream.read(bytes.data() + before, kPiece);
    bytes.resize(before + static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) fail_at(path, "read", EIO);
  if (too_large || bytes.size() > most)
    throw Error(ExitCode::io, "found more than " + std::to_string(most) + " bytes", path.string());
  return bytes;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  write(AtomicFile(path), bytes);
}

void write_private_file(const std::filesystem::path& path, std::string_view bytes) {
  write(AtomicFile(path, Target::own, 0600), bytes);
}

void write_named_file(const std::filesystem::path& path, std::string_view bytes) {
  write(AtomicFile(path, Target::named), bytes);
}

std::string read_text_file(const std::filesystem::path& path) {
  return read_file_of_at_most(path, kMostOfAStream);
}

namespace {

constexpr int kAttempts = 16;
constexpr int kMostLinks = 40;  ///< as the kernel follows

/// A rename is on disk when its directory is; some file systems have nothing to sync there.
void sync_directory(const std::filesystem::path& file) {
  const std::filesystem::path parent = file.parent_path();
  const Descriptor directory(
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory && ::fsync(directory.get()) != 0 && errno != EINVAL)
    fail_at(file, "sync the directory");
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
    if (!descriptor_) fail_at(path_, "open");
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
  if (!descriptor_) fail_at(path_, "create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (!write_all(descriptor_.get(), bytes)) fail_at(path_, "write");
}

void AtomicFile::finish() {
  if (temporary_.empty()) {  // a device or a pipe has what it was given
    descriptor_.reset();
    return;
  }
  if (::fsync(descriptor_.get()) != 0) fail_at(path_, "sync");
  if (::rename(temporary_.c_str(), place_.c_str()) != 0) fail_at(path_, "rename");
  descriptor_.reset();
  sync_directory(place_);
}

namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory(const fs::path& parent, const std::string& name) {
  // Before anything is made: the current directory may be gone.
  std::string pattern = (fs::absolute(parent) / (name + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) fail_at(parent, "make a directory");
  ::chmod(pattern.c_str(), S_IRWXU);  // whatever the umask
  path_ = pattern;
  lock_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ::flock(lock_.get(), LOCK_EX | LOCK_NB);
}

ScratchDirectory::~ScratchDirectory() {
  // A process that goes on may make a file in it meanwhile.
  constexpr int kTries = 10;
  std::error_code failed;
  for (int tried = 0; tried < kTries; ++tried) {
    fs::remove_all(path_, failed);
    if (!failed) break;
  }
}

std::vector<fs::path> abandoned_scratch(const fs::path& parent, const std::string& name) {
  std::vector<fs::path> found;
  std::error_code unreadable;
  for (fs::directory_iterator entry(parent, unreadable), end; !unreadable && entry != end;
       entry.increment(unreadable)) {
    if (!entry->path().filename().string().starts_with(name + "-")) continue;
    const Descriptor directory(
        ::open(entry->path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (directory && ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0)
      found.push_back(entry->path());
  }
  std::ranges::sort(found);
  return found;
}

namespace {

/// As the XDG Base Directory Specification 0.8 has it: a relative path is ignored.
std::optional<fs::path> user_directory(const char* variable, const char* below_home) {
  const char* given = std::getenv(variable);
  if (given != nullptr && *given == '/') return fs::path(given) / "memduel";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return std::nullopt;
  return fs::path(home) / below_home / "memduel";
}

}  // namespace

std::optional<fs::path> cache_directory() {
  return user_directory("XDG_CACHE_HOME", ".cache");
}

std::optional<fs::path> state_directory() {
  return user_directory("XDG_STATE_HOME", ".local/state");
}

}  // namespace memduel
