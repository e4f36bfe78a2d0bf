#include "cbramod/checkpoint_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "checkpoint_name.h"
#include "util/error.h"
#include "util/file.h"
#include "util/json.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

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
    throw Error(ExitCode::io, "expected a directory, found a symbolic link", path.string(),
                "name the directory that it points to");
  fail_at(path, "open the directory", reason);
}

HeldDirectory::HeldDirectory(Descriptor descriptor, fs::path path)
    : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

HeldDirectory HeldDirectory::child(const std::string& name) const {
  Descriptor below(::openat(descriptor_.get(), name.c_str(), kOpenDirectory));
  if (!below) fail_at(path_ / name, "open the directory");
  return {std::move(below), path_ / name};
}

std::vector<DirectoryEntry> HeldDirectory::entries() const {
  // A description of its own: reading moves the position, which duplicates share.
  const int again = ::openat(descriptor_.get(), ".", kOpenDirectory);
  const std::unique_ptr<DIR, CloseStream> stream(again < 0 ? nullptr : ::fdopendir(again));
  if (stream == nullptr) fail_at(path_, "read the directory");
  std::vector<DirectoryEntry> entries;
  errno = 0;
  while (const dirent* at = ::readdir(stream.get())) {
    const std::string name = at->d_name;
    if (name == "." || name == "..") continue;
    if (std::optional<DirectoryEntry> entry = look(name)) entries.push_back(std::move(*entry));
    errno = 0;
  }
  if (errno != 0) fail_at(path_, "read the directory");
  std::ranges::sort(entries, [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

std::optional<DirectoryEntry> HeldDirectory::look(const std::string& name) const {
  struct stat facts{};
  if (::fstatat(descriptor_.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
    return DirectoryEntry{name,          kind_of(facts.st_mode),
                          facts.st_size, nanoseconds(facts.st_mtim),
                          facts.st_ino,  facts.st_nlink};
  if (errno != ENOENT) fail_at(path_ / name, "inspect it");
  return std::nullopt;
}

std::string HeldDirectory::read(const std::string& name, std::size_t most) const {
  // Not blocked by a pipe that takes the file's place.
  const Descriptor file(
      ::openat(descriptor_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) fail_at(path_ / name, "open");
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t size = ::read(file.get(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail_at(path_ / name, "read");
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
      fail_at(path_ / entry, "inspect it");
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
  if (::unlinkat(descriptor_.get(), name.c_str(), 0) != 0) fail_at(path_ / name, "remove");
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSidecarEnding = ".json";
constexpr std::size_t kMostSidecarBytes = 65536;
constexpr int kMostLevels = 64;

/// The numbers at the top of a sidecar. Throws Error(io).
std::map<std::string, double> parse_sidecar(const std::string& text) {
  const nlohmann::json document = parse_foreign_json(text);
  if (!document.is_object()) throw Error(ExitCode::io, "its sidecar is not a JSON object");
  std::map<std::string, double> metrics;
  for (const auto& [metric, value] : document.items())
    if (value.is_number()) metrics[metric] = value.get<double>();
  return metrics;
}

class TreeReader {
 public:
  explicit TreeReader(Subdirectories subdirectories) : subdirectories_(subdirectories) {}

  CheckpointTree read(const HeldDirectory& root) {
    tree_.root = root.location();
    read_directory(root, {}, 1);
    return std::move(tree_);
  }

 private:
  void read_directory(const HeldDirectory& directory, const fs::path& below, int level) {
    const std::vector<DirectoryEntry> entries = directory.entries();
    std::set<std::string_view> names;
    for (const DirectoryEntry& entry : entries) names.insert(entry.name);
    CheckpointDirectory found{below, {}};
    for (const DirectoryEntry& entry : entries) {
      if (entry.kind == EntryKind::file && !is_sidecar(entry.name, names))
        add_file(directory, entry, names.contains(sidecar_name(entry.name)), found);
      else if (entry.kind == EntryKind::symbolic_link)
        leave(below / entry.name, "a symbolic link");
      else if (entry.kind == EntryKind::other)
        leave(below / entry.name, "not a regular file");
    }
    if (!found.checkpoints.empty()) tree_.directories.push_back(std::move(found));
    if (subdirectories_ == Subdirectories::enter) read_below(directory, entries, below, level);
  }

  void read_below(const HeldDirectory& directory, const std::vector<DirectoryEntry>& entries,
                  const fs::path& below, int level) {
    for (const DirectoryEntry& entry : entries) {
      if (entry.kind != EntryKind::directory) continue;
      if (level == kMostLevels)
        leave(below / entry.name, "a directory that is too deep");
      else
        read_directory(directory.child(entry.name), below / entry.name, level + 1);
    }
  }

  static bool is_sidecar(std::string_view name, const std::set<std::string_view>& names) {
    return name.ends_with(kSidecarEnding) &&
           names.contains(name.substr(0, name.size() - kSidecarEnding.size()));
  }

  void add_file(const HeldDirectory& directory, const DirectoryEntry& entry, bool has_sidecar,
                CheckpointDirectory& found) {
    const std::optional<CheckpointName> said = parse_checkpoint_name(entry.name);
    if (!said && !(has_sidecar && ends_as_checkpoint(entry.name)))
      return leave(found.below / entry.name, "neither a checkpoint name nor a sidecar");
    Checkpoint checkpoint{entry, std::nullopt, std::nullopt, {}};
    if (said) {
      checkpoint.epoch = said->epoch;
      checkpoint.metrics = said->metrics;
    }
    try {
      if (has_sidecar) add_sidecar(directory, checkpoint);
    } catch (const Error& error) {
      return leave(found.below / entry.name, error.what());
    }
    found.checkpoints.push_back(std::move(checkpoint));
  }

  static void add_sidecar(const HeldDirectory& directory, Checkpoint& checkpoint) {
    const std::string name = sidecar_name(checkpoint.file.name);
    checkpoint.sidecar = directory.look(name);
    if (!checkpoint.sidecar || checkpoint.sidecar->kind != EntryKind::file)
      throw Error(ExitCode::io, "its sidecar is not a regular file");
    for (const auto& [metric, value] : parse_sidecar(directory.read(name, kMostSidecarBytes)))
      checkpoint.metrics[metric] = value;
  }

  void leave(const fs::path& path, const std::string& why) {
    tree_.left_alone.push_back({path, why});
  }

  CheckpointTree tree_;
  Subdirectories subdirectories_;
};

}  // namespace

CheckpointTree read_checkpoints(const fs::path& root, Subdirectories subdirectories) {
  return TreeReader(subdirectories).read(HeldDirectory(root));
}

std::string sidecar_name(const std::string& name) {
  return name + std::string(kSidecarEnding);
}

std::int64_t bytes_of(const Checkpoint& checkpoint) {
  return checkpoint.file.bytes + (checkpoint.sidecar ? checkpoint.sidecar->bytes : 0);
}

std::int64_t freed_bytes_of(const Checkpoint& checkpoint) {
  const auto freed = [](const DirectoryEntry& file) { return file.links == 1 ? file.bytes : 0; };
  return freed(checkpoint.file) + (checkpoint.sidecar ? freed(*checkpoint.sidecar) : 0);
}

std::size_t checkpoint_count(const CheckpointTree& tree) {
  std::size_t count = 0;
  for (const CheckpointDirectory& directory : tree.directories)
    count += directory.checkpoints.size();
  return count;
}

std::int64_t checkpoint_bytes(const CheckpointTree& tree) {
  std::int64_t bytes = 0;
  for (const CheckpointDirectory& directory : tree.directories)
    for (const Checkpoint& checkpoint : directory.checkpoints) bytes += bytes_of(checkpoint);
  return bytes;
}

}  // namespace memduel
