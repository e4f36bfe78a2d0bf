#include "cifar10.h"

#include <fmt/format.h>

#include "data/load.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

constexpr std::size_t kImageBytes = 3 * 32 * 32;
constexpr std::size_t kRecordBytes = 1 + kImageBytes;

}  // namespace

ImageSet parse_cifar10(std::string_view bytes, const std::string& name) {
  if (bytes.empty() || bytes.size() % kRecordBytes != 0)
    throw Error(ExitCode::io,
                fmt::format("byte {}: expected whole records of {} bytes, found {} bytes",
                            bytes.size() - bytes.size() % kRecordBytes, kRecordBytes, bytes.size()),
                name, kFetchAgain);
  ImageSet set{3, 32, 32, {}, {}};
  const std::size_t count = bytes.size() / kRecordBytes;
  set.pixels.reserve(count * kImageBytes);
  set.labels.reserve(count);
  for (std::size_t offset = 0; offset < bytes.size(); offset += kRecordBytes) {
    const auto label = static_cast<std::uint8_t>(bytes[offset]);
    if (label >= kClasses)
      throw Error(ExitCode::io,
                  fmt::format("byte {}: expected a label from 0 to {}, found {}", offset,
                              kClasses - 1, label),
                  name, kFetchAgain);
    set.labels.push_back(label);
    const std::string_view pixels = bytes.substr(offset + 1, kImageBytes);
    set.pixels.insert(set.pixels.end(), pixels.begin(), pixels.end());
  }
  return set;
}

ImageSet read_cifar10(const std::filesystem::path& path) {
  return parse_cifar10(read_file(path), path.string());
}

}  // namespace memduel
