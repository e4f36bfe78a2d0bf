#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/error.h"

namespace memduel {
namespace {

std::string system_reason(int number) {
  return std::generic_category().message(number);
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& action, int number) {
  throw Error(ExitCode::io, "cannot " + action + ": " + system_reason(number), path.string());
}

void write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "write", errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) fail(path, "read", EISDIR);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, "open", errno);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  if (stream.bad()) fail(path, "read", EIO);
  return std::move(bytes).str();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path temporary = path.string() + ".part";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail(path, "create", errno);
  try {
    write_all(fd, bytes, path);
    if (::fsync(fd) != 0) fail(path, "sync", errno);
  } catch (...) {
    ::close(fd);
    ::unlink(temporary.c_str());
    throw;
  }
  ::close(fd);
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    fail(path, "rename", reason);
  }
}

}  // namespace memduel
