#include "base/file.h"

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"

namespace memduel {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& action, int number) {
  throw Error(ExitCode::io, "cannot " + action + ": " + std::generic_category().message(number),
              path.string());
}

void write(AtomicFile&& file, std::string_view bytes) {
  file.write(bytes);
  file.finish();
}

}  // namespace

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
  if (std::filesystem::is_directory(path, unreachable)) fail(path, "read", EISDIR);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, "open", errno);
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
  if (stream.bad()) fail(path, "read", EIO);
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

}  // namespace memduel
