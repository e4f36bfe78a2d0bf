#include "experiment/marks/log_limit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"

namespace memduel {
namespace {

/// File systems free whole blocks only.
constexpr std::int64_t kBlock = 4096;
constexpr std::int64_t kStatBlock = 512;

/// At most `bytes` from `offset` on.
std::string read_part(const Descriptor& file, std::int64_t offset, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = pread(file.get(), text.data() + filled, text.size() - filled,
                              offset + static_cast<std::int64_t>(filled));
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace

LogLimit::LogLimit(std::filesystem::path path, std::int64_t limit_bytes)
    : path_(std::move(path)), limit_bytes_(std::max(limit_bytes, 4 * kBlock)) {}

void LogLimit::check() {
  struct stat about{};
  if (failed_ || stat(path_.c_str(), &about) != 0) return;
  if (about.st_blocks * kStatBlock <= limit_bytes_) return;
  const std::int64_t begin = limit_bytes_ / 4 / kBlock * kBlock;
  const std::int64_t end = (about.st_size - limit_bytes_ / 4) / kBlock * kBlock;
  if (end <= begin) return;
  const Descriptor file(open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  was_cut_ = true;
  failed_ = !file || fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin,
                               end - begin) != 0;
}

std::int64_t LogLimit::finish() {
  if (!was_cut_ || failed_) return 0;
  std::string kept;
  std::int64_t dropped = 0;
  {
    const Descriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about{};
    if (!file || fstat(file.get(), &about) != 0) return 0;
    const std::int64_t quarter = limit_bytes_ / 4 / kBlock * kBlock;
    const std::int64_t tail_begin = std::max(quarter, about.st_size - quarter);
    std::string head = read_part(file, 0, quarter);
    std::string tail = read_part(file, tail_begin, quarter);
    head.erase(head.rfind('\n') + 1);  // whole lines, or nothing where there are none
    tail.erase(0, tail.find('\n') + 1);
    dropped = about.st_size - static_cast<std::int64_t>(head.size() + tail.size());
    kept = fmt::format("{}[memduel dropped {} bytes of this log here]\n{}", head, dropped, tail);
  }
  write_file_atomically(path_, kept);
  return dropped;
}

}  // namespace memduel
