#include "base/file.h"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"

namespace memduel {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& action, int number) {
  throw Error(ExitCode::io, "cannot " + action + ": " + std::generic_category().message(number),
              path.string());
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
  AtomicFile file(path);
  file.write(bytes);
  file.finish();
}

}  // namespace memduel
