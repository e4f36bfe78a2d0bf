#include "series_codec.h"

#include <fmt/format.h>
#include <zstd.h>

#include <cstdint>

#include "util/bytes.h"
#include "util/error.h"

namespace memduel {
namespace {

/// A day at 1 ms with two bytes per number is below 400 MB; a frame that claims more is damaged.
constexpr unsigned long long kLargestContent = 1ULL << 30;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ExitCode::io, "a series in the run store is damaged: " + what);
}

void append_differences(std::string& bytes, const std::vector<std::int64_t>& numbers) {
  std::uint64_t before = 0;
  for (const std::int64_t number : numbers) {
    const auto now = static_cast<std::uint64_t>(number);
    put_varint(bytes, zigzag(static_cast<std::int64_t>(now - before)));
    before = now;
  }
}

class VarintReader {
 public:
  explicit VarintReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t next() {
    const auto value = read_varint([this] {
      if (at_ == bytes_.size()) damaged(fmt::format("it ends at byte {}", at_));
      return static_cast<unsigned char>(bytes_[at_++]);
    });
    if (value) return *value;
    damaged(fmt::format("a number before byte {} is too long", at_));
  }

  std::vector<std::int64_t> differences(std::uint64_t count) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(count);
    std::uint64_t now = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      now += static_cast<std::uint64_t>(unzigzag(next()));
      numbers.push_back(static_cast<std::int64_t>(now));
    }
    return numbers;
  }

  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

std::string decompress(std::string_view blob) {
  const unsigned long long size = ZSTD_getFrameContentSize(blob.data(), blob.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    damaged("it is not a zstd frame of known size");
  }
  // zstd shrinks a run of equal bytes at most about 2^17-fold: a block of 128 KiB in a few bytes.
  if (size > kLargestContent || size / (1U << 18) > blob.size()) {
    damaged(fmt::format("{} bytes cannot decompress to {}", blob.size(), size));
  }
  std::string content(size, '\0');
  const std::size_t got = ZSTD_decompress(content.data(), content.size(), blob.data(), blob.size());
  if (ZSTD_isError(got) != 0) damaged(ZSTD_getErrorName(got));
  if (got != size) damaged(fmt::format("expected {} bytes, found {}", size, got));
  return content;
}

}  // namespace

std::string encode_series(const Series& series) {
  std::string content;
  put_varint(content, series.t_ns.size());
  append_differences(content, series.t_ns);
  append_differences(content, series.values);
  std::string blob(ZSTD_compressBound(content.size()), '\0');
  const std::size_t size =
      ZSTD_compress(blob.data(), blob.size(), content.data(), content.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size) != 0) {
    throw Error(ExitCode::io, fmt::format("cannot compress a series: {}", ZSTD_getErrorName(size)));
  }
  blob.resize(size);
  return blob;
}

Series decode_series(std::string_view blob) {
  const std::string content = decompress(blob);
  VarintReader reader(content);
  const std::uint64_t count = reader.next();
  if (count > reader.left() / 2)
    damaged(fmt::format("{} samples in {} bytes", count, reader.left()));
  Series series;
  series.t_ns = reader.differences(count);
  series.values = reader.differences(count);
  if (reader.left() != 0) damaged(fmt::format("{} bytes are left over", reader.left()));
  return series;
}

}  // namespace memduel
