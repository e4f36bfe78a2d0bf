#include "idx.h"

#include <fmt/format.h>

#include <cstdint>

#include "data/file_lengths.h"
#include "data/load.h"
#include "gzip.h"
#include "util/error.h"
#include "util/file.h"

namespace memduel {
namespace {

constexpr std::uint32_t kImageMagic = 0x00000803;
constexpr std::uint32_t kLabelMagic = 0x00000801;
constexpr std::size_t kImageHeader = 16;
constexpr std::size_t kLabelHeader = 8;
// The largest published file, MNIST's 60,000 training images, has 47 MB.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::uint32_t kMostPixelsPerSide = 4096;

[[noreturn]] void fail(const std::string& file, std::size_t offset, const std::string& what) {
  throw Error(ExitCode::io, fmt::format("byte {}: {}", offset, what), file, kFetchAgain);
}

std::uint32_t big_endian_u32(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<std::uint8_t>(bytes[offset + i]);
  return value;
}

void expect_header(std::string_view bytes, std::size_t header, std::uint32_t magic,
                   const std::string& file) {
  if (bytes.size() < header) fail(file, bytes.size(), ends_within_header(bytes.size(), header));
  const std::uint32_t found = big_endian_u32(bytes, 0);
  if (found != magic)
    fail(file, 0, fmt::format("expected magic 0x{:08x}, found 0x{:08x}", magic, found));
}

void expect_size(std::string_view bytes, std::size_t expected, const std::string& file) {
  if (bytes.size() != expected)
    fail(file, std::min(bytes.size(), expected), not_of_header(bytes.size(), expected));
}

std::string load(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  return is_gzip(bytes) ? gunzip(bytes, path.string(), kMostBytes) : bytes;
}

}  // namespace

ImageSet parse_idx(std::string_view image_bytes, std::string_view label_bytes,
                   const std::string& images_name, const std::string& labels_name) {
  expect_header(image_bytes, kImageHeader, kImageMagic, images_name);
  expect_header(label_bytes, kLabelHeader, kLabelMagic, labels_name);

  const std::size_t count = big_endian_u32(image_bytes, 4);
  const std::uint32_t rows = big_endian_u32(image_bytes, 8);
  const std::uint32_t columns = big_endian_u32(image_bytes, 12);
  if (rows == 0 || rows > kMostPixelsPerSide || columns == 0 || columns > kMostPixelsPerSide)
    fail(images_name, 8,
         fmt::format("expected images of 1 to {} pixels per side, found {} x {}",
                     kMostPixelsPerSide, rows, columns));
  expect_size(image_bytes, kImageHeader + count * rows * columns, images_name);

  const std::size_t label_count = big_endian_u32(label_bytes, 4);
  if (label_count != count)
    fail(labels_name, 4,
         fmt::format("expected {} labels, as many as {} has images, found {}", count, images_name,
                     label_count));
  expect_size(label_bytes, kLabelHeader + label_count, labels_name);

  for (std::size_t at = kLabelHeader; at < label_bytes.size(); ++at)
    if (static_cast<std::uint8_t>(label_bytes[at]) >= kClasses)
      fail(labels_name, at,
           fmt::format("expected a label from 0 to {}, found {}", kClasses - 1,
                       static_cast<std::uint8_t>(label_bytes[at])));

  ImageSet set{1, rows, columns, {}, {}};
  set.pixels.assign(image_bytes.begin() + kImageHeader, image_bytes.end());
  set.labels.assign(label_bytes.begin() + kLabelHeader, label_bytes.end());
  return set;
}

ImageSet read_idx(const std::filesystem::path& images, const std::filesystem::path& labels) {
  return parse_idx(load(images), load(labels), images.string(), labels.string());
}

}  // namespace memduel
