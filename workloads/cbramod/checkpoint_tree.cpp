#include "training/held_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/error.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

[[noreturn]] void fail_at(const fs::path& path, const std::string& action, int reason) {
  throw Error(ExitCode::io, "cannot " + action + ": " + std::generic_category().message(reason),
              path.string());
}

/// Without "/" and "/." at the end, which would have a link followed. Nothing else is folded: to
/// the kernel "link/.." is not the directory that holds the link.
fs::path without_final_slash(const fs::path& path) {
  std::string text = path;
  while (text.size() > 1 && (text.ends_with('/') || text.ends_with("/."))) text.pop_back();
  return text;
}

EntryKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::file;
  if (S_ISDIR(mode)) return EntryKind::directory;
  return S_ISLNK(mode) ? EntryKind::symbolic_link : EntryKind::other;
}

/// Times beyond the years 1678 to 2262 become the nearest of them.
std::int64_t nanoseconds(const timespec& time) {
  constexpr std::int64_t kMostSeconds = 9'223'372'035;
  const std::int64_t seconds = std::clamp<std::int64_t>(time.tv_sec, -kMostSeconds, kMostSeconds);
  return seconds * 1'000'000'000 + time.tv_nsec;
}

struct CloseStream {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

}  // namespace

bool DirectoryEntry::is_same_as(const DirectoryEntry& before) const {
  return kind == before.kind && inode == before.inode && bytes == before.bytes &&
         modified_ns == before.modified_ns;
}

HeldDirectory::HeldDirectory(const fs::path& path)
    : descriptor_(::open(without_final_slash(path).c_str(), kOpenDirectory)), path_(path) {
  const int reason = errno;
  if (descriptor_) return;
  std::error_code ignored;
  if (fs::is_symlink(without_final_slash(path), ignored))
    throw Error(ExitCode::io, "found a symbolic link, expected a directory", path.string(),
                "name the directory that it points to");
  fail_at(path, "open the directory", reason);
}

HeldDirectory::HeldDirectory(Descriptor descriptor, fs::path path)
    : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

HeldDirectory HeldDirectory::child(const std::string& name) const {
  Descriptor below(::openat(descriptor_.get(), name.c_str(), kOpenDirectory));
  if (!below) fail_at(path_ / name, "open the directory", errno);
  return {std::move(below), path_ / name};
}

std::vector<DirectoryEntry> HeldDirectory::entries() const {
  // A description of its own: reading moves the position, which duplicates share.
  const int again = ::openat(descriptor_.get(), ".", kOpenDirectory);
  const std::unique_ptr<DIR, CloseStream> stream(again < 0 ? nullptr : ::fdopendir(again));
  if (stream == nullptr) fail_at(path_, "read the directory", errno);
  std::vector<DirectoryEntry> entries;
  errno = 0;
  while (const dirent* at = ::readdir(stream.get())) {
    const std::string name = at->d_name;
    if (name == "." || name == "..") continue;
    if (std::optional<DirectoryEntry> entry = look(name)) entries.push_back(std::move(*entry));
    errno = 0;
  }
  if (errno != 0) fail_at(path_, "read the directory", errno);
  std::ranges::sort(entries, [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

std::optional<DirectoryEntry> HeldDirectory::look(const std::string& name) const {
  struct stat facts{};
  if (::fstatat(descriptor_.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
    return DirectoryEntry{name,          kind_of(facts.st_mode),
                          facts.st_size, nanoseconds(facts.st_mtim),
                          facts.st_ino,  facts.st_nlink};
  if (errno != ENOENT) fail_at(path_ / name, "look at it", errno);
  return std::nullopt;
}

std::string HeldDirectory::read(const std::string& name, std::size_t most) const {
  // Not blocked by a pipe that takes the file's place.
  const Descriptor file(
      ::openat(descriptor_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) fail_at(path_ / name, "open", errno);
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t size = ::read(file.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail_at(path_ / name, "read", errno);
    if (size == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(size));
    if (text.size() > most) fail_at(path_ / name, "read", EFBIG);
  }
}

bool HeldDirectory::may_remove(const std::string& name) const {
  if (::faccessat(descriptor_.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) return false;
  const auto facts_of = [&](const std::string& entry) {
    struct statx facts{};
    const int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
    if (::statx(descriptor_.get(), entry.c_str(), flags, STATX_MODE | STATX_UID, &facts) != 0)
      fail_at(path_ / entry, "look at it", errno);
    return facts;
  };
  const struct statx directory = facts_of("");
  const struct statx file = facts_of(name);
  if ((directory.stx_attributes & STATX_ATTR_APPEND) != 0) return false;
  if ((file.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0) return false;
  const uid_t caller = ::geteuid();
  return (directory.stx_mode & S_ISVTX) == 0 || caller == 0 || caller == directory.stx_uid ||
         caller == file.stx_uid;
}

fs::path HeldDirectory::location() const {
  std::error_code failed;
  fs::path location =
      fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor_.get()), failed);
  if (failed) fail_at(path_, "find out where the directory is", failed.value());
  return location;
}

void HeldDirectory::remove(const std::string& name) const {
  if (::unlinkat(descriptor_.get(), name.c_str(), 0) != 0) fail_at(path_ / name, "remove", errno);
}

}  // namespace memduel
