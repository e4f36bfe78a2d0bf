// Files and directories: descriptors that close themselves, whole files in and out, files that are
// written atomically, scratch directories, the cache, and files that are built into the program.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memduel {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// The ends of a pipe, which no program that is executed inherits.
struct Pipe {
  Descriptor from;
  Descriptor into;
};

/// Both ends are empty where there can be none, and errno says why.
inline Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// False where not all of it could be written, and errno says why.
bool write_all(int descriptor, std::string_view bytes) noexcept;

/// A file that is gone with its last descriptor and mapping, however the process ends. Empty where
/// `directory` can have none, and errno says why.
Descriptor unnamed_file(const std::filesystem::path& directory);

/// Throws Error(io), "cannot ACTION: " and the system's words for `error`, naming `path`.
[[noreturn]] void fail_at(const std::filesystem::path& path, const std::string& action,
                          int error = errno);

/// What a pipe or a device gives may never end.
inline constexpr std::size_t kMostOfAStream = std::size_t{256} << 20;

/// False also where that cannot be found out.
bool is_there(const std::filesystem::path& path) noexcept;

/// With those above it; nothing where it is there already. Throws Error(io) naming it and the
/// system's reason.
void make_directory(const std::filesystem::path& directory, const std::string& advice = "");

/// The bytes of `path`; of a pipe or a device at most kMostOfAStream. Throws Error(io) naming the
/// file and the system's reason.
std::string read_file(const std::filesystem::path& path);

/// The same of a file that nobody makes larger than `most` bytes: throws for a larger one, and for
/// a device that never ends.
std::string read_file_of_at_most(const std::filesystem::path& path, std::size_t most);

/// Writes beside `path`, syncs and renames, so that `path` holds either the old bytes or all the
/// new. A symlink or a device of that name is replaced. Throws Error(io); the temporary file is
/// removed.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// The same, for the user's eyes alone (mode 0600).
void write_private_file(const std::filesystem::path& path, std::string_view bytes);

/// The same to a path that the user named: symlinks stay, and what they lead to is replaced;
/// devices and pipes are written through.
void write_named_file(const std::filesystem::path& path, std::string_view bytes);

/// The bytes of `path`, 256 MiB at most. Throws Error(io) naming the file and what is wrong.
std::string read_text_file(const std::filesystem::path& path);

/// Who chose the path, and so what is done with what is there and no regular file.
enum class Target {
  /// memduel: the name is its own, so whatever has it is replaced and no symlink is followed.
  own,
  /// The user: a symlink keeps being one, and what it leads to is replaced; a device, a pipe or
  /// what somebody has open (/dev/stdout) is written through.
  named,
};

/// Whether what is there is no file that could be replaced: a device, a pipe, a socket, or what
/// somebody has open (/dev/stdout, /dev/fd/N).
bool is_written_through(const std::filesystem::path& path);

/// Where a path leads if a symlink has its name, also one that leads to nothing; else the path.
std::filesystem::path file_behind(const std::filesystem::path& path);

/// A file that comes to be whole or not at all: it is written beside its place under a name that
/// nobody can foresee, synced and renamed.
///
/// Every function throws Error(io) that names the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path, Target target = Target::own,
                      mode_t mode = 0644);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// What is not finished is removed.
  ~AtomicFile();

  void write(std::string_view bytes);
  /// After this `path` holds what was written, also when the machine fails.
  void finish();

 private:
  std::filesystem::path path_;
  std::filesystem::path place_;      ///< path, or what it leads to
  std::filesystem::path temporary_;  ///< empty where it is written through
  Descriptor descriptor_;
};

/// A directory that is gone, with all it holds, when its owner is.
class ScratchDirectory {
 public:
  /// Makes PARENT/NAME-XXXXXX. Throws Error(io) naming the parent and the system's reason.
  ScratchDirectory(const std::filesystem::path& parent, const std::string& name);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }  ///< absolute

 private:
  std::filesystem::path path_;
  Descriptor lock_;  ///< held until the owner ends, however it does
};

/// Those of this name in `parent` whose owner ended without removing them: it was killed.
std::vector<std::filesystem::path> abandoned_scratch(const std::filesystem::path& parent,
                                                     const std::string& name);

/// $XDG_CACHE_HOME/memduel or ~/.cache/memduel; it may not exist yet. std::nullopt if neither
/// variable is an absolute path, since other users could change a cache in a shared directory.
std::optional<std::filesystem::path> cache_directory();
/// The same of $XDG_STATE_HOME/memduel or ~/.local/state/memduel.
std::optional<std::filesystem::path> state_directory();

/// A file of configs/ that is built into a program; cmake/EmbedFiles.cmake writes the functions
/// that give them.
struct EmbeddedFile {
  std::string_view name;  ///< below configs/, for example "schema/fl.schema.json"
  std::string_view text;
};

/// The text of the file with that name. Throws std::logic_error: the build leaves none out.
inline std::string_view embedded_file(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files)
    if (file.name == name) return file.text;
  throw std::logic_error("not built in: " + std::string(name));
}

/// The FL workloads' schema, switches and presets.
std::span<const EmbeddedFile> fl_files();

}  // namespace memduel
